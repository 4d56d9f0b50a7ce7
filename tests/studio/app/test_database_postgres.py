"""The same studio on PostgreSQL: backups go either way, an older database is copied and brought up to date."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deadpan.formats.judgments import read_export
from deadpan.formats.study import ReaderJudgmentItem, Study, write_study
from deadpan.records import Judgment, Turn
from deadpan.storage import write_records
from studio.crowd import Server, new_database

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def address(request):
    """A database of its own for every test."""
    pytest.importorskip("psycopg")
    try:
        return new_database(request.node.name[:50])
    except (LookupError, PermissionError) as missing:
        pytest.skip(str(missing))


def answers(rater: str) -> list[Judgment]:
    return [
        Judgment(f"i{at}", rater, "sarcastic", "sarcastic", 2.5, "2026-01-01T00:00:00.123456+00:00") for at in range(3)
    ]


def exported(server: Server, out) -> list[tuple[str, ...]]:
    server.command("export", "s", "--out", str(out))
    return sorted((j.item_id, j.annotator, j.answer, j.created_at) for j in read_export(out).judgments)


def test_a_backup_goes_from_postgresql_to_sqlite_and_back(address, tmp_path):
    study = [ReaderJudgmentItem(f"i{at}", Turn("", f"Lovely, {at}.")) for at in range(3)]
    write_study(tmp_path / "study", Study("reader-judgment", "Both ways"), study)
    write_records(tmp_path / "one.jsonl", answers("one"), Judgment)
    write_records(tmp_path / "two.jsonl", answers("two"), Judgment)
    first = Server(tmp_path / "first", address)
    lite = Server(tmp_path / "lite", "")
    second = Server(tmp_path / "second", new_database("second"))
    first.command(
        "create", "--open", "--setting", "contact=x", "reader-judgment", "--name", "s", str(tmp_path / "study")
    )
    first.command("import", "s", str(tmp_path / "one.jsonl"))
    before = exported(first, tmp_path / "out-first")
    assert len(before) == 3

    first.command("backup", "--out", str(tmp_path / "first.gz"))
    counts = lite.command("restore", str(tmp_path / "first.gz"))
    assert counts["judgment"] == 3 and exported(lite, tmp_path / "out-lite") == before

    lite.command("backup", "--out", str(tmp_path / "lite.gz"))
    assert second.command("restore", str(tmp_path / "lite.gz")) == counts
    assert exported(second, tmp_path / "out-second") == before
    # Rows that come after a restore get numbers of their own.
    assert second.command("import", "s", str(tmp_path / "two.jsonl"))["added"] == 3
    assert len(exported(second, tmp_path / "out-more")) == 6


def test_more_threads_than_connections_are_refused(address, tmp_path):
    words = [sys.executable, "-m", "deadpan", "studio", "serve", "--workers", "4", "--threads", "32"]
    env = Server(tmp_path / "home", address).env
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2 and "max_connections 100" in done.stderr
    assert "--threads 24" in done.stderr and len(done.stderr.strip().splitlines()) == 1


def test_an_older_database_is_dumped_and_then_migrated(address, tmp_path):
    server = Server(tmp_path / "old", address)
    server.command("status")
    back = (
        "import sys; from pathlib import Path; from deadpan.studio.app.database import open_studio; "
        "open_studio(Path(sys.argv[1]), sys.argv[2], migrate=False); "
        "from django.core.management import call_command; call_command('migrate', 'sessions', 'zero', verbosity=0)"
    )
    subprocess.run([sys.executable, "-c", back, str(server.home), address], env=server.env, check=True)
    server.command("status")
    (copy,) = (server.home / "backups").glob("before-migration-*.sql")
    assert "studio_judgment" in copy.read_text("utf-8")
    server.command("status")
    assert len(list((server.home / "backups").iterdir())) == 1  # nothing to do, nothing copied


def test_a_database_of_an_earlier_version_names_the_version_it_needs(address, tmp_path):
    import psycopg

    server = Server(tmp_path / "earlier", address)
    server.command("status")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('studio', '0002_append_only', '2026-01-01')"
        )
    words = [sys.executable, "-m", "deadpan", "studio", "status"]
    done = subprocess.run(words, env=server.env, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
    assert "DATABASE_URL: the database was made by deadpan 0.2.0" in done.stderr
