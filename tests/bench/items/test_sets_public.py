"""The set that is shipped keeps what it promises."""

from __future__ import annotations

import pytest

from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.check import MARGIN, validate_set
from deadpan.bench.items.item import CHANCE, family
from deadpan.bench.items.probes import RULES, form_only, rule_credit
from deadpan.bench.items.prompts import NARRATORS, render_prompt
from deadpan.bench.items.sets import open_set
from deadpan.stats import bootstrap_interval

EARLIER = open_set("public@0.3.0")
NEWEST = open_set(DEFAULT_SET)


def test_every_item_says_who_wrote_it_and_may_be_used():
    assert {item.licence for item in NEWEST.items} == {"CC0-1.0"}
    assert len({item.canary for item in NEWEST.items}) == 1


@pytest.mark.slow
def test_the_default_set_cannot_be_guessed_by_the_form_of_its_options():
    """The probes of words take a minute; docs/results.md has them."""
    groups = [family(item) for item in NEWEST.items]
    for credit in (form_only(NEWEST.items), *(rule_credit(NEWEST.items, rule) for rule in RULES.values())):
        found = bootstrap_interval(lambda rows, credit=credit: float(credit[rows].mean()), groups)
        assert found.low <= CHANCE
        assert found.value - CHANCE <= MARGIN


def test_the_earlier_set_keeps_its_hash():
    """A field that was added to items must not change sets that do not use it: old runs stay valid."""
    assert EARLIER.hash.startswith("f1118989805c")


def test_options_of_the_earlier_set_are_grids():
    grids = [each for each in validate_set(EARLIER).problems if "grid" in each.what]
    assert len(grids) > len(EARLIER.items) / 2


def test_most_scenes_of_the_new_set_are_conversations():
    def spoken(item):
        return sum(turn.speaker not in NARRATORS for turn in (*item.context, *item.after)) + 1

    assert sum(spoken(item) >= 3 for item in NEWEST.items) / len(NEWEST.items) >= 0.4


def test_what_follows_the_remark_is_in_the_prompt_after_it():
    item = next(item for item in NEWEST.items if item.after)
    prompt = render_prompt(item, range(6))
    assert prompt.index(item.utterance) < prompt.index(item.after[0].text) < prompt.index(item.question)
    assert "\0" not in prompt
