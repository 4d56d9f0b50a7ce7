"""A logistic regression on the numbers of a frozen encoder, for response and context."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.logistic import DenseBlock, Fitted, fit_logistic, fit_scale
from deadpan.detect.features.ngrams import Places
from deadpan.detect.frozen.encoders import FrozenEncoder, frozen_encoder, store_name
from deadpan.detect.system import Context, System, labelled, predictions, sigmoid
from deadpan.models import cache_root
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats.ranking import area_under_curve
from deadpan.storage import atomic, read_json, write_json

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
ASKED = 500


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

    @property
    def settings(self) -> dict[str, Any]:
        own = {"encoder": self.encoder, "strength": self.strength, "joint": self.joint,
               "heads": self.heads}  # fmt: skip
        return {**super().settings, **own}

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
        """Read what `save` wrote."""
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
        constant = np.full((len(columns), 1), 0.1)
        return cls(np.hstack([columns, constant]), corpus, len(corpora))

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1]) * (1 + self.corpora)

    def rows(self, chosen: Places) -> HeadsBlock:
        """Return some of the rows."""
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
        """Return the gradient of all weights."""
        parts = [self.matrix.T @ slopes]
        for number in range(self.corpora):
            mine = self.corpus == number
            parts.append(self.matrix[mine].T @ slopes[mine])
        return np.concatenate(parts)


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
