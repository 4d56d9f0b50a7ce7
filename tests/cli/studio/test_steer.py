"""Steering a study by commands, as the leader's pages do it."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def study(site, items):
    return site.make("reader-judgment", items(3), raters_per_item=1)


@pytest.fixture
def run(deadpan, site):
    """A command about the studio: its JSON, or its error."""

    def done(*words):
        said = deadpan("studio", *words, "--home", site.home, "--json")
        assert said.status in (0, 2), said.err
        return said.json if said.status == 0 else said.err

    return done


def test_settings_title_and_stage_are_changed_and_logged(run, site, study):
    client = site.person(study)
    said = run("set", "s", "--setting", "per_person=1", "--title", "Neu", "--stage", "paused")
    assert said["change"] == "changed per_person, title, stage: paused"
    study.refresh_from_db()
    assert (study.title, study.settings["per_person"], study.stage) == ("Neu", 1, "paused")
    assert not site.open_item(client, study)
    assert run("set", "s")["change"] == "nothing to change"
    for bad in ("per_person=three", "qualification=2", "per_persn=1", "per_person"):
        said = run("set", "s", "--setting", bad, "--stage", "open")
        assert isinstance(said, str) and said.count("\n") <= 1, said
    study.refresh_from_db()
    assert study.stage == "paused" and study.settings["per_person"] == 1
    events = run("status", "s", "--log")["events"]
    assert [event["what"] for event in events][:2] == ["paused", "settings"]
    assert all(event["by"].startswith("cli:") for event in events[:2])


def test_items_are_added_once(run, site, study, tmp_path):
    more = tmp_path / "more.jsonl"
    more.write_text(json.dumps({"id": "n1", "response": {"speaker": "", "text": "Lovely weather."}}) + "\n", "utf-8")
    assert run("set", "s", "--add-items", more)["change"] == "1 items added"
    assert study.items.count() == 4
    assert "is in the study already" in run("set", "s", "--add-items", more)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    assert isinstance(run("set", "s", "--add-items", empty), str)
    assert study.items.count() == 4


def test_members_are_removed_and_restored_and_invitations_end(run, site, study):
    client = site.person(study)
    name = site.member_of(client, study).pseudonym
    assert site.open_item(client, study)
    (row,) = run("members", "s", "--remove", name)["members"]
    assert row[0] == name and row[2] == "removed"
    assert not site.open_item(client, study)
    assert study.items.filter(taken__gt=0).count() == 0
    (row,) = run("members", "s", "--restore", name)["members"]
    assert row[2] == "active" and site.open_item(client, study)
    link = site.link(study)
    number = run("members", "s")["invites"][-1][0]
    assert run("members", "s", "--revoke", number)["invites"][-1][3] == "no"
    assert site.client().get(link).status_code in (404, 410)
    assert "nobody has the pseudonym" in run("members", "s", "--remove", "ghost")
    assert "no invitation" in run("members", "s", "--revoke", 9999)


def test_an_import_is_listed_and_removed(run, site, study, tmp_path):
    from deadpan.records import Judgment
    from deadpan.storage import write_records

    rows = [Judgment(f"i{at}", "old", "sarcastic", "sarcastic", 2.5, "2026-01-01T00:00:00+00:00") for at in range(3)]
    write_records(tmp_path / "old.jsonl", rows, Judgment)
    run("import", "s", tmp_path / "old.jsonl")
    assert study.judgments.count() == 3
    listed = run("import", "s", "--list")
    number = listed["imports"][0]["import"]
    run("import", "s", "--remove", number)
    assert study.judgments.count() == 0 and run("import", "s", "--list")["imports"] == []
    assert isinstance(run("import", "s", "--remove", number), str)


@pytest.mark.parametrize(
    ("host", "hosts", "plain", "address"),
    [
        ("127.0.0.1", (), False, "http://127.0.0.1:8899"),
        ("0.0.0.0", (), False, "http://127.0.0.1:8899"),
        ("127.0.0.1", ("study.example",), False, "https://study.example"),
        ("0.0.0.0", ("lab",), True, "http://lab:8899"),
    ],
)
def test_links_have_the_address_at_which_the_studio_was_served(run, site, study, host, hosts, plain, address):
    from deadpan.studio.app.server import prepare_server

    prepare_server(site.home, host, 8899, workers=1, threads=1, hosts=hosts, plain_http=plain)
    assert run("invite", "s")["link"].startswith(f"{address}/join/")
    assert run("invite", "s", "--site", "https://other")["link"].startswith("https://other/join/")


def test_the_owner_gets_a_new_password_by_a_command_on_the_server(run, site, study):
    site.owner()
    said = run("members", "--reset-password", "owner", "--site", "https://study.example/")
    address = said["change"].removeprefix("https://study.example")
    assert address.startswith("/reset/")
    client = site.client()
    done = client.post(address, {"password": "another long battery"})
    assert done.status_code == 302, done.content
    assert site.client().get(address).status_code == 404
    fresh = site.client()
    assert fresh.post("/login", {"name": "owner", "password": "another long battery"}).status_code == 302
    assert "no account named" in run("members", "--reset-password", "nobody")
