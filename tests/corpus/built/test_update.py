"""Months added to a corpus: versions, withdrawals with reasons, and an after-cutoff benchmark."""

from __future__ import annotations

import errno
import json
from datetime import date
from pathlib import Path

import pytest

from corpus.dumping import comment
from corpus.making import difference, files, run, settings_of
from deadpan.corpus import BuiltCorpus, update_corpus, verify_corpus
from deadpan.errors import ConfigError, DataError
from deadpan.formats.sarc import read_index

JANUARY, FEBRUARY = 1262304000, 1264982400


def dumps(folder: Path) -> tuple[list[str], list[str]]:
    """Two months: in the second, a comment of the first is deleted, and a new thread begins."""
    first = [
        comment("a", body="oh great /s", created_utc=JANUARY, retrieved_on=1),
        comment("b", body="it really is good", created_utc=JANUARY + 1, retrieved_on=1),
        comment("d", body="mine is gone soon", created_utc=JANUARY + 2, retrieved_on=1),
        comment("e", author="bob", body="forget me please /s", created_utc=JANUARY + 2),
    ]
    second = [
        comment("d", body="[deleted]", author="[deleted]", created_utc=JANUARY + 2, retrieved_on=9),
        comment("f", body="what a surprise /s", created_utc=FEBRUARY, link_id="t3_q", parent_id="t3_q"),
        comment("g", body="nobody knew that", created_utc=FEBRUARY + 5, link_id="t3_q", parent_id="t3_q"),
    ]
    post = {"id": "q", "title": "News of the day", "author": "cy", "subreddit": "x", "created_utc": FEBRUARY}
    (folder / "RC_2010-01").write_bytes(b"".join(first))
    (folder / "RC_2010-02").write_bytes(b"".join(second))
    (folder / "RS_2010-02").write_text(json.dumps(post) + "\n")
    return [str(folder / "RC_2010-01")], [str(folder / "RC_2010-02"), str(folder / "RS_2010-02")]


def test_an_update_is_a_new_version_with_its_difference(tmp_path: Path) -> None:
    old, new = dumps(tmp_path)
    run(tmp_path, old)
    (tmp_path / "forget.txt").write_text("bob\n")
    release = update_corpus(
        new, tmp_path / "out", after="2010-02", today=date(2026, 11, 16), memory="500MB", mixed_months=True,
        forget=tmp_path / "forget.txt",
    )  # fmt: skip
    assert (release.version, release.date, release.added) == (2, "2026-11-16", 2)
    assert release.withdrawn == {"deleted_later": 1, "forgotten": 1}
    listed = json.loads((tmp_path / "out" / "releases.json").read_text())
    assert [one["version"] for one in listed] == [1, 2]
    assert listed[0]["hash"] != listed[1]["hash"]
    assert (tmp_path / "out" / "withdrawn" / "0002.csv").read_text() == ("id,reason\nd,deleted_later\ne,forgotten\n")
    assert verify_corpus(tmp_path / "out").wrong == {}
    fresh = settings_of(tmp_path)
    assert BuiltCorpus(tmp_path / "out").manifest.config["benchmark"]["vectors"] == fresh.benchmark.vectors
    lines = list(read_index(tmp_path / "out" / "after-2010-02" / "test-unbalanced.csv"))
    assert [line.responses for line in lines] == [("f", "g")]
    texts = json.loads((tmp_path / "out" / "after-2010-02" / "comments.json").read_text())
    assert {entry["date"] for entry in texts.values()} == {"2010-02"}
    with pytest.raises(DataError, match="no whole conversation from 2011-01"):
        update_corpus(new, tmp_path / "out", after="2011-01", memory="500MB", mixed_months=True)
    assert not (tmp_path / "out" / "after-2011-01").exists()
    same = update_corpus(new, tmp_path / "out", memory="500MB", mixed_months=True)
    assert (same.version, same.notes[-1]) == (2, "Nothing changed.")


def test_an_update_without_conversations_after_a_month_is_a_version_all_the_same(tmp_path: Path) -> None:
    old, new = dumps(tmp_path)
    run(tmp_path, old)
    with pytest.raises(DataError, match="no whole conversation from 2011-01"):
        update_corpus(new, tmp_path / "out", after="2011-01", memory="500MB", mixed_months=True)
    listed = json.loads((tmp_path / "out" / "releases.json").read_text())
    assert [(one["version"], one["benchmark"]) for one in listed] == [(1, ""), (2, "")]
    assert verify_corpus(tmp_path / "out").wrong == {}


def test_no_benchmark_keeps_a_withdrawn_text(tmp_path: Path) -> None:
    old, new = dumps(tmp_path)
    run(tmp_path, old)
    (tmp_path / "later").write_bytes(
        comment("g", author="[deleted]", body="[deleted]", created_utc=FEBRUARY + 5, link_id="t3_q",
                parent_id="t3_q", retrieved_on=99)
    )  # fmt: skip
    update_corpus(new, tmp_path / "out", after="2010-02", memory="500MB", mixed_months=True)
    texts = tmp_path / "out" / "after-2010-02" / "comments.json"
    assert "nobody knew that" in texts.read_text()
    release = update_corpus(tmp_path / "later", tmp_path / "out", memory="500MB", mixed_months=True)
    assert release.withdrawn == {"deleted_later": 1}
    assert "nobody knew that" not in texts.read_text()  # written again
    assert verify_corpus(tmp_path / "out").wrong == {}
    (tmp_path / "forget.txt").write_text("ann\n")
    run(tmp_path, [*old, *new, str(tmp_path / "later")], mixed_months=True, forget=tmp_path / "forget.txt")
    assert not texts.exists()  # a build leaves none of an earlier version
    assert verify_corpus(tmp_path / "out").wrong == {}


def test_an_update_gives_the_files_of_a_build_from_scratch(tmp_path: Path) -> None:
    old, new = dumps(tmp_path)
    run(tmp_path, old)
    with pytest.raises(ConfigError, match="'2010-13' is not a month"):  # before the build
        update_corpus(new, tmp_path / "out", after="2010-13", memory="500MB", mixed_months=True)
    assert not (tmp_path / "out" / "releases.json").exists()
    update_corpus(new, tmp_path / "out", memory="500MB", mixed_months=True)
    run(tmp_path, [*old, *new], out="whole", mixed_months=True)
    ours, whole = files(tmp_path / "out"), files(tmp_path / "whole")
    assert {name for name in ours if name not in whole} == {"releases.json", "withdrawn/0002.csv"}
    assert b"## Version\n\n2.0.0, 20" in ours["README.md"]
    release = ("README.md", "manifest.json")  # with the number and date of the version
    assert difference({name: ours[name] for name in whole if name not in release}, {
        name: data for name, data in whole.items() if name not in release
    }) == ""  # fmt: skip
    Path(old[0]).rename(tmp_path / "moved")  # a dump that is gone is not forgotten silently
    with pytest.raises(DataError, match="RC_2010-01: not where the last build read it"):
        update_corpus(new, tmp_path / "out", memory="500MB", mixed_months=True)
    (tmp_path / "archive").mkdir()
    (tmp_path / "moved").rename(tmp_path / "archive" / "RC_2010-01")
    same = update_corpus([*new, str(tmp_path / "archive")], tmp_path / "out", memory="500MB", mixed_months=True)
    assert same.notes[-1] == "Nothing changed."


MOMENTS = ("label", "benchmark: statistics")
"""What an update shows when it is stopped."""


@pytest.mark.slow
def test_verify_raises_no_alarm_after_an_interrupted_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = dumps(tmp_path)
    run(tmp_path, old)
    out = tmp_path / "out"

    def stop(at: str, why: BaseException) -> type[BaseException]:
        """Update until a moment or the call of a function; return what ended it."""

        def fail(*_: object) -> None:
            raise why

        def progress(shown: str, done: int, total: int) -> None:
            if shown == at:
                fail()

        with monkeypatch.context() as patch, pytest.raises((KeyboardInterrupt, DataError)) as ended:
            if at.startswith("deadpan."):
                patch.setattr(at, fail)
            update_corpus(new, out, after="2010-02", memory="500MB", mixed_months=True, progress=progress)
        return ended.type

    before = files(out)
    for at in (*MOMENTS, "deadpan.corpus.built.update._difference", "deadpan.corpus.release.link_names"):
        assert stop(at, KeyboardInterrupt()) is KeyboardInterrupt, at
        report = verify_corpus(out, memory="500MB")
        assert (report.wrong, report.unchecked) == ({}, []), at
        assert difference(before, files(out)) == "", at
    assert stop("deadpan.corpus.built.update._difference", OSError(errno.ENOSPC, "disk full")) is DataError
    assert verify_corpus(out, memory="500MB").wrong == {}
    # The new version is current, the old one not yet removed.
    assert stop("deadpan.corpus.release.remove_old_versions", KeyboardInterrupt()) is KeyboardInterrupt
    assert verify_corpus(out, memory="500MB").wrong == {}
    again = update_corpus(new, out, after="2010-02", memory="500MB", mixed_months=True)
    assert again.version == 2
    report = verify_corpus(out, memory="500MB")
    assert (report.wrong, report.unchecked) == ({}, [])
