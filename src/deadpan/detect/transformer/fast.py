"""Scores of an exported encoder by ONNX Runtime in 8 bits: no PyTorch, and faster on a processor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural.training import by_length
from deadpan.errors import ModelError, need

SMALL = "model.int8.onnx"
TOGETHER = 16


class FastEncoder:
    """The folder that `Detector.export("onnx", folder)` wrote."""

    def __init__(self, folder: Path | str, threads: int = 1) -> None:
        runtime, tokenizers = need("onnxruntime", "onnx"), need("tokenizers", "llm")
        folder = Path(folder)
        if not (folder / SMALL).is_file():
            raise ModelError(f"{folder}: no {SMALL} in it; write it with Detector.export('onnx', FOLDER)")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        self._session: Any = runtime.InferenceSession(
            str(folder / SMALL), options, providers=["CPUExecutionProvider"]
        )
        self._names = [one.name for one in self._session.get_inputs()]
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(128)

    def scores(self, texts: Sequence[str], contexts: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return the probability of sarcasm of each text, given what was said before it."""
        valid = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        inputs: list[Any] = valid
        if contexts is not None:
            inputs = [
                (before, text) if before else text for before, text in zip(contexts, valid, strict=True)
            ]
        rows = self._tokenizer.encode_batch(inputs)
        out = np.zeros(len(rows))
        for batch in by_length(np.array([len(row.ids) for row in rows], dtype=np.int64), TOGETHER):
            (logits,) = self._session.run(None, self._batch([rows[row] for row in batch]))
            margins = logits[:, 1].astype(np.float64) - logits[:, 0]
            out[batch] = 1 / (1 + np.exp(-margins))
        return out

    def _batch(self, rows: Sequence[Any]) -> dict[str, NDArray[np.int64]]:
        width = max(len(row.ids) for row in rows)
        whole = {
            "input_ids": [row.ids for row in rows],
            "attention_mask": [row.attention_mask for row in rows],
            "token_type_ids": [row.type_ids for row in rows],
        }
        return {
            name: np.array(
                [numbers + [0] * (width - len(numbers)) for numbers in whole[name]], dtype=np.int64
            )
            for name in self._names
        }
