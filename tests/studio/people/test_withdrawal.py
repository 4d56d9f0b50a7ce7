"""Withdrawal erases: in the database, on the owner's page, in later backups, and after an old one is restored."""

from __future__ import annotations

import gzip
import re
import shutil

import pytest

from deadpan.errors import DataError

NAME, REMARK = "erika.mustermann", "my neighbour at number seven says so"
FULL = {"response": "sarcasm", "context": "normal", "comment": REMARK}


def code_of(client, study) -> str:
    page = client.get(f"/s/{study.slug}/guideline").content.decode()
    return re.search(r'id="code">([A-Z0-9-]+)<', page)[1]


@pytest.fixture
def study(site, items):
    return site.make("annotate", items(3), raters_per_item=2, settings={"rate": 12, "currency": "EUR"})


def bytes_at(home) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("studio.sqlite3*"))


def test_nothing_of_a_person_is_left(site, study, tmp_path):
    from deadpan.studio.models import Member, Person, StoredJudgment, Tombstone
    from deadpan.studio.records.backup import back_up

    client = site.person(study, name=NAME)
    site.answer_all(client, study, lambda item: FULL)
    owner = site.owner()
    assert NAME in owner.get("/s/s/dashboard").content.decode()
    code = code_of(client, study)
    assert NAME.encode() in bytes_at(site.home)
    page = site.client().post("/withdraw", {"code": code, "sure": "yes"}).content.decode()
    assert "erased" in page
    assert not StoredJudgment.objects.exists() and not Member.objects.exists()
    assert not Person.objects.filter(name=NAME).exists()
    assert NAME not in owner.get("/s/s/dashboard").content.decode()
    for trace in (NAME, REMARK, code):
        assert trace.encode() not in bytes_at(site.home), trace
        assert trace not in (site.home / "tombstones.jsonl").read_text()
    stone = Tombstone.objects.get()
    assert (stone.judgments, stone.done, stone.role) == (9, 3, "annotator")
    back_up(tmp_path / "later.gz")
    assert NAME not in gzip.decompress((tmp_path / "later.gz").read_bytes()).decode()
    assert client.get("/s/s/").url.startswith("/login")


def test_figures_computed_while_somebody_withdraws_are_not_kept(site, study, monkeypatch):
    from deadpan.studio.app import figures
    from deadpan.studio.models import StoredFigures

    client = site.person(study, name=NAME)
    code = code_of(client, study)
    render = figures.render_to_string

    def rendered(*args):
        page = render(*args)
        site.client().post("/withdraw", {"code": code, "sure": "yes"})  # after the page was made, before it is kept
        return page

    monkeypatch.setattr(figures, "render_to_string", rendered)
    figures.compute_figures(study, "en")
    assert not StoredFigures.objects.exists() and NAME.encode() not in bytes_at(site.home)


def test_somebody_in_two_studies_leaves_one_and_stays_in_the_other(site, study, items):
    other = site.make("reader-judgment", items(2), name="other")
    client = site.person(study, name=NAME)
    client.post(site.link(other))
    client.post("/s/other/consent", {"agree": "yes"})
    site.client().post("/withdraw", {"code": code_of(client, study), "sure": "yes"})
    assert client.get("/s/s/").status_code == 404
    assert site.open_item(client, other)
    assert NAME not in site.owner().get("/s/s/dashboard").content.decode()


def test_the_code_is_nowhere_stored_and_agreeing_again_keeps_it(site, study):
    client = site.person(study)
    code = code_of(client, study)
    assert client.post("/s/s/consent", {"agree": "yes"}).status_code == 302
    assert code_of(client, study) == code  # it can be looked up again
    assert code not in str(list(client.session.items()))
    assert code.encode() not in bytes_at(site.home)
    assert b"You have withdrawn" in site.client().post("/withdraw", {"code": code, "sure": "yes"}).content


def test_every_page_links_to_the_withdrawal(site, study):
    client = site.person(study)
    for address in ("/login", "/", "/s/s/guideline", site.open_item(client, study), "/nowhere", "/withdraw"):
        assert 'href="/withdraw"' in client.get(address).content.decode(), address


def test_an_older_backup_does_not_bring_anybody_back(site, study, template, tmp_path):
    from deadpan.studio.app.database import open_studio
    from deadpan.studio.models import Person, StoredJudgment, StoredStudy
    from deadpan.studio.records.backup import back_up, restore_backup

    client, stays = site.person(study, name=NAME), site.person(study, name="stays")
    for person in (client, stays):
        site.answer_all(person, study, lambda item: FULL)
    back_up(tmp_path / "old.gz")
    assert (tmp_path / "old.gz").stat().st_mode & 0o077 == 0
    site.client().post("/withdraw", {"code": code_of(client, study), "sure": "yes"})
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(template, other / "studio.sqlite3")
    open_studio(other, "", migrate=False)
    with pytest.raises(DataError, match="nothing was changed"):
        restore_backup(tmp_path / "old.gz", tombstones=tmp_path / "none")
    assert not Person.objects.exists()
    restore_backup(tmp_path / "old.gz")  # it names the folder it was made from, and with it the list
    assert not Person.objects.filter(name=NAME).exists() and Person.objects.filter(name="stays").exists()
    assert StoredJudgment.objects.count() == 9
    assert StoredStudy.objects.get().tombstones.count() == 1
    assert (other / "tombstones.jsonl").read_text() == (site.home / "tombstones.jsonl").read_text()


def test_a_list_cut_off_by_a_crash_takes_the_next_withdrawal(site, study):
    from deadpan.studio.people.withdrawal import read_tombstones

    path = site.home / "tombstones.jsonl"
    path.write_text('{"study": "s", "at": "2026-')
    client = site.person(study, name=NAME)
    site.client().post("/withdraw", {"code": code_of(client, study), "sure": "yes"})
    assert [entry["study"] for entry in read_tombstones(path)] == [study.slug]


def test_an_old_database_file_put_back_forgets_again(site, study, tmp_path):
    from django.db import connection

    from deadpan.studio.app.database import open_studio
    from deadpan.studio.models import Person

    client = site.person(study, name=NAME)
    site.answer_all(client, study, lambda item: FULL)
    code = code_of(client, study)
    connection.close()
    shutil.copy(site.home / "studio.sqlite3", tmp_path / "copy.sqlite3")
    site.client().post("/withdraw", {"code": code, "sure": "yes"})
    connection.close()
    shutil.copy(tmp_path / "copy.sqlite3", site.home / "studio.sqlite3")
    open_studio(site.home, "")
    assert not Person.objects.filter(name=NAME).exists()


def test_who_withdrew_is_paid_without_a_name(site, study):
    from datetime import timedelta

    from django.utils import timezone

    from deadpan.studio.models import Member
    from deadpan.studio.records.progress import study_progress

    client = site.person(study, name=NAME)
    address = site.open_item(client, study)
    Member.objects.update(joined_at=timezone.now() - timedelta(hours=1))
    site.save(client, address, seconds=1800.0, **FULL)
    site.client().post("/withdraw", {"code": code_of(client, study), "sure": "yes"})
    (worker,) = study_progress(study, timezone.now()).workers
    assert (worker.name, worker.state, worker.owed) == ("", "withdrawn", 6.0)


def test_the_database_is_for_its_owner_alone(template, tmp_path):
    from django.db import connection

    from deadpan.studio.app.database import open_studio
    from deadpan.studio.models import Person

    for home in ("new", "old"):
        (tmp_path / home).mkdir()
    old = tmp_path / "old" / "studio.sqlite3"
    shutil.copy(template, old)
    old.chmod(0o644)  # by a version that did not see to it
    for home in ("new", "old"):
        open_studio(tmp_path / home, "", migrate=False)
        connection.ensure_connection()
        if home == "old":
            Person.objects.make("somebody")  # there is a log beside the database now
        paths = list((tmp_path / home).glob("studio.sqlite3*"))
        assert paths and all(path.stat().st_mode & 0o077 == 0 for path in paths), home
        connection.close()
