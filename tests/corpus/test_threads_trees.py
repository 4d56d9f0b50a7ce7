"""Comments below a marked one, in trees of every shape."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.corpus.threads import (
    THREAD_SCHEMAS,
    TREE_COLUMNS,
    ThreadsJob,
    descend,
    paths,
    process_threads,
    thread_tables,
    trees,
)

nodes = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-2, n - 1), min_size=n, max_size=n), st.lists(st.booleans(), min_size=n, max_size=n)
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


# ---------------------------------------------------------------- jobs


def test_without_threads_there_are_files_without_rows(tmp_path: Path) -> None:
    fields = {name: pa.string() for name in TREE_COLUMNS}
    fields |= dict.fromkeys(("marked", "candidate"), pa.bool_())
    fields |= {"created_utc": pa.int64(), "month": pa.int32()}
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.schema(fields.items()).empty_table(), tmp_path / "rows" / "part.parquet")
    process_threads(ThreadsJob(str(tmp_path / "rows"), str(tmp_path), 0, True))
    for name, schema in THREAD_SCHEMAS.items():
        assert pq.read_table(tmp_path / name / "00000.parquet").schema.equals(schema)


def test_a_parent_in_another_thread_of_the_batch_is_missing() -> None:
    """Else the threads would be merged or not depending on what else is in the batch."""
    kinds = {"marked": pa.bool_(), "candidate": pa.bool_(), "created_utc": pa.int64(), "month": pa.int32()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in TREE_COLUMNS])
    rows = [
        {"thread": "p", "id": "a", "top": "p", "marked": False, "candidate": True},
        {"thread": "q", "id": "b", "up": "a", "marked": False, "candidate": True},
        {"thread": "q", "id": "c", "up": "b", "marked": True, "candidate": True},
    ]
    found = thread_tables(pa.Table.from_pylist(rows, schema), drop_under=True)
    assert found["missing"].to_pylist() == [{"id": "a", "thread": "q"}]
    assert found["sequences"].num_rows == 0
    assert found["broken"]["last"].to_pylist() == ["b"]
