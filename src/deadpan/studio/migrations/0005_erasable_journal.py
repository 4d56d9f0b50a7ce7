"""Let the journal forget who withdrew and what an import brought; add up everybody's work once."""

from __future__ import annotations

import json
from typing import Any

from django.core import signing
from django.db import migrations

TABLES = ("studio_judgment", "studio_event", "studio_tombstone")
ERASABLE = (
    "EXISTS (SELECT 1 FROM studio_tombstone t JOIN studio_member m ON m.study_id = t.study_id "
    "AND m.pseudonym = t.pseudonym WHERE m.id = OLD.member_id) "
    "OR EXISTS (SELECT 1 FROM studio_import i WHERE i.id = OLD.batch_id AND i.removed_at IS NOT NULL)"
)
COUNTERS = (
    "UPDATE studio_member SET seconds = COALESCE((SELECT SUM(j.seconds) FROM studio_judgment j "
    "WHERE j.member_id = studio_member.id), 0)",
    *(
        f"UPDATE studio_member SET {column} = (SELECT COUNT(*) FROM studio_assignment a JOIN studio_item i "
        f"ON i.id = a.item_id WHERE a.member_id = studio_member.id AND a.state = 'done' "
        f"AND i.kind = '{kind}')"
        for column, kind in (("done", "main"), ("round_done", "qualification"), ("checks", "attention"))
    ),
    "UPDATE studio_item SET finished = (SELECT COUNT(*) FROM studio_assignment a "
    "WHERE a.item_id = studio_item.id AND a.state = 'done')",
    *(
        f"UPDATE studio_study SET {column} = (SELECT COUNT(*) FROM studio_item i "
        f"WHERE i.study_id = studio_study.id AND i.kind = '{kind}')"
        for column, kind in (("main_items", "main"), ("round_items", "qualification"))
    ),
    "UPDATE studio_invite SET uses = uses_left WHERE uses < uses_left",
)
CODE = "withdrawal_code"


def drop_triggers(apps: Any, editor: Any) -> None:
    """Drop all triggers; those of remade tables are gone already."""
    for table in TABLES:
        if editor.connection.vendor == "postgresql":
            for name in ("append_only", "no_update", "no_delete"):
                editor.execute(f"DROP TRIGGER IF EXISTS {table}_{name} ON {table}")
        else:
            for operation in ("update", "delete"):
                editor.execute(f"DROP TRIGGER IF EXISTS {table}_no_{operation}")


def add_triggers(apps: Any, editor: Any) -> None:
    """Refuse every change, and every deletion but that of an erasable judgment."""
    for table in TABLES:
        kept = ERASABLE if table == "studio_judgment" else ""
        _add(editor, table, kept)


def old_triggers(apps: Any, editor: Any) -> None:
    """Refuse every change and every deletion, as before."""
    drop_triggers(apps, editor)
    for table in TABLES:
        _add(editor, table, "", "append_only")


def _add(editor: Any, table: str, erasable: str, name: str = "no") -> None:
    if editor.connection.vendor != "postgresql":
        for operation in ("UPDATE", "DELETE"):
            when = f"WHEN NOT ({erasable}) " if erasable and operation == "DELETE" else ""
            editor.execute(
                f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} {when}"
                "BEGIN SELECT RAISE(ABORT, 'append-only'); END"
            )
        return
    if name == "append_only":
        editor.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION studio_refuse()"
        )
        return
    editor.execute(
        "CREATE OR REPLACE FUNCTION studio_refuse_unless_erasable() RETURNS trigger AS $$ BEGIN "
        f"IF {ERASABLE} THEN RETURN OLD; END IF; RAISE EXCEPTION 'append-only'; END; $$ LANGUAGE plpgsql"
    )
    for operation in ("UPDATE", "DELETE"):
        refuse = "studio_refuse_unless_erasable" if erasable and operation == "DELETE" else "studio_refuse"
        editor.execute(
            f"CREATE TRIGGER {table}_no_{operation.lower()} BEFORE {operation} ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {refuse}()"
        )


def gather_imports(apps: Any, editor: Any) -> None:
    """Give the rows of earlier imports a batch per study, so that they can be removed too."""
    rows = apps.get_model("studio", "StoredJudgment").objects.filter(source="import", batch=None)
    batches = apps.get_model("studio", "StoredImport").objects
    for study in sorted(set(rows.values_list("study_id", flat=True))):
        own = rows.filter(study_id=study)
        batch = batches.create(study_id=study, file="before 0.3", actor="migration", rows=own.count())
        own.update(batch=batch)


def add_up(apps: Any, editor: Any) -> None:
    """Fill in the counters from the journal and the assignments."""
    for statement in COUNTERS:
        editor.execute(statement)


def forget_codes(apps: Any, editor: Any) -> None:
    """Take withdrawal codes and invitation links out of stored sessions; nobody is logged out."""
    salt = "django.contrib.sessions.SessionStore"
    for row in apps.get_model("sessions", "Session").objects.all():
        try:
            kept: dict[str, Any] = signing.loads(row.session_data, salt=salt, serializer=_Plain)
        except (signing.BadSignature, ValueError):
            continue
        clean = {k: v for k, v in kept.items() if not k.startswith(CODE) and k != "invite_link"}
        if clean != kept:
            row.session_data = signing.dumps(clean, salt=salt, serializer=_Plain, compress=True)
            row.save()


class _Plain:
    """The serializer of Django's sessions."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value, separators=(",", ":")).encode("latin-1")

    def loads(self, data: bytes) -> Any:
        return json.loads(data.decode("latin-1"))


class Migration(migrations.Migration):
    dependencies = (("studio", "0004_erasure"), ("sessions", "0001_initial"))
    operations = (
        migrations.RunPython(drop_triggers, old_triggers),
        migrations.RunPython(gather_imports, migrations.RunPython.noop),
        migrations.RunPython(add_up, migrations.RunPython.noop),
        migrations.RunPython(forget_codes, migrations.RunPython.noop),
        migrations.RunPython(add_triggers, drop_triggers),
    )
