"""SARC's third baseline: the word vectors of a text, summed, under a logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.blocks import DenseBlock
from deadpan.detect.features.logistic import Fitted, fit_logistic
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.draws import draw
from deadpan.errors import DataError, ModelError
from deadpan.records import Example, Prediction
from deadpan.stats.ranking import area_under_curve
from deadpan.storage import atomic, digest, read_json, write_json
from deadpan.vectors import Vectors

STRENGTHS = tuple(10.0**power for power in range(-2, 3))
HELD_BACK = 5
"""One example in this many is held out to choose the regularisation."""

Array = NDArray[np.float64]


class EmbeddingSystem(System):
    """Summed vectors of the response, concatenated with those of the turns before it.

    `vectors` is a GloVe or word2vec text file; empty for the embedded ones (`deadpan models pull
    wordllama-256`). The file is not copied into the model: its hash is saved and checked.
    """

    about = "SARC: summed word vectors"

    def __init__(
        self, *, vectors: str = "", turns: int | None = 0, speakers: bool = False, seed: int = 0
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.vectors = vectors

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "vectors": self.vectors}

    @cached_property
    def _table(self) -> Vectors:
        return Vectors.read(Path(self.vectors)) if self.vectors else Vectors.embedded()

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the strength on held-out examples, then train on all."""
        kept, labels = labelled(examples)
        self.progress("summing vectors", 0, len(kept))
        columns = self._columns(kept)
        self.centre_, self.spread_ = columns.mean(axis=0), columns.std(axis=0) + 1e-6
        block = DenseBlock(self._scaled(columns))
        held = np.array([draw(self.seed, e.group or e.sequence or e.id)[0] % HELD_BACK == 0 for e in kept])
        self.strength_ = self._choose(block, labels, held)
        self.model_ = fit_logistic([block], labels, self.strength_)
        return self

    def _choose(self, block: DenseBlock, labels: NDArray[np.bool_], held: NDArray[np.bool_]) -> float:
        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        if any(not 0 < labels[part].sum() < len(part) for part in (train, test)):
            return 1.0
        best = (-1.0, 1.0)
        for done, strength in enumerate(STRENGTHS):
            self.progress("choosing C", done, len(STRENGTHS))
            fitted = fit_logistic([block.rows(train)], labels[train], strength)
            best = max(best, (area_under_curve(labels[test], fitted.margins([block.rows(test)])), strength))
        return best[1]

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability of sarcasm."""
        block = DenseBlock(self._scaled(self._columns(examples)))
        return predictions(examples, sigmoid(self.model_.margins([block])) if len(examples) else [])

    def _columns(self, examples: Sequence[Example]) -> Array:
        texts = [[example.response.text for example in examples]]
        if self.context.turns != 0:
            texts.append([self.context.texts(example)[0] for example in examples])
        sums = [self._table.sentences(each, pool="sum", normalise=False) for each in texts]
        return np.hstack(sums).astype(np.float64)

    def _scaled(self, columns: Array) -> Array:
        # A text of a megabyte has sums a thousand times longer than any in training.
        even: Array = np.clip((columns - self.centre_) / self.spread_, -10, 10) / np.sqrt(len(self.centre_))
        return even

    def save(self, folder: Path) -> None:
        """Write the weights as arrays, and the hash of the vectors they belong to."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "embedding.npz") as temporary, temporary.open("wb") as file:
            np.savez(file, centre=self.centre_, spread=self.spread_, weights=self.model_.weights[0])
        state = {
            "settings": self.settings, "strength": self.strength_, "intercept": self.model_.intercept,
            "sha256": digest(Path(self.vectors)) if self.vectors else "",
        }  # fmt: skip
        write_json(folder / "embedding.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote, if the vectors are unchanged."""
        state = read_json(folder / "embedding.json")
        model = cls(**state["settings"])
        if model.vectors:
            path = Path(model.vectors)
            if not path.is_file():
                raise DataError(f"{path}: no such file; the model in {folder} needs these word vectors")
            if digest(path) != state["sha256"]:
                raise ModelError(f"{path}: not the word vectors the model in {folder} was trained with")
        model.strength_ = float(state["strength"])
        with np.load(folder / "embedding.npz", allow_pickle=False) as file:
            model.centre_, model.spread_ = file["centre"], file["spread"]
            model.model_ = Fitted([file["weights"]], float(state["intercept"]))
        return model
