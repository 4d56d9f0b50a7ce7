"""Lines that JSON readers disagree about: the recount reads them as the engine does."""

from __future__ import annotations

from pathlib import Path

from corpus.dumping import comment
from corpus.making import recount, run

FIELDS = '"author":"ann","parent_id":"t3_p","link_id":"t3_p"'
TIME = '"created_utc":1262304000'


def row(id: str, *fields: str) -> bytes:
    return ("{" + ",".join([f'"id":"{id}"', '"body":"well then"', *fields, FIELDS]) + "}\n").encode()


METAS = (
    {"was_deleted_later": "true"}, {"was_deleted_later": 1}, {"removal_type": 5}, {"removal_type": []},
    {"a": {"removal_type": "moderator"}}, {"retrieved_2nd_on": True}, {"retrieved_2nd_on": [1]},
)  # fmt: skip

LINES = (
    comment("m", body="I know /s"),
    row("twice", TIME, '"score":1', '"score":2'),
    row("comma", TIME).replace(b"}\n", b",}\n"),
    row("quoted", TIME, '"x":"a,}"').replace(b"}\n", b", }\n"),
    row("yes", '"created_utc":true', '"score":true', '"ups":false'),
    row("infinite", '"created_utc":1e400'),
    row("nan", TIME, '"score":NaN', '"ups":"inf"'),
    row("spaced", '"created_utc":" 1262304000 "', '"score":"1_000"'),
    row("last", '"created_utc":253402300799.9'),
    row("large", TIME, '"score":9223372036854775807', '"ups":1e30'),
    row("deep", TIME, '"z":' + "[" * 300 + "]" * 300),
    row("case", TIME, '"Author":"zed"'),
    row("half", TIME, '"x":"\\ud800"'),
    row("garbage", TIME).replace(b"\n", b" //\n"),
    b"\xef\xbb\xbf" + row("mark", TIME),
    b"\x0c \n", b"\xc2\xa0\n", b"\x00\n", b"[]\n", b'{"id":\n',
    *(comment(f"meta{n}", _meta=meta) for n, meta in enumerate(METAS)),
    comment("late", retrieved_on=2**60), comment("late", retrieved_on=2**60 + 2**20, body="not later"),
    comment("old", retrieved_on=-5), comment("old", retrieved_on=None, body="neither"),
)  # fmt: skip


def test_odd_lines_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "odd_comments").write_bytes(b"".join(LINES))
    paths = [str(tmp_path / "odd_comments")]
    manifest = run(tmp_path, paths)
    recount(tmp_path / "out", paths, manifest)
    assert manifest.drops["unreadable"] >= 6
    assert manifest.counts["comments"] >= 12
