"""Rows that share a key belong together, also by way of others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.errors import DataError
from deadpan.stats import cluster_codes

keys = st.lists(st.tuples(st.sampled_from(["", "a", "b", "c", "d"]), st.sampled_from(["", "a", "b"])), max_size=12)


def test_an_empty_key_joins_nothing() -> None:
    assert cluster_codes(["", "", "x", "x"]).tolist() == [0, 1, 2, 2]
    assert cluster_codes([]).tolist() == cluster_codes().tolist() == []


def test_a_key_that_is_no_text_is_refused_and_named() -> None:
    with pytest.raises(DataError, match="must be text, got 7:"):
        cluster_codes(["a", 7, None])  # type: ignore[list-item]


def test_sharing_is_transitive_across_kinds_of_key_but_kinds_do_not_mix() -> None:
    assert cluster_codes(["a", "a", "b", ""], ["", "s", "s", "a"]).tolist() == [0, 0, 0, 1]


@given(keys)
def test_clusters_are_the_connected_components(rows: list[tuple[str, str]]) -> None:
    codes = cluster_codes([group for group, _ in rows], [sequence for _, sequence in rows])
    reached = [{at} for at in range(len(rows))]
    for _ in rows:
        for at, (group, sequence) in enumerate(rows):
            for other, (group_too, sequence_too) in enumerate(rows):
                if (group and group == group_too) or (sequence and sequence == sequence_too):
                    reached[at] |= reached[other]
    for at in range(len(rows)):
        assert {other for other in range(len(rows)) if codes[other] == codes[at]} == reached[at]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(DataError, match="2, 1 rows"):
        cluster_codes(["a", "b"], ["a"])
