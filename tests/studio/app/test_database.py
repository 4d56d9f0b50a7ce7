"""Databases: migrated, refused, or named wrongly."""

from __future__ import annotations

import io
import sqlite3

import pytest

from deadpan.errors import ConfigError, DataError


def test_an_older_database_is_copied_and_then_migrated(site, judged):
    from django.core.management import call_command

    from deadpan.studio.app.database import migrate_database
    from deadpan.studio.records.journal import journal_records

    before = journal_records(judged)
    call_command("migrate", "sessions", "zero", verbosity=0)
    assert migrate_database(site.home, "") == ["0001_initial"]
    (copy,) = (site.home / "backups").glob("before-migration-*.sqlite3")
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM studio_judgment").fetchone()[0] == len(before)
    connection.close()
    assert journal_records(judged) == before
    assert migrate_database(site.home, "") == []


def test_a_database_of_an_earlier_version_names_the_version_it_needs(deadpan, site):
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) "
            "VALUES ('studio', '0002_append_only', '2026-01-01'), ('studio', '0004_erasure', '2026-01-01')"
        )
    said = deadpan("studio", "status", "--home", site.home)
    assert said.status == 2 and len(said.err.strip().splitlines()) == 1
    assert "made by deadpan 0.2.0: open it with that version" in said.err
    assert not (site.home / "backups").exists()


def test_a_newer_database_and_rubbish_are_refused(site, tmp_path):
    from django.db import connection

    from deadpan.studio.app.database import migrate_database, open_studio

    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('studio', '9999_future', '2030-01-01')"
        )
    with pytest.raises(DataError, match="newer deadpan"):
        migrate_database(site.home, "")
    rubbish = tmp_path / "rubbish"
    rubbish.mkdir()
    (rubbish / "studio.sqlite3").write_text("this is not a database, it only says so " * 40)
    with pytest.raises(DataError, match="cannot be opened"):
        open_studio(rubbish, "")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="in the way"):
        open_studio(tmp_path / "file", "")


def test_a_wrong_database_address_is_said(tmp_path):
    from deadpan.studio.app.settings import database_settings

    with pytest.raises(ConfigError, match="postgres://"):
        database_settings(tmp_path, "mysql://x")
    told = database_settings(tmp_path, "postgres://ann:p%40ss@db:5433/study")
    assert (told["USER"], told["PASSWORD"], told["HOST"], told["PORT"], told["NAME"]) == (
        "ann",
        "p@ss",
        "db",
        "5433",
        "study",
    )


def test_the_schema_is_what_the_models_say(site):
    from django.core.management import call_command

    said = io.StringIO()
    call_command("makemigrations", "studio", dry_run=True, stdout=said)
    assert said.getvalue() == "No changes detected in app 'studio'\n"
