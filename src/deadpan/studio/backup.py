"""The whole studio in one file, and back: the same file for SQLite and PostgreSQL."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core import serializers
from django.core.management.color import no_style
from django.core.serializers.base import DeserializationError
from django.db import connection, transaction

from deadpan import __version__
from deadpan.errors import DataError
from deadpan.storage import atomic
from deadpan.studio import models

TABLES = (
    models.Person, models.Study, models.Item, models.Member, models.Identity, models.Invite,
    models.Assignment, models.Judgment, models.Submission, models.Tombstone, models.Event,
)  # fmt: skip
"""Parents before children. Sessions and failed logins are not worth keeping."""
FORMAT = 1


def back_up(path: Path) -> dict[str, int]:
    """Write everything, as it is at one moment; how many rows of each table."""
    counts: dict[str, int] = {}
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic(path) as temporary,
        gzip.open(temporary, "wt", encoding="utf-8", newline="\n") as file,
        transaction.atomic(),
    ):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        file.write(json.dumps({"deadpan": __version__, "format": FORMAT}) + "\n")
        for model in TABLES:
            name = model._meta.model_name
            counts[name] = 0
            for row in model.objects.order_by("pk").iterator(chunk_size=1000):
                file.write(_line(row))
                counts[name] += 1
        file.write(json.dumps({"end": counts}) + "\n")
    return counts


def _line(row: Any) -> str:
    """One row as JSON. Not Django's own encoder: it cuts times to milliseconds, and order hangs on them."""
    (plain,) = serializers.serialize("python", [row])
    return json.dumps(plain, ensure_ascii=False, default=lambda time: time.isoformat()) + "\n"


def restore(path: Path) -> dict[str, int]:
    """Read a backup into an empty studio, all or nothing."""
    if models.Person.objects.exists() or models.Study.objects.exists():
        raise DataError("this studio is not empty: restore into a new --home, then compare and switch over")
    counts: dict[str, int] = {model._meta.model_name: 0 for model in TABLES}
    with transaction.atomic():
        for line in _lines(path):
            try:
                for found in serializers.deserialize("python", [json.loads(line)]):
                    found.save()
                    counts[found.object._meta.model_name] += 1
            except (DeserializationError, KeyError, ValueError) as bad:
                raise DataError(
                    f"{path}: not a backup of this version ({bad}); nothing was changed"
                ) from None
        expected = _end(path)
        if counts != expected:
            raise DataError(f"{path}: the backup is not whole; nothing was changed")
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                for statement in connection.ops.sequence_reset_sql(no_style(), TABLES):
                    cursor.execute(statement)
    return counts


def _read(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except (OSError, EOFError, UnicodeDecodeError) as bad:
        raise DataError(f"{path}: not a backup, or cut off ({bad}); nothing was changed") from None


def _lines(path: Path) -> Iterator[str]:
    lines = _read(path)
    try:
        head: Any = json.loads(next(lines))
    except (StopIteration, ValueError):
        raise DataError(f"{path}: not a backup of deadpan studio") from None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise DataError(f"{path}: a backup of another version ({head!r:.60}); use the deadpan that wrote it")
    for line in lines:
        if not line.startswith('{"end"'):
            yield line


def _end(path: Path) -> dict[str, int] | None:
    last = ""
    for line in _read(path):
        last = line
    return json.loads(last).get("end") if last.startswith('{"end"') else None
