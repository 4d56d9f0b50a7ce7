"""Threads across months: what a new month reuses, also where link_ids are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from corpus.adversary import Dumps
from corpus.dumping import comment
from corpus.making import check, difference, expected, files, run

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
    assert info(tmp_path / "grown") == {
        "joined": True,
        "rounds": 1,
        "reused": info(tmp_path / "grown")["reused"],
    }
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
