"""The sentiment lexicon."""

from __future__ import annotations

from deadpan.detect.features.lexicon import lexicon


def test_the_lexicon_feels_both_ways_and_knows_no_double():
    assert lexicon().look("LOVE!")[0] > 0 > lexicon().look("“terrible”")[0]
    assert lexicon().look("table") == (0.0, frozenset())
    assert "negate" in lexicon().look("don’t")[1]
