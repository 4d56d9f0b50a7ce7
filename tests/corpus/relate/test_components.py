"""Threads that the dumps divide are merged by connected components."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from deadpan.corpus.relate.components import SCHEMA, connected_components, job, work

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


def test_a_job_reads_pairs_and_writes_homes_again_if_asked(tmp_path: Path) -> None:
    sources, target = [tmp_path / "1.parquet", tmp_path / "2.parquet"], tmp_path / "new" / "deep" / "homes"
    pq.write_table(pa.table([["b", "y"], ["a", "x"]], schema=SCHEMA), sources[0])
    pq.write_table(pa.table([["c"], ["b"]], schema=SCHEMA), sources[1])
    seen = []
    for _ in range(2):
        work(job(sources, target), lambda job, done: seen.append(done))
        homes = {row["thread"]: row["home"] for row in pq.read_table(target).to_pylist()}
        assert homes == {"a": "a", "b": "a", "c": "a", "x": "x", "y": "x"}
    assert seen == [5, 5]
