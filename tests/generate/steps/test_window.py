"""Dialogues of two people, cut to a window of a few turns."""

from __future__ import annotations

import itertools

import pytest

from deadpan.generate.steps.window import two_people, window
from deadpan.records import Turn


def test_two_people_with_their_lines_joined():
    turns = (Turn("p", "hi "), Turn("p", "you"), Turn("q", ""), Turn("q", "ho\nho"), Turn("p", "so"))
    assert two_people(turns) == ((Turn("A", "hi you"), Turn("B", "ho ho"), Turn("A", "so")), "")


@pytest.mark.parametrize(
    ("speakers", "why"), [("xyz", "three_or_more_speakers"), ("xx", "one_speaker"), ("", "no_words")]
)
def test_other_dialogues_are_not_used(speakers, why):
    assert two_people(tuple(Turn(s, "hi") for s in speakers)) == ((), why)


def test_the_window_is_seeded_and_begins_with_a():
    turns = tuple(Turn("AB"[n % 2], str(n)) for n in range(20))
    cuts = {window(turns, 6, seed=seed, id="x") for seed in range(40)}
    assert len(cuts) > 5
    assert all(len(cut) == 6 and cut[0].speaker == "A" for cut in cuts)
    assert all(int(b.text) - int(a.text) == 1 for cut in cuts for a, b in itertools.pairwise(cut))
    assert window(turns, 6, seed=3, id="x") == window(turns, 6, seed=3, id="x")
    assert window(turns[:4], 6, seed=3, id="x") == turns[:4]
