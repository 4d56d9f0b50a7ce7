"""Threads across months: what a new month reuses, also where link_ids are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from corpus.adversary import Dumps
from corpus.dumping import comment
from corpus.making import check, difference, expected, files, run
from deadpan.corpus.threads import MergeJob, connected_components, merge_threads

FEBRUARY = 1264982400


def info(out: Path) -> dict[str, Any]:
    (path,) = (out / ".work").glob("threads-*/info.json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_a_stray_link_id_costs_its_own_threads_only(tmp_path: Path) -> None:
    january = [
        comment("a", body="oh great /s"),
        comment("b", body="below it", parent_id="t1_a", link_id="t3_stray"),
        comment("c", body="and below", parent_id="t1_b", link_id="t3_other"),
        comment("x", body="elsewhere /s", link_id="t3_q", parent_id="t3_q"),
        comment("y", body="a reply there", link_id="t3_q", parent_id="t3_q"),
    ]
    february = [
        comment("d", body="late and below", parent_id="t1_c", link_id="t3_other", created_utc=FEBRUARY),
        comment("e", body="new /s", link_id="t3_n", parent_id="t3_n", created_utc=FEBRUARY),
    ]
    paths = [str(tmp_path / name) for name in ("RC_2010-01", "RC_2010-02")]
    for path, lines in zip(paths, (january, february), strict=True):
        Path(path).write_bytes(b"".join(lines))
    manifest = run(tmp_path, paths[:1], out="grown")
    assert manifest.drops["under_sarcasm"] == 2
    assert info(tmp_path / "grown")["joined"] is True
    run(tmp_path, paths, out="grown")
    assert info(tmp_path / "grown") == {"joined": True, "rounds": 1, "reused": info(tmp_path / "grown")["reused"]}
    assert len(info(tmp_path / "grown")["reused"]) == 1
    whole = run(tmp_path, paths, out="whole")
    assert whole.drops["under_sarcasm"] == 3
    assert difference(files(tmp_path / "whole"), files(tmp_path / "grown")) == ""


def test_an_ancestor_whose_thread_was_merged_elsewhere_stays_in_the_conversation(tmp_path: Path) -> None:
    dumps = Dumps({"RC_2010-01": b"".join([
        comment("a", parent_id="t3_p", link_id="t3_p"),
        comment("b", parent_id="t1_a", link_id="t3_q"),
        comment("c", parent_id="t1_b", link_id="t3_q"),
        comment("d", parent_id="t1_c", link_id="t3_q", body="so it is /s"),
        comment("e", parent_id="t3_o", link_id="t3_o", body="elsewhere /s"),
        comment("f", parent_id="t1_e", link_id="t3_p"),
    ])})  # fmt: skip
    manifest = run(tmp_path, dumps.write(tmp_path / "dumps"))
    check(tmp_path / "out", manifest, expected(dumps))
    texts = json.loads((tmp_path / "out" / "raw" / "comments.json").read_text())
    assert {"p", "a", "b", "c", "d"} <= set(texts)


# ---------------------------------------------------------------- divided threads

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
    schema = pa.schema([("thread", pa.string()), ("home", pa.string())])
    sources, target = [tmp_path / "1.parquet", tmp_path / "2.parquet"], tmp_path / "new" / "deep" / "homes"
    pq.write_table(pa.table([["b", "y"], ["a", "x"]], schema=schema), sources[0])
    pq.write_table(pa.table([["c"], ["b"]], schema=schema), sources[1])
    seen: list[int] = []
    for _ in range(2):
        merge_threads(MergeJob(tuple(map(str, sources)), str(target)), seen.append)
        homes = {row["thread"]: row["home"] for row in pq.read_table(target).to_pylist()}
        assert homes == {"a": "a", "b": "a", "c": "a", "x": "x", "y": "x"}
    assert seen == [5, 5]
