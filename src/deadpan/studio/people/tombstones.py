"""Tombstones: the anonymous list of who withdrew, kept outside the database too.

A backup that is older than a withdrawal still holds the person. The list in the studio's folder survives the
database, so that restoring such a backup, or putting an old database file back, erases them again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from deadpan.errors import DataError
from deadpan.studio.models import Member, StoredJudgment, StoredStudy, StoredSubmission, Tombstone

FILE = "tombstones.jsonl"
FIELDS = ("pseudonym", "role", "judgments", "submissions", "done", "seconds")


def tombstone_of(member: Any) -> dict[str, Any]:
    """Return what is kept of a member: nothing that names them or says what they answered."""
    handed_in = list(StoredSubmission.objects.filter(member=member).values_list("seconds", flat=True))
    return {
        "pseudonym": member.pseudonym,
        "role": member.role,
        "judgments": StoredJudgment.objects.filter(member=member).count(),
        "submissions": len(handed_in),
        "done": member.done + member.round_done,
        "seconds": round(member.seconds + member.page_seconds + sum(handed_in)),
    }


def note_tombstone(member: Any, now: datetime) -> None:
    """Add a member to the list in the studio's folder."""
    _append([{"study": member.study.slug, "at": now.isoformat(), **tombstone_of(member)}])


def _append(entries: Iterable[Mapping[str, Any]]) -> None:
    """Add entries to the list, in one write; a line that a crash cut off is removed first."""
    handle = os.open(Path(settings.STUDIO_HOME) / FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        before = os.pread(handle, os.fstat(handle).st_size, 0)
        if before and not before.endswith(b"\n"):
            os.ftruncate(handle, before.rfind(b"\n") + 1)
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        os.write(handle, lines.encode())
        os.fsync(handle)
    finally:
        os.close(handle)


def read_tombstones(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the entries of a list; a line cut off by a crash at its end is skipped."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as bad:
        raise DataError(f"{path}: cannot be read as a list of withdrawals ({bad})") from None
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            yield {"study": str(entry["study"]), "at": str(entry["at"])} | {f: entry[f] for f in FIELDS}
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise DataError(f"{path}:{number}: not a tombstone; is the file complete?") from None


def apply_tombstones(*lists: Path) -> int:
    """Erase everybody who withdrew and is in the database still or again; return how many.

    What other lists say is added to the one in the studio's folder, which then outlives them.
    """
    from deadpan.studio.people.withdrawal import erase_member

    studies = {study.slug: study for study in StoredStudy.objects.all()}
    if not studies:
        return 0
    own = Path(settings.STUDIO_HOME) / FILE
    known = {(entry["study"], entry["pseudonym"]) for entry in read_tombstones(own)}
    for path in lists:
        for entry in read_tombstones(path):
            if (entry["study"], entry["pseudonym"]) not in known:
                known.add((entry["study"], entry["pseudonym"]))
                _append([entry])
            study = studies.get(entry.pop("study"))
            at = datetime.fromisoformat(entry.pop("at"))
            if study is not None and not study.tombstones.filter(pseudonym=entry["pseudonym"]).exists():
                Tombstone.objects.create(study=study, created_at=at, **entry)
    erased = 0
    for study in studies.values():
        names = list(study.tombstones.values_list("pseudonym", flat=True))
        for member in Member.objects.filter(study=study, pseudonym__in=names).select_related(
            "study", "person"
        ):
            erase_member(member, datetime.now(UTC))
            erased += 1
    return erased
