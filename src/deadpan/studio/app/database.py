"""Open a studio: set up Django once per process, and create or migrate the database."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from deadpan.errors import ConfigError, DataError, need, reason_of
from deadpan.studio.app.settings import DATABASE, database_settings, settings_for

HOME_VARIABLE, _URL_VARIABLE = "DEADPAN_STUDIO", "DATABASE_URL"
# A migration that only databases of an earlier version have, and that version.
_EARLIER = {"0002_append_only": "0.2.0"}


def open_studio(
    home: Path,
    url: str | None = None,
    *,
    hosts: tuple[str, ...] = (),
    plain_http: bool = False,
    migrate: bool = True,
    existing: bool = False,
    client_header: str = "",
) -> None:
    """Set up Django for the studio in `home`. A later call may name another home.

    With `existing` a folder without a studio is an error.
    """
    for library in ("django", "argon2", "whitenoise", "csp"):
        need(library, "studio")
    import django
    from django.conf import settings
    from django.db import connections

    home = Path(home).resolve()
    address = os.environ.get(_URL_VARIABLE, "") if url is None else url
    if home.exists() and not home.is_dir():
        raise ConfigError(f"{home}: a file of that name is in the way; choose another --home")
    if existing and not address and not (home / DATABASE).is_file():
        raise ConfigError(f"{home}: there is no studio here; name its folder with --home")
    if not settings.configured:
        home.mkdir(parents=True, exist_ok=True)
        settings.configure(**settings_for(home, address, hosts, plain_http, client_header))
        django.setup()
    else:
        connection = connections["default"]
        connection.close()
        wanted = database_settings(home, address)
        if wanted["ENGINE"] != connection.settings_dict["ENGINE"]:
            raise ConfigError("a process can open only one kind of database: start another process for the other")
        # Tests and the tour open several studios in one process.
        connection.settings_dict.update(wanted)
        home.mkdir(parents=True, exist_ok=True)
        settings.STUDIO_HOME = str(home)
    if not address:
        # Before SQLite creates it with the modes of the shell.
        private_file(home / DATABASE)
    if migrate:
        migrate_database(home, address)
        forget_withdrawn(home)


def private_file(path: Path) -> Path:
    """Create a file if it is not there, and let only its owner read it. SQLite's logs follow its mode."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.close(handle)
    path.chmod(0o600)
    return path


def forget_withdrawn(home: Path) -> int:
    """Erase people who withdrew and are in the database again, since an older one was put back."""
    from deadpan.studio.people.withdrawal import TOMBSTONES, apply_tombstones

    return apply_tombstones(home / TOMBSTONES)


def check_connections(workers: int, threads: int) -> None:
    """Check that PostgreSQL lets every thread in, and the worker that computes figures."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('max_connections')::int, current_setting('superuser_reserved_connections')::int"
        )
        most, kept = cursor.fetchone()
    if workers * threads + 1 > most - kept:
        raise ConfigError(
            f"--workers {workers} times --threads {threads} takes {workers * threads + 1} connections, and "
            f"PostgreSQL has {most - kept} (max_connections {most}): use --threads "
            f"{max(1, (most - kept - 1) // workers)} or fewer, or raise max_connections"
        )


def migrate_database(home: Path, url: str) -> list[str]:
    """Apply missing migrations and return their names. A database that has data is copied first."""
    from django.core.management import call_command
    from django.db import connection, utils
    from django.db.migrations.executor import MigrationExecutor

    try:
        executor = MigrationExecutor(connection)
        applied = set(executor.loader.applied_migrations)
        known = set(executor.loader.disk_migrations)
    except (utils.OperationalError, utils.DatabaseError) as bad:
        place = str(home / DATABASE) if not url else "DATABASE_URL"
        raise DataError(f"{place}: cannot be opened as a database ({reason_of(bad)})") from None
    newer = sorted(name for app, name in applied - known if app == "studio")
    if earlier := [_EARLIER[name] for name in newer if name in _EARLIER]:
        place = str(home / DATABASE) if not url else "DATABASE_URL"
        raise DataError(f"{place}: the database was made by deadpan {earlier[0]}: open it with that version")
    if newer:
        raise DataError(f"the database was made by a newer deadpan (it knows {newer[-1]}): install that version")
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return []
    if any(app == "studio" for app, _ in applied):
        copy_before_migration(home, url)
    call_command("migrate", verbosity=0, interactive=False)
    return [migration.name for migration, _ in plan]


def copy_before_migration(home: Path, url: str) -> Path:
    """Copy the database into `backups`, named by the time; PostgreSQL with pg_dump. Return the copy."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    folder = home / "backups"
    folder.mkdir(parents=True, exist_ok=True)
    if not url:
        return copy_sqlite(home / DATABASE, folder / f"before-migration-{stamp}.sqlite3")
    import shutil
    import subprocess

    target = private_file(folder / f"before-migration-{stamp}.sql")
    if not shutil.which("pg_dump"):
        raise DataError("the database is of an older version, and pg_dump is needed to copy it first: install pg_dump")
    # The password goes by the environment: other users of the machine see the words of a command.
    parts = database_settings(home, url)
    variables = {f"PG{name}": parts[name] for name in ("HOST", "PORT", "USER", "PASSWORD") if parts[name]}
    done = subprocess.run(
        ["pg_dump", "--dbname", parts["NAME"], "--file", str(target)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise DataError(f"pg_dump could not copy the database before the change: {done.stderr.strip()[:200]}")
    return target


def copy_sqlite(source: Path, target: Path) -> Path:
    """Copy a database that may be in use, consistently, and return the copy."""
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as old,
            closing(sqlite3.connect(private_file(target))) as new,
        ):
            old.backup(new)
    except sqlite3.Error as bad:
        target.unlink(missing_ok=True)
        raise DataError(f"{source}: could not be copied ({bad}); nothing was changed") from None
    return target
