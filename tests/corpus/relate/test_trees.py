"""Comments below a marked one, in trees of every shape."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.corpus.relate.trees import descend, paths, trees

nodes = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-2, n - 1), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n),
    )
)


def walk(parents: list[int], marked: list[bool], row: int) -> tuple[bool, bool]:
    """(a marked ancestor, a whole chain), one step at a time; -1 is the post, -2 is nowhere."""
    seen: set[int] = set()
    below, at = False, parents[row]
    while at >= 0 and at not in seen:
        seen.add(at)
        below |= marked[at]
        at = parents[at]
    return below, at == -1


@settings(max_examples=300)
@given(nodes)
def test_any_forest_with_cycles_and_orphans(shape: tuple[list[int], list[bool]]) -> None:
    parents, marked = shape
    numbers = np.array(parents)
    forest = trees(np.where(numbers >= 0, numbers, -1), numbers == -1)
    below, whole = descend(forest, np.array(marked))
    assert list(zip(below.tolist(), whole.tolist(), strict=True)) == [
        walk(parents, marked, row) for row in range(len(parents))
    ]


@given(nodes)
def test_paths_lead_from_below_the_post_to_each_row(shape: tuple[list[int], list[bool]]) -> None:
    numbers = np.array(shape[0])
    forest = trees(np.where(numbers >= 0, numbers, -1), numbers == -1)
    asked = np.flatnonzero(descend(forest, np.array(shape[1]))[1])[::-1]
    rows, begins = paths(forest, asked)
    found = [rows[begin:end].tolist() for begin, end in pairwise(begins.tolist())]
    assert [path[-1] for path in found] == asked.tolist()
    assert all(numbers[path[0]] == -1 for path in found)
    assert all(numbers[below] == above for path in found for above, below in pairwise(path))


def test_a_chain_of_ten_thousand() -> None:
    n = 10_000
    parents = np.arange(-1, n - 1)
    forest = trees(parents, parents == -1)
    marked = np.zeros(n, dtype=bool)
    marked[5_000] = True
    below, whole = descend(forest, marked)
    assert whole.all()
    assert below.tolist() == [row > 5_000 for row in range(n)]
    rows, begins = paths(forest, np.array([n - 1]))
    assert rows.tolist() == list(range(n))
    assert begins.tolist() == [0, n]
