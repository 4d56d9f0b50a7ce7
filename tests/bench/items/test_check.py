"""What is wrong with a set is found and named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import make_item, small_set
from deadpan.bench.items.check import validate_set
from deadpan.bench.items.sets import make_set
from deadpan.records import Turn


def problems(items):
    return {problem.what for problem in validate_set(make_set("x", "public", items)).problems}


def test_a_sound_set_has_no_problem():
    assert validate_set(small_set(12)).passed


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"utterance": "Other."}, "its utterances differ"),
        ({"question": "Other?"}, "its questions differ"),
        ({"context": (Turn("", "Something else altogether happened in another town."),)}, "its contexts share only"),
        ({"checks": {"safe": True}}, "checklist without enough_context"),
        ({"author": ""}, "no author"),
        ({"context": ()}, "no context"),
    ],
)
def test_each_fault_is_found(change, what):
    found = problems([make_item(0), replace(make_item(0, 1), **change)])
    assert any(what in each for each in found), found


def test_a_twin_must_flip_the_answer_and_change_the_context():
    one = make_item(0)
    assert "its answers are the same" in problems([one, replace(one, id="twin")])
    assert "its contexts are the same" in problems([one, replace(one, id="twin", answer=3)])


def test_a_third_of_a_pair_and_a_copy_are_found():
    one, other = make_item(0), make_item(0, 1)
    assert "a pair of 3" in problems([one, other, replace(one, id="third")])
    copy = replace(one, id="copy", pair_id="")
    assert "nearly the same as i0-0" in problems([one, other, copy])


def test_a_favourite_letter_is_found():
    items = [replace(make_item(n), answer=1, pair_id="") for n in range(40)]
    assert any("not balanced" in each for each in problems(items))


GRID = tuple(f"He {what}, and she {how}." for what in ("forgot her time", "gave it away", "asked for it") for how in ("is glad of it", "holds it against him"))  # fmt: skip
THOUGHTS = (
    "She's grateful, but a bit put out that he prefers Yusuf.",
    "She wishes he'd stop spoiling the dog.",
    "She'd like her dog back now.",
    "She's impressed and just teasing.",
    "Yusuf has got on her nerves.",
    "She thinks the walk was far too long.",
)


def test_options_that_recombine_parts_are_a_grid_and_thoughts_are_not():
    found = problems([make_item(0, options=GRID)])
    assert "a grid: 6 options recombine the same parts" in found
    assert not any("grid" in each for each in problems([make_item(0, options=THOUGHTS)]))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"mistakes": ()}, "no mistakes"),
        ({"mistakes": ("literal",) * 6}, "its answer has the mistake 'literal'"),
        ({"mistakes": ("",) * 6}, "option B has no mistake"),
        ({"cue": "it snows"}, "its cue 'it snows' is not in the text"),
        ({"cue": "day 0 of ... it snows"}, "its cue 'it snows' is not in the text"),
        ({"speaker": ""}, "no speaker"),
    ],
)
def test_mistakes_and_cues_are_checked(change, what):
    assert what in problems([make_item(0, **change)])


def test_two_quotes_make_a_cue():
    assert not any("cue" in each for each in problems([make_item(0, cue="day 0 ... it shines")]))
