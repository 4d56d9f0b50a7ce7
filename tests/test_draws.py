"""Draws depend on the seed and the id, not on the order."""

from __future__ import annotations

import random

from deadpan.draws import draw, sample


def test_a_sample_is_the_same_whatever_the_order():
    ids = [f"id{i}" for i in range(500)]
    shuffled = random.Random(1).sample(ids, len(ids))
    chosen = sample(ids, 10, seed=3, key=str)
    assert sample(shuffled, 10, seed=3, key=str) == chosen
    assert len(set(chosen)) == 10
    assert sample(ids, 10, seed=4, key=str) != chosen


def test_a_draw_never_changes_between_versions():
    assert draw(0, "c07o37s").hex() == "05e5dadf1c65653176dad9aa465cedb2"


def test_fewer_than_asked_gives_all():
    assert sorted(sample(["b", "a"], 5, seed=0, key=str)) == ["a", "b"]
