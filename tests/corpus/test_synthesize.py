"""Synthetic dumps: reproducible, and with the oddities of real ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.errors import ConfigError


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        synthesize_dumps(tmp_path / name, months=2, comments=2_000, form="gz")
    paths = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert paths == ["RC_2010-01.gz", "RC_2010-02.gz", "RS_2010-01.gz", "RS_2010-02.gz", "manifest.json"]
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in paths)
    synthesize_dumps(tmp_path / "three", months=2, comments=2_000, form="gz", seed=1)
    assert (tmp_path / "three" / paths[0]).read_bytes() != (tmp_path / "one" / paths[0]).read_bytes()


def test_dumps_have_the_oddities_of_real_ones(tmp_path: Path) -> None:
    paths = synthesize_dumps(tmp_path, months=2, comments=15_000, form="plain").files
    rows, broken = {}, 0
    for path in paths[::2]:
        for line in lines(path):
            try:
                row = json.loads(line)
                rows[row["id"]] = row
            except ValueError:
                broken += 1
    assert broken > 0
    assert len(rows) > 14_900
    bodies = [row["body"] for row in rows.values()]
    assert sum(body.rstrip().endswith(" /s") for body in bodies) > 50
    ends = [body.rstrip().removesuffix("/s") for body in bodies if body.rstrip().endswith("./s")]
    assert ends and not any(end.endswith(("..", "!.", "?.", "\n.")) for end in ends)  # an ending of sarcasm alone
    for sign in ("http://", "&gt;", "[deleted]", "m/s", "\n\n", "정말"):
        assert any(sign in body for body in bodies), sign
    parents = [rows.get(row["parent_id"][3:]) for row in rows.values() if row["parent_id"].startswith("t1_")]
    # A parent whose own line is one of the broken ones cannot be found.
    assert sum(map(bool, parents)) > 0.99 * len(parents)
    deep = {row["parent_id"] for row in rows.values()} & {
        f"t1_{p['id']}" for p in parents if p and p["parent_id"][1] == "1"
    }
    assert len(deep) > 500
    times = {id: datetime.fromtimestamp(int(row["created_utc"]), UTC) for id, row in rows.items()}
    months = {id: (time.year, time.month) for id, time in times.items()}
    assert any(months[id] != months.get(row["parent_id"][3:], months[id]) for id, row in rows.items())


def test_no_months_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="at least 1 month"):
        synthesize_dumps(tmp_path, months=0)
