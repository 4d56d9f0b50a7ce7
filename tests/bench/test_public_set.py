"""The set that is shipped keeps what it promises."""

from __future__ import annotations

from collections import Counter

import pytest

from deadpan.bench.audit import CLASSIFIERS, audit
from deadpan.bench.items import CATEGORIES, CHANCE
from deadpan.bench.sets import open_set
from deadpan.bench.validation import validate

PUBLIC = open_set("public@0.2.0")


def test_it_is_large_enough_in_every_category_and_language():
    languages = Counter(item.language for item in PUBLIC.items)
    english = Counter(item.category for item in PUBLIC.items if item.language == "en")
    assert languages["en"] >= 150
    assert languages["ko"] >= 30
    assert all(english[category] >= 30 for category in CATEGORIES)
    assert len({item.pair_id for item in PUBLIC.items if item.pair_id}) >= 40


def test_it_is_sound():
    assert validate(PUBLIC) == []


def test_every_item_says_who_wrote_it_and_may_be_used():
    assert {item.licence for item in PUBLIC.items} == {"CC0-1.0"}
    assert len({item.canary for item in PUBLIC.items}) == 1


@pytest.mark.slow
def test_it_cannot_be_guessed():
    found = audit(PUBLIC)
    assert found.passed, [(probe.name, str(probe.accuracy)) for probe in found.probes if not probe.passed]
    for probe in found.probes:
        if probe.name in CLASSIFIERS:
            assert abs(probe.accuracy.value - CHANCE) <= 0.05
            assert probe.accuracy.low <= CHANCE <= probe.accuracy.high
