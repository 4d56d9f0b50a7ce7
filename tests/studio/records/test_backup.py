"""A backup comes back whole."""

from __future__ import annotations

import gzip
import json

import pytest

from deadpan.errors import DataError


def test_a_backup_comes_back_whole(site, judged, template, tmp_path):
    import shutil

    from deadpan.studio.app.database import open_studio
    from deadpan.studio.models import StoredJudgment as Row
    from deadpan.studio.models import StoredStudy
    from deadpan.studio.records.backup import back_up, restore_backup
    from deadpan.studio.records.journal import journal_records

    path = tmp_path / "all.jsonl.gz"
    counts = back_up(path)
    before = journal_records(judged)
    with pytest.raises(DataError, match="not empty"):
        restore_backup(path)
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(template, other / "studio.sqlite3")
    open_studio(other, "", migrate=False)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(path.read_bytes()[:-200])
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    short = tmp_path / "short.gz"
    short.write_bytes(gzip.compress("\n".join(lines[:-3]).encode()))
    for damaged in (cut, short, tmp_path / "none.gz", site.home / "studio.sqlite3"):
        with pytest.raises(DataError):
            restore_backup(damaged)
        assert Row.objects.count() == 0
    with gzip.open(path, "rt", encoding="utf-8") as file:  # the table, not the class
        assert '"model": "studio.judgment"' in file.read()
    assert restore_backup(path) == counts
    assert journal_records(StoredStudy.objects.get()) == before


def test_a_restore_that_would_bring_withdrawn_people_back_is_refused(deadpan, site, judged, tmp_path):
    from deadpan.studio.people.withdrawal import withdrawal_code

    backup, copy = tmp_path / "all.jsonl.gz", tmp_path / "copy"
    assert deadpan("studio", "backup", "--out", backup, "--home", site.home).status == 0
    leaves = judged.members.order_by("pk").first()
    done = site.client().post("/withdraw", {"code": withdrawal_code(leaves), "sure": "yes"})
    assert b"erased" in done.content
    elsewhere = site.home.rename(tmp_path / "elsewhere")  # as on another machine

    def restored(home, *more):
        return deadpan("studio", "restore", backup, "--home", home, "--json", *more)

    refused = restored(copy)
    assert refused.status != 0 and "--tombstones" in refused.err and "--accept" in refused.err
    assert restored(copy, "--tombstones", tmp_path / "nowhere").status != 0
    assert json.loads(restored(copy, "--tombstones", elsewhere).out)["member"] == 1
    assert json.loads(restored(tmp_path / "other", "--accept").out)["member"] == 2


def test_a_backup_of_an_earlier_version_names_the_version_it_needs(site, tmp_path):
    from deadpan.studio.records.backup import restore_backup

    path = tmp_path / "old.gz"
    path.write_bytes(gzip.compress(b'{"deadpan": "0.2.0", "format": 1, "home": "/srv"}\n{"end": {}}\n'))
    with pytest.raises(DataError, match=r"a backup of deadpan 0\.2\.0: restore it with that version"):
        restore_backup(path)
