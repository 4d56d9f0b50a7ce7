from __future__ import annotations

import pytest

from deadpan.drops import Tally
from deadpan.formats.labels import BINARY, EVERYDAY, kind_words, label_of, label_word, read_label
from deadpan.formats.rows import TableRow
from deadpan.records import Prediction


@pytest.mark.parametrize("value", [True, 1, 1.0, "1", "1.0", " TRUE ", "Sarcastic", "yes"])
def test_sarcastic(value: object) -> None:
    assert read_label(value, EVERYDAY) is True


@pytest.mark.parametrize("value", [False, 0, "0", "false", "Non-Sarcasm", "not sarcastic", "notsarc", "no"])
def test_not_sarcastic(value: object) -> None:
    assert read_label(value, EVERYDAY) is False


@pytest.mark.parametrize("value", [None, "", "2", "maybe", "yes", []])
def test_neither(value: object) -> None:
    assert read_label(value, BINARY) is None


@pytest.mark.parametrize("value", ["y", "t", "sarc", "irony", "pos", "ironic"])
def test_other_words_for_sarcastic(value: str) -> None:
    assert read_label(value, EVERYDAY) is True


@pytest.mark.parametrize("value", ["n", "f", "none", "literal", "sincere", "no_irony", "nonironic", "not-sarc"])
def test_other_words_for_sincere(value: str) -> None:
    assert read_label(value, EVERYDAY) is False


@pytest.mark.parametrize(
    ("prediction", "word"),
    [
        (Prediction("a", True, 0.1), "sarcastic"),
        (Prediction("a", False), "sincere"),
        (Prediction("a", None, 0.4), "cannot tell"),
        (Prediction("a", None, 0.4, "not supported: German"), "not supported"),
        (Prediction("a", None), ""),
    ],
)
def test_a_prediction_has_a_word(prediction: Prediction, word: str) -> None:
    assert label_word(prediction) == word


def test_an_unknown_label_is_counted() -> None:
    tally = Tally()
    rows = [TableRow({"label": "0"}, 1, "t.csv:2"), TableRow({"label": "maybe"}, 2, "t.csv:3")]
    assert [label_of(row, BINARY, tally) for row in rows] == [False, None]
    assert tally.drops == {"unknown_label": 1} and "'maybe'" in str(tally.places)


def test_the_labels_of_a_detector_of_one_kind() -> None:
    known = {"satire": True, "not_satire": False}
    assert kind_words(["satire", "Not satire", "", "cannot tell", "not supported"]) == known
    assert kind_words(["not satire", "not satire"]) == known
    for strange in (["satire"], ["yes", "no", "not sure"], ["not supported", "yes"], ["not a", "not b"], []):
        assert kind_words(strange) == {}
    assert label_word(Prediction("x", False, 0.1), "satire") == "not satire"
