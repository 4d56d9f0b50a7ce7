"""Texts per second of a MiniLM classifier on one core: plain transformers, deadpan in NumPy and in PyTorch, and ONNX
whole and in 8 bits.

    python benchmarks/encoder.py [--texts 600]

All label the same short texts with the same weights, alternating, best of three rounds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")

import numpy as np
import torch

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.neural import transformer


def plain(folder: Path, texts: list[str]) -> Callable[[], np.ndarray]:
    """The tutorial way: batches of 32 in the order given, padded to the longest."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()

    def run() -> np.ndarray:
        rows = []
        with torch.inference_mode():
            for at in range(0, len(texts), 32):
                batch = tokenizer(texts[at : at + 32], padding=True, truncation=True, return_tensors="pt")
                rows.append(torch.softmax(model(**batch).logits, -1)[:, 1].numpy())
        return np.concatenate(rows)

    return run


def onnx(file: Path, texts: list[str]) -> Callable[[], np.ndarray]:
    """What `Detector.export("onnx", folder)` wrote, in batches of 16 by length."""
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    settings = SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    session = InferenceSession(str(file), settings, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    tokenizer = Tokenizer.from_file(str(file.parent / "tokenizer.json"))
    tokenizer.enable_padding()
    tokenizer.enable_truncation(64)

    def run() -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        scores = np.zeros(len(texts))
        for at in range(0, len(order), 16):
            rows = order[at : at + 16]
            batch = tokenizer.encode_batch([texts[row] for row in rows])
            fields = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
            inputs = {name: np.array([getattr(row, fields[name]) for row in batch]) for name in names}
            (logits,) = session.run(None, inputs)
            scores[rows] = 1 / (1 + np.exp(logits[:, 0].astype(np.float64) - logits[:, 1]))
        return scores

    return run


def deadpan(detector: Detector, texts: list[str], few: int) -> np.ndarray:
    """What `Detector.load` answers; up to `few` texts are computed in NumPy, more in PyTorch."""
    transformer.FEW = few
    return detector.predict_proba(texts)[:, 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=600)
    options = parser.parse_args()
    torch.set_num_threads(1)
    examples = read_dataset("starter-en").examples
    texts = [examples[n % len(examples)].response.text for n in range(options.texts)]
    detector = Detector("transformer", method="lora", epochs=1, max_tokens=64, validation=0.0).fit(examples[:32])
    with tempfile.TemporaryDirectory() as work:
        detector.save(Path(work) / "saved")
        loaded = Detector.load(Path(work) / "saved")
        folder = detector.export("safetensors", Path(work) / "plain")
        exported = detector.export("onnx", Path(work) / "onnx")
        ways = {"transformers": plain(folder, texts)}
        for name, file in (("ONNX", "model.onnx"), ("ONNX int8", "model.int8.onnx")):
            ways[name] = onnx(exported / file, texts)
        ways["deadpan, NumPy"] = lambda: deadpan(loaded, texts, few=len(texts))
        ways["deadpan, PyTorch"] = lambda: deadpan(loaded, texts, few=0)
        best = dict.fromkeys(ways, float("inf"))
        said = {}
        for _ in range(3):
            for name, run in ways.items():
                started = time.process_time()
                said[name] = run()
                best[name] = min(best[name], time.process_time() - started)
    base = len(texts) / best["transformers"]
    for name, seconds in best.items():
        rate = len(texts) / seconds
        off = np.abs(said[name] - said["transformers"]).max()
        print(f"{name:20} {rate:8.0f} texts per CPU second, ratio {rate / base:.2f}, largest difference {off:.3f}")


if __name__ == "__main__":
    main()
