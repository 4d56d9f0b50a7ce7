"""The audit finds what is planted, and nothing in a set where nothing is."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from bench_items import make_item
from deadpan.bench.items.check import audit_set, giveaways, smallest_effect
from deadpan.bench.items.probes import folds_of, form_only, options_only
from deadpan.bench.items.sets import make_set

WORDS = ["river", "stone", "cloud", "paper", "light", "music", "bread", "glass", "smoke", "table", "chair", "water", "field", "north"]  # fmt: skip


def random_set(n: int, plant: str = ""):
    """Options of random words; `plant` goes into every answer, in the place of a word."""
    draw = random.Random(0)
    items = []
    for number in range(n):
        options = [" ".join(draw.sample(WORDS, 6)) for _ in range(6)]
        answer = number % 6
        if plant:
            options[answer] = " ".join([*options[answer].split()[:-1], plant])
        items.append(replace(make_item(number), options=tuple(options), answer=answer, pair_id=""))
    return make_set("x", "public", items)


def by_name(found, name):
    return next(probe for probe in found.probes if probe.name == name)


def test_a_word_only_answers_have_is_found():
    found = audit_set(random_set(60, plant="mauve"))
    assert not by_name(found, "words of the options").passed
    assert by_name(found, "words of the options").accuracy.value > 0.8
    assert not found.passed


def test_long_answers_are_found():
    items = [replace(i, options=tuple(o + (" and so on" if p == i.answer else "") for p, o in enumerate(i.options))) for i in random_set(40).items]  # fmt: skip
    found = audit_set(make_set("x", "public", items))
    assert not by_name(found, "longest option").passed


def test_answers_that_share_more_words_with_the_rest_are_found():
    """Distractors that are all of their own stand out, whatever their words are."""
    draw, items = random.Random(1), []
    for number in range(60):
        common = draw.sample(WORDS, 3)
        options = [" ".join(draw.sample(WORDS, 6)) for _ in range(6)]
        answer = number % 6
        for place in (answer, (answer + 1) % 6):
            options[place] = " ".join([*common, *options[place].split()[:3]])
        items.append(replace(make_item(number), options=tuple(options), answer=answer, pair_id=""))
    assert form_only(items).mean() > 0.35
    assert form_only(random_set(120).items).mean() == pytest.approx(1 / 6, abs=0.1)


def test_chance_is_let_be():
    credit = options_only(random_set(120).items)
    assert credit.mean() == pytest.approx(1 / 6, abs=0.1)


def test_families_are_never_split_between_folds():
    items = [make_item(n, twin) for n in range(30) for twin in (0, 1)]
    folds = folds_of(items, seed=3)
    assert np.array_equal(folds[::2], folds[1::2])


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("a much longer answer than all of the other ones here", *(["short one"] * 5)), "much longer"),
        (("tiny", *(["something of a usual length"] * 5)), "much shorter"),
        (("a sarcastic remark of his", *(["a friendly remark of his"] * 5)), "names sarcasm"),
        (("Lovely amber weather", *(["nothing of the kind at x"] * 5)), "repeats the words"),
    ],
)
def test_an_item_that_gives_itself_away_is_named(options, what):
    item = replace(make_item(0), options=options, answer=0)
    assert any(what in each.what for each in giveaways(item)), giveaways(item)


def test_more_items_show_smaller_effects():
    assert smallest_effect(200) == pytest.approx(0.0738, abs=0.001)
    assert smallest_effect(800) < smallest_effect(200)
