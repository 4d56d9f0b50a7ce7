"""A frozen encoder under a logistic regression: numbers computed once per text by weights that stay as they are."""

from __future__ import annotations

import sqlite3
import struct
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stderr, suppress
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.neural.encoder import locate, quiet
from deadpan.detect.system import Context, System, labelled, predictions, sigmoid
from deadpan.detect.systems.logistic import DenseBlock, Fitted, fit_logistic, fit_scale
from deadpan.detect.systems.ngrams import Places
from deadpan.errors import ModelError, need, reason_of
from deadpan.models import MODELS, cache_root
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats.ranking import area_under_curve
from deadpan.storage import atomic, digest, read_json, write_json

Array = NDArray[np.float64]
STRENGTHS = (0.03, 0.3, 3.0)
FOLDS = 3
FARTHEST = 5.0
LAST_LETTERS = 600
"""Characters of the context that are encoded, its end: what was said last matters most."""
UNKNOWN = -1
Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
TOGETHER = 256
"""Texts encoded before what is known is written: a killed run repeats at most these."""
ASKED = 500  # SQLite builds before 3.32 take at most 999 parameters
LONGEST = 128
"""Tokens read of a text."""
# The table of pieces is stored by id modulo 17, each part with a scale of its own.
PARTS = 17
BRANCHES = {2: 0, 3: 1, 5: 2}
"""Pieces that a branch sees, and how many of them are to the left."""
MOST_PIECES = 512
PIECES_TOGETHER = 2_000
"""Pieces computed at once: the weights are read from memory once for many texts."""
GAP = max(BRANCHES)
"""Rows of zeros after each text, so that no branch sees the next one."""


class Frozen(System):
    """`encoder` is an embedded model (minilm-l6, mpnet-base, use-multilingual, a language model) or a folder.

    A text is encoded once and its numbers are kept in the cache folder, so that folds and seeds cost nothing.
    With `joint`, context and response are encoded as one text, as a language model reads them. With `heads`,
    each corpus of the training data has weights of its own beside those that all share.
    """

    about = "a frozen encoder under a logistic regression"
    variant = "encoder"
    library, extra = "torch", "neural"

    def __init__(
        self,
        *,
        encoder: str = "minilm-l6",
        strength: float | None = None,
        joint: bool = False,
        heads: bool = False,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.encoder, self.strength, self.joint, self.heads = encoder, strength, joint, heads

    @cached_property
    def _encoded(self) -> Encoded:
        return Encoded(self.encoder)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the strength by out-of-fold AUC, calibrate on those scores, train on all."""
        kept, labels = labelled(examples)
        columns = self._encoded.columns(kept, self.context, self.progress, self.joint)
        self.standard_ = Standard.of(columns)
        self.corpora_ = sorted({example.source for example in kept}) if self.heads else []
        block = self._block(kept, columns)
        best: tuple[float, float, Array] = (-1.0, 1.0, np.zeros(len(kept)))
        strengths = (self.strength,) if self.strength else STRENGTHS
        for done, strength in enumerate(strengths):
            self.progress("choosing settings", done, len(strengths))
            margins = self._out_of_fold(block, kept, labels, 100 * strength)
            best = max(best, (area_under_curve(labels, margins), strength, margins), key=lambda b: b[0])
        self.strength_ = best[1]
        self.model_ = fit_logistic([block], labels, 100 * self.strength_)
        self.scale_ = fit_scale(best[2], labels)
        return self

    def _block(self, examples: Sequence[Example], columns: Array) -> DenseBlock | HeadsBlock:
        even = self.standard_(columns)
        return HeadsBlock.of(even, examples, self.corpora_) if self.heads else DenseBlock(even)

    def _out_of_fold(
        self, block: DenseBlock | HeadsBlock, examples: Sequence[Example], labels: NDArray[np.bool_], strength: float
    ) -> Array:
        rows = {example.id: row for row, example in enumerate(examples)}
        margins = np.zeros(len(examples))
        for fold in folds(examples, min(FOLDS, len(examples)), seed=self.seed):
            train, test = ([rows[e.id] for e in part] for part in (fold.train, fold.test))
            if 0 < labels[train].sum() < len(train):
                fitted = fit_logistic([block.rows(np.array(train))], labels[train], strength)
                margins[test] = fitted.margins([block.rows(np.array(test))])
        return margins

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return calibrated probabilities."""
        if not examples:
            return []
        columns = self._encoded.columns(examples, self.context, self.progress, self.joint)
        slope, shift = self.scale_
        margins = self.model_.margins([self._block(examples, columns)])
        return predictions(examples, sigmoid(slope * margins + shift))

    def save(self, folder: Path) -> None:
        """Write the weights of the regression; the encoder is named, not copied."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "frozen.npz") as temporary, temporary.open("wb") as file:
            np.savez(
                file, centre=self.standard_.centre, spread=self.standard_.spread,
                weights=self.model_.weights[0],
            )  # fmt: skip
        state = {"settings": self.settings, "strength": self.strength_, "scale": self.scale_,
                 "intercept": self.model_.intercept, "corpora": self.corpora_}  # fmt: skip
        write_json(folder / "frozen.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "frozen.json")
        model = cls(**state["settings"])
        model.strength_ = float(state["strength"])
        model.corpora_ = [str(name) for name in state.get("corpora", [])]
        model.scale_ = float(state["scale"][0]), float(state["scale"][1])
        with np.load(folder / "frozen.npz", allow_pickle=False) as file:
            model.standard_ = Standard(file["centre"], file["spread"])
            model.model_ = Fitted([file["weights"]], float(state["intercept"]))
        return model


@dataclass(frozen=True, slots=True, eq=False)
class HeadsBlock:
    """Columns of examples and the corpus of each; the weights are those of all, then of each corpus."""

    matrix: Array
    corpus: NDArray[np.int64]
    corpora: int

    @classmethod
    def of(cls, columns: Array, examples: Sequence[Example], corpora: Sequence[str]) -> HeadsBlock:
        """Return the columns with a constant beside them, so that each corpus has a base rate of its own."""
        places = {name: place for place, name in enumerate(corpora)}
        corpus = np.array([places.get(e.source, UNKNOWN) for e in examples], dtype=np.int64)
        constant = np.full((len(columns), 1), 0.1)  # small, so that regularisation keeps base rates near each other
        return cls(np.hstack([columns, constant]), corpus, len(corpora))

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1]) * (1 + self.corpora)

    def rows(self, chosen: Places) -> HeadsBlock:
        return HeadsBlock(self.matrix[chosen], self.corpus[chosen], self.corpora)

    def forward(self, weights: Array) -> Array:
        """Return the shared margin and that of the row's own corpus."""
        heads = weights.reshape(1 + self.corpora, -1)
        result: Array = self.matrix @ heads[0]
        for number in range(self.corpora):
            mine = self.corpus == number
            result[mine] += self.matrix[mine] @ heads[1 + number]
        return result

    def backward(self, slopes: Array) -> Array:
        parts = [self.matrix.T @ slopes]
        for number in range(self.corpora):
            mine = self.corpus == number
            parts.append(self.matrix[mine].T @ slopes[mine])
        return np.concatenate(parts)


class Standard:
    """Columns with mean 0 and spread 1, clipped, and rows about as long as one of n-grams."""

    def __init__(self, centre: Array, spread: Array) -> None:
        self.centre, self.spread = centre, spread

    @classmethod
    def of(cls, columns: Array) -> Self:
        """Return the centre and spread of training columns."""
        return cls(columns.mean(axis=0), columns.std(axis=0) + 1e-4)

    def __call__(self, columns: Array) -> Array:
        clipped = np.clip((columns - self.centre) / self.spread, -FARTHEST, FARTHEST)
        even: Array = clipped / np.sqrt(len(self.centre))
        return even


# ------------------------------------------------------------ texts to numbers


class Encoded:
    """Vectors of examples by one encoder, from the store on disk where they were computed before."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def _store(self) -> VectorStore:
        return VectorStore.of(store_name(self.name))

    @cached_property
    def _encoder(self) -> FrozenEncoder:
        return frozen_encoder(self.name)

    def columns(
        self, examples: Sequence[Example], context: Context, progress: Progress = silent, joint: bool = False
    ) -> Array:
        """Return the numbers of the response and, where context is read, of both and of their product.

        With `joint`, instead of the context, context and response are encoded as one text.
        """
        response = self._vectors([example.response.text for example in examples], progress)
        if context.turns == 0:
            return response
        if joint:
            whole = ["\n".join(context.texts(e))[-LAST_LETTERS:] for e in examples]
            return np.hstack([response, self._vectors(whole, progress)])
        before = self._vectors([context.texts(e)[0][-LAST_LETTERS:] for e in examples], progress)
        return np.hstack([response, before, response * before, np.abs(response - before)])

    def _vectors(self, texts: Sequence[str], progress: Progress) -> Array:
        # The encoder is loaded when the first unknown text comes.
        rows = self._store.vectors(texts, lambda unknown: self._encoder.encode(unknown), progress)
        return rows.astype(np.float64)


class VectorStore:
    """A table of (hash of a text, vector in half precision) of one encoder, shared by processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, name: str) -> VectorStore:
        """Return the store of an encoder in the cache folder."""
        return cls(cache_root() / "vectors" / f"{name}.sqlite")

    def vectors(self, texts: Sequence[str], encode: Encode, progress: Progress = silent) -> Vectors:
        """Return one row per text; unknown texts are encoded, shortest first, and remembered."""
        keys = [_key(text) for text in texts]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=60)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
            known = _read(database, keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            order = sorted(missing, key=lambda key: len(missing[key]))
            for start in range(0, len(order), TOGETHER):
                progress("encoding texts", start, len(order))
                part = order[start : start + TOGETHER]
                rows = encode([missing[key] for key in part]).astype(np.float16)
                with database:
                    pairs = [(key, row.tobytes()) for key, row in zip(part, rows, strict=True)]
                    database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", pairs)
                known |= dict(zip(part, rows, strict=True))
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([known[key] for key in keys]).astype(np.float32)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _read(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float16]]:
    distinct = list(dict.fromkeys(keys))
    found: dict[bytes, NDArray[np.float16]] = {}
    for start in range(0, len(distinct), ASKED):
        part = distinct[start : start + ASKED]
        marks = ",".join("?" * len(part))
        rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
        found |= {bytes(key): np.frombuffer(vector, dtype=np.float16) for key, vector in rows}
    return found


# ------------------------------------------------------------ encoders


class FrozenEncoder(Protocol):
    """Texts in, one row of numbers each out."""

    def encode(self, texts: Sequence[str]) -> Vectors:
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

    def encode(self, texts: Sequence[str]) -> Vectors:
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

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 per text."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        batch: list[NDArray[np.int64]] = []
        for number, text in enumerate(texts, 1):
            batch.append(self._ids(text))
            if sum(map(len, batch)) >= PIECES_TOGETHER or number == len(texts):
                rows[number - len(batch) : number] = self._encode(batch)
                batch = []
        return rows

    def _ids(self, text: str) -> NDArray[np.int64]:
        readable = text[: MOST_PIECES * 30].encode("utf-8", "replace").decode("utf-8")
        ids = self._pieces.encode(readable, out_type=int)[: MOST_PIECES - 2]
        return np.array([self._pieces.bos_id(), *ids, self._pieces.eos_id()], dtype=np.int64)

    def _encode(self, batch: Sequence[NDArray[np.int64]]) -> Vectors:
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

    def _dense(self, whole: Vectors) -> Vectors:
        w = self._w
        first = np.maximum(whole @ w["d0"], 0)
        second = np.maximum(whole @ w["p1"] + first @ w["d1"], 0)
        third = np.maximum(second @ w["d2"], 0)
        last = np.tanh(second @ w["p3"] + third @ w["d3"])
        unit: Vectors = last / np.sqrt(np.maximum((last**2).sum(axis=1, keepdims=True), self._small))
        return unit

    def _branch(self, start: Vectors, inside: NDArray[np.bool_], size: int, left: int) -> Vectors:
        """Return two convolutions, each added to what it was computed from."""
        for step in ("1", "2"):
            spread = np.zeros((len(inside), start.shape[1]), dtype=np.float32)
            spread[inside] = start
            seen = _neighbours(spread, size, left)[inside]
            start = start + np.maximum(seen @ self._w[f"w{step}_{size}"] + self._w[f"b{step}_{size}"], 0)
        return start

    def _norm(self, rows: Vectors, scale: Vectors, shift: Vectors) -> Vectors:
        centred = rows - rows.mean(axis=1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + self._small)
        even: Vectors = centred / spread * scale + shift
        return even


def _neighbours(rows: Vectors, size: int, left: int) -> Vectors:
    """Return each row beside the `left` rows before it and the rest of `size` after it; zeros outside."""
    padded = np.pad(rows, ((left, size - 1 - left), (0, 0)))
    return np.hstack([padded[at : at + len(rows)] for at in range(size)])
