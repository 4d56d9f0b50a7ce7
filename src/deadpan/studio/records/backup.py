"""Backup of the whole studio in one file, and its restoration; alike for SQLite and PostgreSQL."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.db import connection, transaction

from deadpan import __version__
from deadpan.errors import DataError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import atomic
from deadpan.studio import models
from deadpan.studio.app.database import private_file
from deadpan.studio.people.withdrawal import TOMBSTONES, apply_tombstones

# Parents before children. Sessions, failed logins and what can be computed again are not backed up.
_TABLES = (
    models.Person, models.StoredStudy, models.StoredItem, models.StoredConsent, models.StoredOpinion,
    models.Invite, models.Member, models.Identity, models.Assignment, models.StoredImport,
    models.StoredJudgment, models.StoredSubmission, models.Tombstone, models.Event,
)  # fmt: skip
# Names in the file are those of the tables: they stay when a class is renamed.
_TABLE_NAMES = {model: model._meta.db_table.removeprefix("studio_") for model in _TABLES}
# Format 1, of deadpan 0.2.0, had other tables and other names of protocols.
_BACKUP_FORMAT = 2


@dataclass(frozen=True, slots=True)
class StudioRows(Result):
    """Rows per table of a backup."""

    rows: Mapping[str, int]

    def summary(self) -> Summary:
        """Return a row per table."""
        return Summary((Table(("table", "rows"), tuple(self.rows.items())),))

    def as_dict(self) -> dict[str, object]:
        """Return rows per table."""
        return dict(self.rows)


def back_up(path: Path) -> StudioRows:
    """Write the whole studio as it is at one moment, and return rows per table."""
    counts: dict[str, int] = {}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic(path) as temporary,
        # Answers of people: for the owner's eyes only.
        gzip.open(private_file(temporary), "wt", encoding="utf-8", newline="\n") as file,
        transaction.atomic(),
    ):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        home = str(Path(settings.STUDIO_HOME).resolve())
        file.write(json.dumps({"deadpan": __version__, "format": _BACKUP_FORMAT, "home": home}) + "\n")
        for model in _TABLES:
            name = _TABLE_NAMES[model]
            counts[name] = 0
            for row in model.objects.order_by("pk").iterator(chunk_size=1000):
                file.write(_line(row))
                counts[name] += 1
        file.write(json.dumps({"end": counts}) + "\n")
    return StudioRows(counts)


def _line(row: Any) -> str:
    """Return a row as JSON. Django's own encoder cuts times to milliseconds, which would lose their order."""
    (plain,) = serializers.serialize("python", [row])
    plain["model"] = f"studio.{_TABLE_NAMES[type(row)]}"
    return json.dumps(plain, ensure_ascii=False, default=lambda time: time.isoformat()) + "\n"


def restore_backup(path: Path, tombstones: Path | None = None, *, accept: bool = False) -> StudioRows:
    """Read a backup into an empty studio, all or nothing, and erase again everybody who has withdrawn since.

    `tombstones` is the list of withdrawals, or the folder of the studio that wrote the backup. The list in
    this studio's own folder, and in the folder the backup was made from, are always applied. Without any of
    them people who withdrew since would be back: that is an error unless it is accepted.
    """
    if models.Person.objects.exists() or models.StoredStudy.objects.exists():
        raise DataError("this studio is not empty: restore into a new --home, then compare and switch over")
    lists = _withdrawals(path, tombstones, accept)
    counts: dict[str, int] = dict.fromkeys(_TABLE_NAMES.values(), 0)
    labels = {f"studio.{name}": model._meta.label_lower for model, name in _TABLE_NAMES.items()}
    with transaction.atomic():
        for line in _lines(path):
            try:
                row = json.loads(line)
                row["model"] = labels[row["model"]]
                for found in serializers.deserialize("python", [row]):
                    found.save()
                    counts[_TABLE_NAMES[type(found.object)]] += 1
            except (DeserializationError, KeyError, TypeError, ValueError) as bad:
                raise DataError(f"{path}: not a backup of this version ({bad}); nothing was changed") from None
        expected = _end(path)
        if expected is None or {k: n for k, n in counts.items() if n} != {k: n for k, n in expected.items() if n}:
            raise DataError(f"{path}: the backup is incomplete; nothing was changed")
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), _TABLES):
                    cursor.execute(statement)
        with connection.cursor() as cursor:
            for statement in _COUNTERS:
                cursor.execute(statement)
        # In the same transaction: nobody who withdrew is back, not even for a moment.
        apply_tombstones(*lists)
        counts = {name: model.objects.count() for model, name in _TABLE_NAMES.items()}
    return StudioRows(counts)


def _withdrawals(path: Path, given: Path | None, accept: bool) -> list[Path]:
    """Return the lists of withdrawals to apply; the one that was named must exist."""
    lists = [Path(settings.STUDIO_HOME) / TOMBSTONES]
    if given is not None:
        lists.append(Path(given) / TOMBSTONES if Path(given).is_dir() else Path(given))
        if not lists[-1].is_file():
            raise DataError(f"{lists[-1]}: no such list of withdrawals; nothing was changed")
    former = Path(str(_head(path).get("home", ""))) / TOMBSTONES
    # A folder that is here and has no list: nobody has withdrawn.
    known = former.parent.is_dir() and os.access(former.parent, os.R_OK)
    if not (known or given is not None or lists[0].is_file() or accept):
        raise DataError(
            f"{path}: the studio it was made from is not here, so people who withdrew since the backup would be back, "
            "against their will: name its folder or its tombstones.jsonl with --tombstones, or say with --accept "
            "that nobody has withdrawn; nothing was changed"
        )
    return [*lists, former] if os.access(former, os.R_OK) else lists


def _read(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, UnicodeDecodeError) as bad:
        raise DataError(f"{path}: not a backup, or cut off ({bad}); nothing was changed") from None


def _head(path: Path) -> dict[str, Any]:
    """Return the first line of a backup, checked."""
    try:
        head: Any = json.loads(next(_read(path)))
    except (StopIteration, ValueError):
        raise DataError(f"{path}: not a backup of deadpan studio") from None
    if not isinstance(head, dict) or head.get("format") != _BACKUP_FORMAT:
        version = head.get("deadpan", "another version") if isinstance(head, dict) else "another version"
        raise DataError(f"{path}: a backup of deadpan {version!s:.20}: restore it with that version")
    return head


def _lines(path: Path) -> Iterator[str]:
    lines = _read(path)
    next(lines)
    for line in lines:
        if not line.startswith('{"end"'):
            yield line


def _end(path: Path) -> dict[str, int] | None:
    last = ""
    for line in _read(path):
        last = line
    return json.loads(last).get("end") if last.startswith('{"end"') else None


# Statements for SQLite and PostgreSQL alike.
_COUNTERS = (
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
