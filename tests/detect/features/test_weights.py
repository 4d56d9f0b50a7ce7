"""Lookup of n-gram weights by key."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deadpan.detect.features.weights import GramWeights


@given(
    st.lists(st.integers(0, 2**64 - 1), max_size=50, unique=True),
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
)
def test_lookup_finds_what_is_there_and_nothing_else(known, asked):
    keys = np.array(sorted(known), dtype=np.uint64)
    weights = GramWeights(keys, np.ones(len(keys), np.float32), np.ones(len(keys), np.float32), 1.0)
    asked += known[:5]
    found, places = weights.lookup(np.array(asked, dtype=np.uint64))
    assert sorted(asked[at] for at in found) == sorted(each for each in asked if each in set(known))
    assert all(int(keys[place]) == asked[at] for at, place in zip(found, places, strict=True))
