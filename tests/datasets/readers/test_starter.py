"""The starter set is what it promises: pairs that share words, written with care, without duplicates."""

from __future__ import annotations

from collections import Counter

import pytest

from deadpan.datasets import read_dataset
from deadpan.detect.systems.baselines import BagOfWords
from deadpan.records import Example
from deadpan.splits import folds
from deadpan.stats import score_predictions
from deadpan.text import fold

LEAST = {"starter-en": 300, "starter-ko": 60}


@pytest.fixture(params=LEAST, scope="module")
def pairs(request) -> tuple[str, list[tuple[Example, Example]]]:
    examples = read_dataset(request.param).examples
    return request.param, list(zip(examples[::2], examples[1::2], strict=True))


def test_there_are_enough_and_each_is_one_of_both(pairs):
    name, rows = pairs
    assert len(rows) >= LEAST[name]
    for sarcastic, sincere in rows:
        assert (sarcastic.label, sincere.label) == (True, False)
        assert sarcastic.sequence == sincere.sequence
        assert sarcastic.context == sincere.context != ()
        assert sarcastic.response.speaker != sarcastic.context[-1].speaker


def test_every_sarcastic_one_is_explained_and_said_literally(pairs):
    _, rows = pairs
    for sarcastic, sincere in rows:
        assert len(sarcastic.explanation) > 20
        assert sarcastic.rephrase not in ("", sincere.response.text, sarcastic.response.text)


def test_no_text_comes_twice(pairs):
    _, rows = pairs
    for part in (
        [fold(e.response.text) for pair in rows for e in pair],
        [fold(s.context[-1].text) for s, _ in rows],
        [fold(s.explanation) for s, _ in rows],
    ):
        assert [text for text, count in Counter(part).items() if count > 1] == []


def test_the_two_of_a_pair_share_words(pairs):
    _, rows = pairs
    for sarcastic, sincere in rows:
        first, second = (set(fold(e.response.text).split()) for e in (sarcastic, sincere))
        assert len(first & second) / min(len(first), len(second)) >= 0.2, sarcastic.id


def test_words_alone_do_not_decide(pairs):
    _, rows = pairs
    examples = [example for pair in rows for example in pair]
    predictions = []
    for fold_ in folds(examples, k=5, seed=0):
        predictions += BagOfWords().fit(fold_.train).predict(fold_.test)
    score = score_predictions(examples, predictions).scores["pair_accuracy"].value
    assert score < 0.65


def test_neither_side_is_longer(pairs):
    _, rows = pairs
    lengths = [sum(len(pair[side].response.text) for pair in rows) / len(rows) for side in (0, 1)]
    assert abs(lengths[0] - lengths[1]) < 0.08 * max(lengths)
