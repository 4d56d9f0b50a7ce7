"""Bad input: a clear message, nothing lost, nothing half made."""

from __future__ import annotations

import json

import pytest

from deadpan.formats.study import ReaderJudgmentItem
from deadpan.records import Turn
from deadpan.validation import encode

FINE = ReaderJudgmentItem("a", Turn("", "Lovely."))


def lines(*items: ReaderJudgmentItem) -> str:
    return "".join(json.dumps(encode(item)) + "\n" for item in items)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (lines(FINE, ReaderJudgmentItem("b", Turn("", "  \n"))), "'b' has no text"),
        (lines(FINE, ReaderJudgmentItem("a", Turn("", "Again."))), "has the id 'a' of item 1: ids must differ"),
        (lines(ReaderJudgmentItem("  ", Turn("", "Lovely."))), "item 1 has no id"),
        (lines(FINE)[:-20], "items.jsonl"),
        ("", "items.jsonl"),
    ],
    ids=["no text", "same id", "no id", "cut off", "empty"],
)
def test_items_that_cannot_be_asked_about_are_named_and_nothing_is_made(deadpan, site, tmp_path, text, says):
    from deadpan.studio.models import StoredItem, StoredStudy

    path = tmp_path / "items.jsonl"
    path.write_text(text, "utf-8")
    ran = deadpan("studio", "create", "reader-judgment", "--name", "s", path, "--home", site.home)
    assert ran.status == 2 and says in ran.err and len(ran.err.strip().splitlines()) == 1, ran.err
    assert not StoredStudy.objects.exists() and not StoredItem.objects.exists()


def test_a_backup_to_a_place_that_cannot_be_written_leaves_nothing_half(deadpan, site, items, tmp_path):
    site.make("reader-judgment", items(2))
    (tmp_path / "file").write_text("in the way", "utf-8")
    ran = deadpan("studio", "backup", "--out", tmp_path / "file" / "b.gz", "--home", site.home)
    assert ran.status == 2 and len(ran.err.strip().splitlines()) == 1, ran.err


def test_a_backup_where_there_is_no_studio_is_an_error_and_makes_nothing(deadpan, site, tmp_path):
    empty = tmp_path / "empty"
    done = deadpan("studio", "backup", "--out", tmp_path / "b.gz", "--home", empty)
    assert done.status == 2 and "there is no studio here" in done.err
    assert not empty.exists() and not (tmp_path / "b.gz").exists()
    done = deadpan("studio", "members", "--reset-password", "owner", "--home", empty)
    assert done.status == 2 and not empty.exists()


@pytest.mark.parametrize(
    "words", [("status",), ("export", "s", "--out", "x"), ("set", "s"), ("invite", "s"), ("status", "s", "--log")]
)
def test_a_command_about_a_study_makes_no_studio(deadpan, site, tmp_path, words):
    done = deadpan("studio", *words, "--home", tmp_path / "typo")
    assert done.status == 2 and "name its folder with --home" in done.err
    assert not (tmp_path / "typo").exists()
