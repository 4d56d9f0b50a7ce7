"""ablate: more and less context on the same folds, or the parts of a corpus."""

from __future__ import annotations

import pytest

from deadpan.detect.studies.ablation import ablate, score_parts
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction, Turn
from detect_corpus import word_corpus


def test_context_is_added_turn_by_turn():
    result = ablate(word_corpus(), "bow", turns=[0, 1], k=3)
    assert list(result.scores) == ["0", "1"]
    assert list(result.gains) == ["1"]
    assert "gain over 0" in str(result)


def test_a_lower_error_is_a_gain():
    result = ablate(word_corpus(), "bow", turns=[0, 1], k=3, metric="brier")
    before, after = (result.scores[name].value for name in ("0", "1"))
    gain = result.summary().tables[0].rows[1][2]
    assert gain.startswith(f"{before - after:+.3f} [")
    low, high = (float(end) for end in gain[gain.index("[") + 1 : gain.index("]")].split(", "))
    assert low <= before - after <= high
    assert "lower is better" in str(result)


def test_parts_are_scored_separately():
    result = ablate(word_corpus(), "bow", turns=[0], by="topic", k=3)
    assert {name: score.n for name, score in result.scores.items()} == {"tea": 30, "rain": 30}
    by_length = ablate(word_corpus(), "bow", turns=[0], by="length", k=3)
    assert sum(score.n for score in by_length.scores.values()) == 60
    with pytest.raises(ConfigError, match="no example has a category"):
        ablate(word_corpus(), "bow", turns=[0], by="category", k=3)
    with pytest.raises(ConfigError, match="unknown grouping"):
        ablate(word_corpus(), "bow", by="colour")


def test_classes_of_length_are_in_the_order_of_their_lengths():
    rows = [
        Example(f"{words}-{n}", Turn("", " ".join(["word"] * words)), label=bool(n % 2))
        for words in (45, 15, 8, 3)
        for n in range(40)
    ]
    said = [Prediction(e.id, True, 0.6) for e in rows]
    names = ["1 to 5 words", "6 to 10 words", "11 to 20 words", "41 words and more"]
    assert list(score_parts(rows, said, "length")) == names
