"""Encoders whose weights stay as they are: a folder of weights decides which kind reads it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.transformer.encoder import locate, quiet
from deadpan.errors import ModelError, need, reason_of
from deadpan.models import MODELS, cache_root
from deadpan.storage import digest

LONGEST = 128
"""Tokens read of a text."""
Array = NDArray[np.float32]
PARTS = 17
BRANCHES = {2: 0, 3: 1, 5: 2}
"""Pieces that a branch sees, and how many of them are to the left."""
MOST_PIECES = 512
TOGETHER = 2_000
"""Pieces computed at once: the weights are read from memory once for many texts."""
GAP = max(BRANCHES)
"""Rows of zeros after each text, so that no branch sees the next one."""


class FrozenEncoder(Protocol):
    """Texts in, one row of numbers each out."""

    def encode(self, texts: Sequence[str]) -> Array:
        """Return one row per text; the same text gives the same row, whatever is encoded with it."""
        ...


def frozen_encoder(name: str) -> FrozenEncoder:
    """Return the encoder of an embedded model, or of a folder in the Hugging Face format."""
    source, here = locate_weights(name)
    folder = Path(source)
    if here and (folder / "sp.model").is_file() and (folder / "weights.npz").is_file():
        return UniversalEncoder(folder)
    return HiddenStates(name, source, next(iter(sorted(folder.glob("*.gguf"))), None) if here else None)


def locate_weights(name: str) -> tuple[str, bool]:
    """Return the folder of an embedded model or of a path, which may hold any kind of weights."""
    folder = Path(name).expanduser()
    if any(folder.glob("*.gguf")) or (folder / "sp.model").is_file():
        return str(folder), True
    return locate(name)


def store_name(name: str) -> str:
    """Return a name for the vectors of an encoder: folders of the same name may hold other weights."""
    if name in MODELS:
        return name
    folder = Path(locate_weights(name)[0])
    weights = sorted(path for path in folder.glob("*") if path.suffix in (".safetensors", ".gguf", ".npz"))
    return f"{folder.name}-{digest(weights[0])[:12]}" if weights else folder.name


class HiddenStates:
    """The mean over the tokens of the embeddings, of the middle layer and of the last, side by side.

    The lower layers know the wording, which sarcasm depends on more than similarity of meaning does. Linear
    layers are computed in 8 bits, twice as fast on a processor, and one text at a time, since the scale of 8
    bits depends on all that is computed together. Of a language model (GGUF) only the lower half is computed.
    """

    def __init__(self, name: str, source: str, gguf: Path | None = None) -> None:
        torch = need("torch", "neural")
        transformers = need("transformers", "neural")
        options = {"gguf_file": gguf.name} if gguf else {}
        if gguf:
            need("gguf", "neural")
        with quiet(), redirect_stderr(StringIO()):  # of a GGUF file, bars of its tensors
            try:
                self._tokenizer = _tokenizer(transformers, name, source, gguf)
                model = transformers.AutoModel.from_pretrained(source, local_files_only=True, **options)
            except (OSError, ValueError, ImportError, KeyError, struct.error) as bad:
                raise ModelError(
                    f"the encoder {name!r} cannot be loaded ({reason_of(bad)}): is it a complete model?"
                ) from None
        if gguf:
            self._tokenizer.truncation_side = "left"  # of a conversation, what was said last matters most
        if self._tokenizer.pad_token is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token or self._tokenizer.unk_token
        self._model = _in_eight_bits(torch, _shortened(model) if gguf else model.eval())

    def encode(self, texts: Sequence[str]) -> Array:
        """Return the layers' means side by side, one row per text."""
        torch = need("torch", "neural")
        readable = [text[: LONGEST * 30].encode("utf-8", "replace").decode("utf-8") for text in texts]
        limit = int(min(LONGEST, self._tokenizer.model_max_length))
        rows = []
        with torch.inference_mode():
            for text in readable:
                tokens = self._tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
                states = self._model(**tokens, output_hidden_states=True).hidden_states
                chosen = (0, (len(states) - 1) // 2, len(states) - 1)
                rows.append(torch.cat([states[at][0].mean(0) for at in chosen]).numpy())
        return np.stack(rows).astype(np.float32)


def _tokenizer(transformers: Any, name: str, source: str, gguf: Path | None) -> Any:
    """Return the tokenizer; that of a GGUF file takes minutes to convert, so the result is kept."""
    load = transformers.AutoTokenizer.from_pretrained
    if gguf is None:
        return load(source, local_files_only=True)
    kept = cache_root() / "tokenizers" / store_name(name)
    if not (kept / "tokenizer.json").is_file():
        tokenizer = load(source, local_files_only=True, gguf_file=gguf.name)
        with TemporaryDirectory(dir=_made(kept.parent)) as work:
            tokenizer.save_pretrained(Path(work) / kept.name)
            with suppress(OSError):  # another process has put it there meanwhile
                (Path(work) / kept.name).rename(kept)
        return tokenizer
    return load(kept, local_files_only=True)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _shortened(model: Any) -> Any:
    """Return a language model without its upper half: the middle knows the text, the top the next word."""
    layers = getattr(model, "layers", None)
    if layers is not None:
        model.layers = layers[: (len(layers) + 1) // 2]
    return model.eval()


def _in_eight_bits(torch: Any, model: Any) -> Any:
    import warnings

    with warnings.catch_warnings():  # the library announces a successor that is not on every platform yet
        warnings.simplefilter("ignore")
        return torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)


class UniversalEncoder:
    """The weights of `deadpan models pull use-multilingual`."""

    dimension = 512

    def __init__(self, folder: Path) -> None:
        pieces = need("sentencepiece", "neural")
        self._pieces: Any = pieces.SentencePieceProcessor(model_file=str(folder / "sp.model"))
        with np.load(folder / "weights.npz", allow_pickle=False) as file:
            self._w = {name: file[name] for name in file.files if not name.startswith("q")}
            self._table = np.empty((PARTS * len(file["q1"]), self.dimension), dtype=np.uint8)
            for part in range(PARTS):
                self._table[part::PARTS] = file[f"q{part + 1}"]
        self._small = float(self._w["eps"])

    def encode(self, texts: Sequence[str]) -> Array:
        """Return one row of length 1 per text."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        batch: list[NDArray[np.int64]] = []
        for number, text in enumerate(texts, 1):
            batch.append(self._ids(text))
            if sum(map(len, batch)) >= TOGETHER or number == len(texts):
                rows[number - len(batch) : number] = self._encode(batch)
                batch = []
        return rows

    def _ids(self, text: str) -> NDArray[np.int64]:
        readable = text[: MOST_PIECES * 30].encode("utf-8", "replace").decode("utf-8")
        ids = self._pieces.encode(readable, out_type=int)[: MOST_PIECES - 2]
        return np.array([self._pieces.bos_id(), *ids, self._pieces.eos_id()], dtype=np.int64)

    def _encode(self, batch: Sequence[NDArray[np.int64]]) -> Array:
        w = self._w
        lengths = np.array([len(ids) for ids in batch])
        ends = np.cumsum(lengths + GAP) - GAP
        inside = np.zeros(int(ends[-1]) + GAP, dtype=bool)
        for end, length in zip(ends, lengths, strict=True):
            inside[end - length : end] = True
        ids = np.concatenate(batch)
        part = ids % PARTS
        pieces = self._table[ids] * w["scale"][part, None] + w["lo"][part, None]
        starts = self._norm(
            np.hstack([pieces @ w[f"proj{size}"] + w[f"proj_b{size}"] for size in BRANCHES]),
            np.concatenate([w[f"ln_g{size}"] for size in BRANCHES]),
            np.concatenate([w[f"ln_b{size}"] for size in BRANCHES]),
        )
        branches = [
            self._branch(start, inside, size, left)
            for start, (size, left) in zip(np.split(starts, len(BRANCHES), 1), BRANCHES.items(), strict=True)
        ]
        even = self._norm(np.hstack([pieces, *branches]), w["ln_g"], w["ln_b"])
        summed = np.add.reduceat(even, np.cumsum(lengths) - lengths, axis=0) @ w["cnn_W"]
        whole = (summed + lengths[:, None] * w["cnn_b"]) / np.sqrt(lengths)[:, None]
        return self._dense(whole.astype(np.float32))

    def _dense(self, whole: Array) -> Array:
        w = self._w
        first = np.maximum(whole @ w["d0"], 0)
        second = np.maximum(whole @ w["p1"] + first @ w["d1"], 0)
        third = np.maximum(second @ w["d2"], 0)
        last = np.tanh(second @ w["p3"] + third @ w["d3"])
        unit: Array = last / np.sqrt(np.maximum((last**2).sum(axis=1, keepdims=True), self._small))
        return unit

    def _branch(self, start: Array, inside: NDArray[np.bool_], size: int, left: int) -> Array:
        """Return two convolutions, each added to what it was computed from."""
        for step in ("1", "2"):
            spread = np.zeros((len(inside), start.shape[1]), dtype=np.float32)
            spread[inside] = start
            seen = _neighbours(spread, size, left)[inside]
            start = start + np.maximum(seen @ self._w[f"w{step}_{size}"] + self._w[f"b{step}_{size}"], 0)
        return start

    def _norm(self, rows: Array, scale: Array, shift: Array) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self._small)
        even: Array = centred / spread * scale + shift
        return even


def _neighbours(rows: Array, size: int, left: int) -> Array:
    """Return each row beside the `left` rows before it and the rest of `size` after it; zeros outside."""
    padded = np.pad(rows, ((left, size - 1 - left), (0, 0)))
    return np.hstack([padded[at : at + len(rows)] for at in range(size)])
