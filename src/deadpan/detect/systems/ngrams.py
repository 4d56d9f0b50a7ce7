"""SARC's baselines: counts of words, or of words and bigrams, under a logistic regression."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json
from deadpan.text import sarc_tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STRENGTHS = tuple(10.0**power for power in range(-2, 3))


class NGrams(System):
    """The official SARC procedure: no intercept, C from 10^-2 to 10^2 by two-fold cross-validation.

    The n-grams of earlier turns are separate features, so that a word of the context is not confused with
    one of the response; with `speakers`, so are those of earlier turns by the same speaker.
    """

    longest: ClassVar[int]

    def __init__(
        self, *, min_count: int = 1, turns: int | None = 0, speakers: bool = False, seed: int = 0
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if min_count < 1:
            raise ConfigError(f"min_count is 1 or more: got {min_count}")
        self.min_count = min_count

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "min_count": self.min_count}

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the vocabulary and the weights from the labelled examples."""
        kept_examples, labels = labelled(examples)
        self.progress("counting n-grams", 0, len(kept_examples))
        grams = [self._grams(example) for example in kept_examples]
        counts = Counter(gram for text in grams for gram in text)
        kept = sorted(gram for gram, count in counts.items() if count >= self.min_count)
        if not kept:
            raise DataError(f"no n-gram occurs {self.min_count} times: lower min_count or give more text")
        self.vocabulary_ = {gram: column for column, gram in enumerate(kept)}
        features = self._matrix(grams)
        self.strength_ = self._choose_strength(features, labels)
        self.weights_ = self._weights(features, labels, self.strength_)
        return self

    def _choose_strength(self, features: csr_matrix, labels: NDArray[np.bool_]) -> float:
        """Return the C with the best accuracy in two-fold cross-validation; of equal ones the smallest."""
        from sklearn.model_selection import StratifiedKFold

        if min(labels.sum(), (~labels).sum()) < 2:
            return 1.0
        right = dict.fromkeys(STRENGTHS, 0)
        done = 0
        for train, test in StratifiedKFold(2).split(features, labels):
            for strength in STRENGTHS:
                self.progress("choosing C", done, 2 * len(STRENGTHS))
                done += 1
                weights = self._weights(features[train], labels[train], strength)
                right[strength] += int(((features[test] @ weights > 0) == labels[test]).sum())
        return max(STRENGTHS, key=lambda strength: right[strength])

    def _weights(
        self, features: csr_matrix, labels: NDArray[np.bool_], strength: float
    ) -> NDArray[np.float64]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            C=strength,
            fit_intercept=False,
            solver="liblinear",
            dual=features.shape[0] < features.shape[1],  # as in the official code; the faster of the two
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            # The largest C does not converge in the official procedure either, and is rarely chosen.
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights: NDArray[np.float64] = model.fit(features, labels).coef_[0]
        return weights

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability of sarcasm; above 0.5 is labelled sarcastic."""
        margins = self._matrix([self._grams(example) for example in examples]) @ self.weights_
        return predictions(examples, sigmoid(margins))

    def telling(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n-grams with the largest weights for sarcastic and for sincere (SARC's Table 3)."""
        names = list(self.vocabulary_)
        order = np.argsort(self.weights_, kind="stable")
        ranked = [(names[i], float(self.weights_[i])) for i in order]
        return ranked[::-1][:top], ranked[:top]

    def _grams(self, example: Example) -> list[str]:
        grams = _grams_of(example.response.text, self.longest)
        for turn, own in zip(self.context.before(example), self.context.own(example), strict=True):
            where = "own before" if own else "before"
            grams += [f"{where}: {gram}" for gram in _grams_of(turn.text, self.longest)]
        return grams

    def _matrix(self, texts: Iterable[list[str]]) -> csr_matrix:
        from scipy.sparse import csr_matrix

        columns: list[int] = []
        values: list[int] = []
        ends = [0]
        for grams in texts:
            counts = Counter(self.vocabulary_[gram] for gram in grams if gram in self.vocabulary_)
            columns += counts.keys()
            values += counts.values()
            ends.append(len(columns))
        shape = (len(ends) - 1, len(self.vocabulary_))
        return csr_matrix((np.array(values, float), np.array(columns, int), np.array(ends)), shape=shape)

    def save(self, folder: Path) -> None:
        """Write the vocabulary and settings as JSON, the weights as a plain array."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "weights.npy") as temporary, temporary.open("wb") as file:
            np.save(file, self.weights_, allow_pickle=False)
        write_json(
            folder / "ngrams.json",
            {
                "longest": self.longest,
                "settings": self.settings,
                "strength": self.strength_,
                "vocabulary": list(self.vocabulary_),
            },
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        state: dict[str, Any] = read_json(folder / "ngrams.json")
        if state.get("longest") != cls.longest:
            raise DataError(f"{folder}: holds {state.get('longest')}-grams, not {cls.longest}-grams")
        model = cls(**state["settings"])
        model.strength_ = state["strength"]
        model.vocabulary_ = {gram: column for column, gram in enumerate(state["vocabulary"])}
        model.weights_ = np.load(folder / "weights.npy", allow_pickle=False)
        if len(model.weights_) != len(model.vocabulary_):
            raise DataError(f"{folder}: weights and vocabulary differ in length; train it again")
        return model


def _grams_of(text: str, longest: int) -> list[str]:
    tokens = sarc_tokens(text)
    return tokens + [f"{a} {b}" for a, b in pairwise(tokens)] if longest == 2 else tokens


class BagOfWords(NGrams):
    """Counts of words."""

    about = "SARC: counts of words"
    longest = 1


class BagOfBigrams(NGrams):
    """Counts of words and of pairs of neighbouring words."""

    about = "SARC: counts of words and bigrams"
    longest = 2
