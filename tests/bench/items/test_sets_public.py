"""The set that is shipped keeps what it promises."""

from __future__ import annotations

from collections import Counter

import pytest

from deadpan.bench.items.check import MARGIN, giveaways, validate_set
from deadpan.bench.items.item import CATEGORIES, CHANCE, family
from deadpan.bench.items.probes import RULES, form_only, rule_credit
from deadpan.bench.items.prompts import NARRATORS, render_prompt
from deadpan.bench.items.sets import DEFAULT_SET, open_set
from deadpan.stats import bootstrap_interval

PUBLIC = open_set("public@0.2.0")
NEWEST = open_set("public@0.3.0")


def test_it_is_large_enough_in_every_category_and_language():
    languages = Counter(item.language for item in PUBLIC.items)
    english = Counter(item.category for item in PUBLIC.items if item.language == "en")
    assert languages["en"] >= 150
    assert languages["ko"] >= 30
    assert all(english[category] >= 30 for category in CATEGORIES)
    assert len({item.pair_id for item in PUBLIC.items if item.pair_id}) >= 40


def test_it_is_sound():
    assert validate_set(PUBLIC).passed


def test_every_item_says_who_wrote_it_and_may_be_used():
    assert {item.licence for item in PUBLIC.items} == {"CC0-1.0"}
    assert len({item.canary for item in PUBLIC.items}) == 1


@pytest.mark.slow
def test_the_default_set_cannot_be_guessed_by_the_form_of_its_options():
    """The probes of words take a minute; docs/results.md has them."""
    groups = [family(item) for item in NEWEST.items]
    for credit in (form_only(NEWEST.items), *(rule_credit(NEWEST.items, rule) for rule in RULES.values())):
        found = bootstrap_interval(lambda rows, credit=credit: float(credit[rows].mean()), groups)
        assert found.low <= CHANCE
        assert found.value - CHANCE <= MARGIN


def test_the_newest_set_is_the_default():
    assert open_set(DEFAULT_SET).hash == open_set("public").hash == NEWEST.hash


def test_the_earlier_set_keeps_its_hash():
    """A field that was added to items must not change sets that do not use it: old runs stay valid."""
    assert PUBLIC.hash.startswith("e74dee7958ca")


def test_the_new_set_is_large_valid_and_has_both_languages():
    assert validate_set(NEWEST).passed
    languages = Counter(item.language for item in NEWEST.items)
    assert languages["en"] >= 300
    assert languages["ko"] >= 100
    assert min(Counter(item.category for item in NEWEST.items).values()) >= 60
    assert len({item.pair_id for item in NEWEST.items if item.pair_id}) >= 200
    assert not [found for item in NEWEST.items for found in giveaways(item)]


def test_most_scenes_of_the_new_set_are_conversations():
    def spoken(item):
        return sum(turn.speaker not in NARRATORS for turn in (*item.context, *item.after)) + 1

    assert sum(spoken(item) >= 3 for item in NEWEST.items) / len(NEWEST.items) >= 0.4


def test_what_follows_the_remark_is_in_the_prompt_after_it():
    item = next(item for item in NEWEST.items if item.after)
    prompt = render_prompt(item, range(6))
    assert prompt.index(item.utterance) < prompt.index(item.after[0].text) < prompt.index(item.question)
    assert "\0" not in prompt
