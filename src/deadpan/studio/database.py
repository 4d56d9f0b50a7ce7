"""Opening a studio: Django set up once a process, the database found, made or brought up to date."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from deadpan.errors import ConfigError, DataError, need
from deadpan.studio.settings import DATABASE, database_settings, settings_for

HOME, URL = "DEADPAN_STUDIO", "DATABASE_URL"


def open_studio(
    home: Path,
    url: str | None = None,
    *,
    hosts: tuple[str, ...] = (),
    plain_http: bool = False,
    migrate: bool = True,
) -> None:
    """Make Django ready for the studio in `home`. A second call may name another home."""
    for library in ("django", "argon2", "whitenoise"):
        need(library, "studio")
    import django
    from django.conf import settings
    from django.db import connections

    home = Path(home).resolve()
    address = os.environ.get(URL, "") if url is None else url
    if home.exists() and not home.is_dir():
        raise ConfigError(f"{home}: a file of that name is in the way; choose another --home")
    if not settings.configured:
        home.mkdir(parents=True, exist_ok=True)
        settings.configure(**settings_for(home, address, hosts, plain_http))
        django.setup()
    else:
        connection = connections["default"]
        connection.close()
        wanted = database_settings(home, address)
        if wanted["ENGINE"] != connection.settings_dict["ENGINE"]:
            raise ConfigError("one process opens one kind of database: start another for the other")
        connection.settings_dict.update(wanted)
        home.mkdir(parents=True, exist_ok=True)
    if migrate:
        bring_up_to_date(home, address)


def bring_up_to_date(home: Path, url: str) -> list[str]:
    """Apply what is missing of the schema; the names of the steps. What has data is copied first."""
    from django.core.management import call_command
    from django.db import connection, utils
    from django.db.migrations.executor import MigrationExecutor

    try:
        executor = MigrationExecutor(connection)
        applied = set(executor.loader.applied_migrations)
        known = set(executor.loader.disk_migrations)
    except (utils.OperationalError, utils.DatabaseError) as bad:
        place = str(home / DATABASE) if not url else "DATABASE_URL"
        raise DataError(f"{place}: cannot be opened as a database ({str(bad).splitlines()[0]})") from None
    newer = sorted(name for app, name in applied - known if app == "studio")
    if newer:
        raise DataError(
            f"the database was made by a newer deadpan (it knows {newer[-1]}): install that version"
        )
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return []
    if any(app == "studio" for app, _ in applied):
        copy_before_change(home, url)
    call_command("migrate", verbosity=0, interactive=False)
    return [migration.name for migration, _ in plan]


def copy_before_change(home: Path, url: str) -> Path:
    """The database as it is, beside it, under the time of day. PostgreSQL is copied by its own pg_dump."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    folder = home / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    if not url:
        return copy_sqlite(home / DATABASE, folder / f"before-migration-{stamp}.sqlite3")
    import shutil
    import subprocess

    target = folder / f"before-migration-{stamp}.sql"
    if not shutil.which("pg_dump"):
        raise DataError(
            "the database is of an older version and pg_dump is not here to copy it first: install it"
        )
    done = subprocess.run(
        ["pg_dump", "--dbname", url, "--file", str(target)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise DataError(f"pg_dump could not copy the database before the change: {done.stderr.strip()[:200]}")
    return target


def copy_sqlite(source: Path, target: Path) -> Path:
    """A consistent copy of a database that may be in use."""
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as bad:
        target.unlink(missing_ok=True)
        raise DataError(f"{source}: could not be copied ({bad}); nothing was changed") from None
    return target
