"""Thresholds: the best by a rule, from out-of-fold scores of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.detect.detector import Detector
from deadpan.detect.system import System, predictions
from deadpan.detect.thresholds import choose_threshold, out_of_fold_threshold, parse_threshold
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction, Turn
from detect_corpus import word_corpus


def score_f1(labels: list[bool], scores: list[float], threshold: float) -> float:
    hits = sum(label and score > threshold for label, score in zip(labels, scores, strict=True))
    calls = sum(score > threshold for score in scores)
    return 2 * hits / (calls + sum(labels)) if calls + sum(labels) else 0.0


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.3, 0.6, 0.9])), min_size=2, max_size=25)
)
def test_no_other_threshold_has_a_better_f1(rows):
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    examples = [Example(str(at), Turn("", "x"), label=label) for at, label in enumerate(labels)]
    answers = [Prediction(str(at), None, score) for at, score in enumerate(scores)]
    if all(labels) or not any(labels):
        with pytest.raises(DataError, match="both labels"):
            choose_threshold(examples, answers, "f1")
        return
    chosen = score_f1(labels, scores, choose_threshold(examples, answers, "f1"))
    assert chosen == max(score_f1(labels, scores, cut) for cut in (0.0, 0.1, 0.2, 0.3, 0.6, 0.9))


@pytest.mark.parametrize("word", ["", "half", "1.5", "-1", "nan"])
def test_a_threshold_that_is_none_is_refused(word):
    with pytest.raises(ConfigError):
        parse_threshold(word)


class Memory(System):
    """Scores what it was trained on 0.9 or 0.1 by label, everything else 0.6 or 0.5: it has learned by heart."""

    def fit(self, examples: Sequence[Example]) -> Self:
        self.known_ = {example.response.text: example.label for example in examples}
        FITS.append(set(self.known_))
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        scores = []
        for example in examples:
            known = self.known_.get(example.response.text)
            KNOWN.append(known is not None)
            sarcastic = "sure" in example.response.text
            scores.append((0.6 if sarcastic else 0.5) if known is None else 0.9 if known else 0.1)
        return predictions(examples, scores)

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    @classmethod
    def load(cls, folder: Path) -> Self:
        raise NotImplementedError


FITS: list[set[str]] = []
"""The texts of each training."""
KNOWN: list[bool] = []
"""For each text predicted: was it trained on?"""


def test_the_threshold_comes_from_scores_of_texts_that_were_not_trained_on():
    # In-sample scores (0.1 and 0.9) would give 0.5; out of fold the labels part at 0.55.
    FITS.clear()
    assert out_of_fold_threshold(Memory, word_corpus(), "f1") == pytest.approx(0.55)
    assert len(FITS) == 5
    everything = {example.response.text for example in word_corpus()}
    assert all(fitted < everything for fitted in FITS)
    assert set.intersection(*FITS) == set()


def test_copies_of_a_text_do_not_cross_the_folds_of_a_threshold():
    rows = word_corpus()
    copies = [Example(f"copy-{e.id}", e.response, label=e.label, group=f"copy-{e.group}") for e in rows]
    KNOWN.clear()
    assert out_of_fold_threshold(Memory, [*rows, *copies], "f1") == pytest.approx(0.55)
    assert len(KNOWN) == 120
    assert not any(KNOWN)


def test_too_few_examples_are_told_with_the_cure():
    with pytest.raises(DataError, match=r"use a number such as 0\.5"):
        out_of_fold_threshold(Memory, word_corpus(count=4), "f1")


def test_a_known_prevalence_moves_the_threshold():
    rng = np.random.default_rng(0)
    rows = [Example(str(n), Turn("", "x"), label=n % 2 == 0) for n in range(400)]
    said = [
        Prediction(e.id, None, float(np.clip(0.4 + 0.2 * bool(e.label) + rng.normal(0, 0.2), 0, 1)))
        for e in rows
    ]
    even, rare = (choose_threshold(rows, said, "f1", share) for share in (0.5, 0.05))
    assert rare > even + 0.05
    called = np.mean([p.score > rare for p, e in zip(said, rows, strict=True) if not e.label])
    assert called < 0.15


def test_a_prevalence_beside_a_number_is_an_error_that_names_the_rules():
    for threshold in (0.5, 0.3):
        with pytest.raises(ConfigError, match="--prevalence needs --threshold f1 or balanced"):
            Detector("bow", threshold=threshold, prevalence=0.1)
    assert Detector("bow", threshold="f1", prevalence=0.1).prevalence == 0.1
