"""The database itself refuses to change or delete what is only ever added to."""

from __future__ import annotations

from typing import Any

from django.db import migrations

TABLES = ("studio_judgment", "studio_event", "studio_tombstone")


def add_triggers(apps: Any, editor: Any) -> None:
    """One trigger an operation on SQLite, one a table on PostgreSQL."""
    if editor.connection.vendor == "postgresql":
        editor.execute(
            "CREATE OR REPLACE FUNCTION studio_refuse() RETURNS trigger AS $$ BEGIN "
            "RAISE EXCEPTION 'append-only'; END; $$ LANGUAGE plpgsql"
        )
    for table in TABLES:
        if editor.connection.vendor == "postgresql":
            editor.execute(
                f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
                "FOR EACH ROW EXECUTE FUNCTION studio_refuse()"
            )
        else:
            for operation in ("UPDATE", "DELETE"):
                editor.execute(
                    f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} "
                    "BEGIN SELECT RAISE(ABORT, 'append-only'); END"
                )


def drop_triggers(apps: Any, editor: Any) -> None:
    """The way back."""
    for table in TABLES:
        if editor.connection.vendor == "postgresql":
            editor.execute(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
        else:
            for operation in ("update", "delete"):
                editor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{operation}")


class Migration(migrations.Migration):
    dependencies = (("studio", "0001_initial"),)
    operations = (migrations.RunPython(add_triggers, drop_triggers),)
