"""Bad input: a clear message, nothing lost, nothing half made."""

from __future__ import annotations

import json

import pytest

from deadpan.fields import encode
from deadpan.records import Turn
from deadpan.studies import StudyItem

FINE = StudyItem("a", Turn("", "Lovely."))


def lines(*items: StudyItem) -> str:
    return "".join(json.dumps(encode(item)) + "\n" for item in items)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (lines(FINE, StudyItem("b", Turn("", "  \n"))), "'b' has no text"),
        (lines(FINE, StudyItem("a", Turn("", "Again."))), "has the id 'a' of item 1: ids must differ"),
        (lines(StudyItem("  ", Turn("", "Lovely."))), "item 1 has no id"),
        (lines(FINE)[:-20], "items.jsonl"),
        ("", "items.jsonl"),
    ],
    ids=["no text", "same id", "no id", "cut off", "empty"],
)
def test_items_that_cannot_be_asked_about_are_named_and_nothing_is_made(deadpan, site, tmp_path, text, says):
    from deadpan.studio.models import Item, Study

    path = tmp_path / "items.jsonl"
    path.write_text(text, "utf-8")
    ran = deadpan("studio", "create", "perceive", "--name", "s", "--items", path, "--home", site.home)
    assert ran.status == 2 and says in ran.err and len(ran.err.strip().splitlines()) == 1, ran.err
    assert not Study.objects.exists() and not Item.objects.exists()


def test_a_full_disk_is_said_and_the_answer_arrives_once_there_is_room(site, items):
    """SQLite itself finds no room for another page, as on a disk that is full."""
    from django.db import connection

    from deadpan.studio.judgments import records

    study = site.make("annotate", items(1), raters_per_item=1)
    client = site.person(study)
    address = site.open_item(client, study)
    acknowledged = 0
    with connection.cursor() as cursor:
        pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count = {pages}")
    for number in range(200):
        answer = site.save(client, address, key=f"k{number}", comment=f"{number} " + "x" * 2000)
        if answer.status_code != 200:
            break
        acknowledged += 1
    assert answer.status_code == 503 and "kept here" in answer.json()["error"]
    assert len(records(study)) == acknowledged
    assert client.get(address).status_code == 200  # what is there can still be read
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1000000")
    assert site.save(client, address, key=f"k{number}", comment="now it fits").json()["saved"]
    assert len(records(study)) == acknowledged + 1


def test_a_backup_to_a_place_that_cannot_be_written_leaves_nothing_half(deadpan, site, items, tmp_path):
    site.make("perceive", items(2))
    (tmp_path / "file").write_text("in the way", "utf-8")
    ran = deadpan("studio", "backup", "--out", tmp_path / "file" / "b.gz", "--home", site.home)
    assert ran.status == 2 and len(ran.err.strip().splitlines()) == 1, ran.err
