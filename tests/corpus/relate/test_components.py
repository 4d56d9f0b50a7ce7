"""Threads that the dumps divide are merged by connected components."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deadpan.corpus.relate.components import connected_components

NAMES = st.sampled_from("abcdefgh")


@given(st.lists(st.tuples(NAMES, NAMES), max_size=12))
def test_components_are_those_of_a_plain_search(edges: list[tuple[str, str]]) -> None:
    found = connected_components(edges)
    for name in found:
        reached, waiting = {name}, [name]
        while waiting:
            here = waiting.pop()
            near = {b for a, b in edges if a == here} | {a for a, b in edges if b == here}
            waiting += near - reached
            reached |= near
        assert found[name] == min(reached)
    assert set(found) == {name for edge in edges for name in edge}
