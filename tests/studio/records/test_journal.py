"""The journal: an acknowledged answer is there, once, and is never changed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from deadpan.ratings import ratings_from_judgments
from deadpan.studio.records.journal import journal_records, latest_records

FINE = {"response": "sarcasm", "context": "normal"}


@pytest.fixture
def study(site, items):
    return site.make("annotate", items(4), raters_per_item=2)


def test_every_answer_is_saved_as_it_is_given(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    first = site.save(client, address, response="sarcasm")
    assert first.json() == {"saved": True, "complete": False, "answers": {"response": "sarcasm"}}
    assert site.save(client, address, context="normal").json()["complete"]
    assert {(r.question, r.answer) for r in journal_records(study)} == set(FINE.items())


def test_the_same_key_again_changes_nothing(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    for _ in range(3):
        assert site.save(client, address, key="k1", response="sarcasm").json()["saved"]
    assert site.save(client, address, key="k1", response="abnormal").json()["answers"] == {"response": "sarcasm"}
    assert len(journal_records(study)) == 1


def test_a_change_is_another_row_and_takes_back_what_no_longer_applies(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    site.save(client, address, response="non-sarcasm")
    assert site.save(client, address, kind="casual dialogue", context="normal").json()["complete"]
    changed = site.save(client, address, response="abnormal").json()
    assert not changed["complete"] and changed["answers"] == {"response": "abnormal", "context": "normal"}
    site.save(client, address, kind="format misalignment")
    rows = [(r.question, r.answer) for r in journal_records(study)]
    assert rows.count(("kind", "")) == 1 and ("kind", "casual dialogue") in rows
    assert {r.question: r.answer for r in latest_records(study)} == {
        "response": "abnormal",
        "context": "normal",
        "kind": "format misalignment",
    }


@pytest.mark.parametrize(
    "answers",
    [
        {"response": "maybe"},
        {"colour": "red"},
        {"kind": "casual dialogue"},
        {"response": "abnormal", "kind": "direct criticism"},
        {"comment": "x" * 5001},
    ],
)
def test_what_is_no_answer_is_refused_and_nothing_is_written(site, study, answers):
    client = site.person(study)
    address = site.open_item(client, study)
    refused = site.save(client, address, **answers)
    assert refused.status_code == 400 and refused.json()["error"]
    assert journal_records(study) == []


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"answers": [], "key": "k"}', '{"answers": {"response": 1}, "key": "k"}',
                                  '{"answers": {}, "key": ""}', '{"answers": {}, "key": 7}', '{"answers":{},"seconds":"x","key":"k"}'])  # fmt: skip
def test_rubbish_is_refused(site, study, body):
    client = site.person(study)
    address = site.open_item(client, study)
    assert client.post(f"{address}/save", body, content_type="application/json").status_code == 400


def test_undo_puts_back_step_by_step(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    site.save(client, address, response="sarcasm")
    site.save(client, address, response="abnormal")
    assert client.post(f"/s/{study.slug}/undo").url == address
    assert {r.question: r.answer for r in latest_records(study)} == {"response": "sarcasm"}
    client.post(f"/s/{study.slug}/undo")
    assert latest_records(study) == []
    assert client.post(f"/s/{study.slug}/undo").status_code == 302  # nothing left to undo
    assert len(journal_records(study)) == 4  # nothing was taken out of the journal
    site.save(client, address, response="sarcasm", context="normal")
    assert ratings_from_judgments(journal_records(study), "response").categories == ("sarcasm",)


def test_undo_makes_a_finished_item_unfinished(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    site.save(client, address, **FINE)
    client.post(f"/s/{study.slug}/undo")
    assert site.open_item(client, study) == address


def test_an_undo_that_came_twice_at_the_same_moment_undoes_once(site, study, monkeypatch):
    """PostgreSQL refuses the second one's row, since the first one's is there."""
    from django.db import IntegrityError

    from deadpan.studio.records import journal

    client = site.person(study)
    address = site.open_item(client, study)
    site.save(client, address, response="sarcasm")
    site.save(client, address, context="normal")
    undo = journal._undo

    def second(*args):
        undo(*args)
        raise IntegrityError("one_save_a_key")

    monkeypatch.setattr(journal, "_undo", second)
    assert client.post(f"/s/{study.slug}/undo").url == address
    assert {(r.question, r.answer) for r in latest_records(study)} == {("response", "sarcasm")}


def test_a_study_that_is_paused_changes_no_answer(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    site.save(client, address, **FINE)
    type(study).objects.update(is_open=False)
    assert client.post(f"/s/{study.slug}/undo").status_code == 302
    assert client.post(f"{address}/skip", {"reason": "too late"}).status_code == 302
    assert {r.question for r in latest_records(study)} == {"response", "context"}
    assert site.member(client).assignments.get().state == "done"


def test_an_item_fetched_ahead_counts_the_one_on_the_screen(site, study):
    client = site.person(study)
    site.open_item(client, study)
    ahead = client.get(f"/s/{study.slug}/ahead?after=1").url
    total = study.items.count()
    assert f"0 of {total} done" in client.get(ahead).content.decode()
    assert f"1 of {total} done" in client.get(ahead, headers={"X-Ahead": "1"}).content.decode()


def test_the_database_refuses_to_change_the_journal(site, study):
    from django.db import DatabaseError, connection

    from deadpan.studio.models import AppendOnly, StoredJudgment

    client = site.person(study)
    site.save(client, site.open_item(client, study), response="sarcasm")
    row = StoredJudgment.objects.get()
    with pytest.raises(AppendOnly):
        row.save()
    with pytest.raises(AppendOnly):
        row.delete()
    for statement in ("UPDATE studio_judgment SET answer = 'x'", "DELETE FROM studio_judgment"):
        with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
            cursor.execute(statement)
    assert StoredJudgment.objects.get().answer == "sarcasm"


def test_time_is_credible(site, study):
    """A browser may say anything; time that has not passed, or that is counted already, is not paid."""
    from django.utils import timezone

    from deadpan.studio.models import Member, StoredJudgment

    client = site.person(study)
    address = site.open_item(client, study)
    Member.objects.update(joined_at=timezone.now() - timedelta(seconds=60))
    site.save(client, address, seconds=20.0, response="sarcasm")
    site.save(client, address, seconds=1e9, context="normal")
    site.save(client, address, seconds=-5, comment="fine")
    seconds = [j.seconds for j in StoredJudgment.objects.order_by("id")]
    assert seconds[0] == 20.0 and 0 <= seconds[1] < 20 and seconds[2] == 0.0


def test_the_form_works_without_scripts(site, study):
    client = site.person(study)
    address = site.open_item(client, study)
    page = client.get(address).content.decode()
    assert 'method="post"' in page and "Save and continue" in page
    form = {"key": "plain-1", "q.response": "sarcasm", "q.context": "normal", "q.comment": ""}
    assert client.post(f"{address}/save", form).url == f"/s/{study.slug}/next"
    assert len(latest_records(study)) == 2


def test_a_database_that_cannot_write_is_said_and_the_answer_can_be_sent_again(site, study, monkeypatch):
    from django.db import OperationalError

    from deadpan.studio.records import journal

    client = site.person(study)
    address = site.open_item(client, study)

    def full(*args, **kwargs):
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(journal, "_write", full)
        assert site.save(client, address, key="k", response="sarcasm").status_code == 503
    assert journal_records(study) == []
    assert site.save(client, address, key="k", response="sarcasm").json()["saved"]


def test_a_full_disk_is_said_and_the_answer_arrives_once_there_is_room(site, items):
    """SQLite itself finds no room for another page, as on a disk that is full."""
    from django.db import connection

    from deadpan.studio.records.journal import journal_records

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
    assert len(journal_records(study)) == acknowledged
    assert client.get(address).status_code == 200  # what is there can still be read
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1000000")
    assert site.save(client, address, key=f"k{number}", comment="now it fits").json()["saved"]
    assert len(journal_records(study)) == acknowledged + 1
