"""ablate: more and less context on the same folds, or the parts of a corpus."""

from __future__ import annotations

import pytest

from deadpan.detect.studies.ablation import ablate
from deadpan.errors import ConfigError
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
