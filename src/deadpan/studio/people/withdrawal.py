"""Consent and withdrawal: the code only the participant has, what it erases, and the tombstone it leaves.

A backup that is older than a withdrawal still holds the person. The list in the studio's folder survives the
database, so that restoring such a backup, or putting an old database file back, erases them again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Max

from deadpan.errors import DataError
from deadpan.studio import models
from deadpan.studio.app.security import hash_token
from deadpan.studio.people.assignment import return_items
from deadpan.studio.records.labels import recount_cases
from deadpan.studio.records.studies import lock_study

# Without letters and digits that look alike, because people copy codes by hand.
_CODE_ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_CODE_LENGTH = 20


def withdrawal_code(member: Any) -> str:
    """Return the member's code, about 99 bits in groups of four.

    It follows from the studio's secret key, so that nothing but its hash is stored and the person can be
    shown the same code again.
    """
    words = f"withdrawal\x1f{member.pk}\x1f{member.pseudonym}"
    number = int.from_bytes(hmac.digest(settings.SECRET_KEY.encode(), words.encode(), hashlib.sha256), "big")
    letters = []
    for _ in range(_CODE_LENGTH):
        number, place = divmod(number, len(_CODE_ALPHABET))
        letters.append(_CODE_ALPHABET[place])
    return "-".join("".join(letters[at : at + 4]) for at in range(0, _CODE_LENGTH, 4))


def normalize_code(code: str) -> str:
    """Return a typed code in capitals, without hyphens and spaces."""
    return "".join(letter for letter in code.upper() if letter in _CODE_ALPHABET)


def record_consent(member: Any, text: str, now: datetime, **facts: str) -> str:
    """Store the consent and its text, and return the withdrawal code. A code given earlier stays valid."""
    with transaction.atomic():
        identity, _ = models.Identity.objects.get_or_create(member=member)
        version = consent_version(member.study, text)
        for name, value in {"consent_text": text, "consent_version": version, **facts}.items():
            setattr(identity, name, value)
        identity.withdrawal_hash = identity.withdrawal_hash or hash_token(normalize_code(withdrawal_code(member)))
        identity.save()
        if member.consented_at is None:
            models.Member.objects.filter(pk=member.pk).update(consented_at=now)
            member.consented_at = now
    return shown_code(member)


def consent_version(study: Any, text: str) -> int:
    """Return the number of this text among the versions that people of the study agreed to; a new one gets the next."""
    known = models.StoredConsent.objects.filter(study=study, text=text).values_list("number", flat=True).first()
    if known is not None:
        return int(known)
    lock_study(study.pk)  # of two people with a new text at the same moment the second waits, and finds it
    found = models.StoredConsent.objects.filter(study=study, text=text).first()
    number = (models.StoredConsent.objects.filter(study=study).aggregate(n=Max("number"))["n"] or 0) + 1
    return int((found or models.StoredConsent.objects.create(study=study, number=number, text=text)).number)


def forget_member(member: Any) -> None:
    """Delete somebody who did not agree: they have given nothing. Their invitation admits one more again."""
    with transaction.atomic():
        models.Identity.objects.filter(member=member).delete()
        models.Member.objects.filter(pk=member.pk).delete()
        models.Invite.objects.filter(pk=member.invite_id).update(uses_left=F("uses_left") + 1)
        person = member.person
        if not person.is_owner and not person.memberships.exists():
            models.Person.objects.filter(pk=person.pk).delete()


def shown_code(member: Any) -> str:
    """Return the code to show; empty if the member has one that this studio cannot show again."""
    stored = models.Identity.objects.filter(member=member).values_list("withdrawal_hash", flat=True).first()
    code = withdrawal_code(member)
    return code if stored == hash_token(normalize_code(code)) else ""


def member_of_code(code: str) -> Any:
    """Return the member a code belongs to, or None."""
    # An empty code would match people who have no code yet.
    if len(normalize_code(code)) != _CODE_LENGTH:
        return None
    found = models.Identity.objects.filter(withdrawal_hash=hash_token(normalize_code(code))).select_related(
        "member__study"
    )
    identity = found.first()
    return identity.member if identity else None


def withdraw(code: str, now: datetime) -> bool:
    """Erase the person behind a code and everything they gave; return False for a wrong code."""
    member = member_of_code(code)
    if member is None:
        return False
    # On the disk before the rows go: after a crash in between, the next start applies it.
    note_tombstone(member, now)
    erase_member(member, now)
    return True


def erase_member(member: Any, now: datetime) -> None:
    """Erase a member: who they are, their answers, remarks and submissions. An anonymous tombstone stays."""
    study = member.study
    with transaction.atomic():
        lock_study(study.pk)
        if not models.Tombstone.objects.filter(study=study, pseudonym=member.pseudonym).exists():
            models.Tombstone.objects.create(study=study, created_at=now, **tombstone_of(member))
            models.Event.objects.create(study=study, actor=member.pseudonym, what="withdraw", created_at=now)
        mine = models.Assignment.objects.filter(member=member)
        judged = set(models.StoredJudgment.objects.filter(member=member).values_list("item_id", flat=True))
        _uncount(mine)
        return_items(mine)
        models.StoredJudgment.objects.filter(member=member).delete()
        models.StoredSubmission.objects.filter(member=member).delete()
        models.Identity.objects.filter(member=member).delete()
        mine.delete()
        person = member.person
        models.Member.objects.filter(pk=member.pk).delete()
        if not person.is_owner and not person.memberships.exists():
            models.Person.objects.filter(pk=person.pk).delete()
        # Pages that were computed before may show the name.
        models.StoredFigures.objects.filter(study=study).delete()
        recount_cases(study, judged)
    _overwrite()


def _uncount(assignments: Any) -> None:
    """Take the member's finished items out of the items' counts."""
    finished = assignments.filter(state=models.DONE).values("item_id")
    models.StoredItem.objects.filter(pk__in=finished, finished__gt=0).update(finished=F("finished") - 1)


def _overwrite() -> None:
    """Move SQLite's log into the database, where deleted rows are overwritten with zeros."""
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except DatabaseError:
        return  # others are reading: SQLite does it at the next checkpoint


# ---------------------------------------------------------------- tombstones


TOMBSTONES = "tombstones.jsonl"
_TOMBSTONE_FIELDS = ("pseudonym", "role", "judgments", "submissions", "done", "seconds")


def tombstone_of(member: Any) -> dict[str, Any]:
    """Return what is kept of a member: nothing that names them or says what they answered."""
    return {
        "pseudonym": member.pseudonym,
        "role": member.role,
        "judgments": models.StoredJudgment.objects.filter(member=member).count(),
        "submissions": models.StoredSubmission.objects.filter(member=member).count(),
        "done": member.done + member.round_done,
        "seconds": round(member.seconds + member.page_seconds),
    }


def note_tombstone(member: Any, now: datetime) -> None:
    """Add a member to the list in the studio's folder."""
    _append([{"study": member.study.slug, "at": now.isoformat(), **tombstone_of(member)}])


def _append(entries: Iterable[Mapping[str, Any]]) -> None:
    """Add entries to the list, in one write; a line that a crash cut off is removed first."""
    handle = os.open(Path(settings.STUDIO_HOME) / TOMBSTONES, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        # A crash in mid-write leaves half a line, to which the next would be appended.
        before = os.pread(handle, os.fstat(handle).st_size, 0)
        if before and not before.endswith(b"\n"):
            os.ftruncate(handle, before.rfind(b"\n") + 1)
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        os.write(handle, lines.encode())
        # On the disk before the rows are deleted: after a crash the next start reads it.
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
            yield {"study": str(entry["study"]), "at": str(entry["at"])} | {f: entry[f] for f in _TOMBSTONE_FIELDS}
        except (ValueError, KeyError, TypeError):
            if number < len(lines):
                raise DataError(f"{path}:{number}: not a tombstone; is the file complete?") from None


def apply_tombstones(*lists: Path) -> int:
    """Erase everybody who withdrew and is in the database still or again; return how many.

    What other lists say is added to the one in the studio's folder, which then outlives them.
    """
    from deadpan.studio.people.withdrawal import erase_member

    studies = {study.slug: study for study in models.StoredStudy.objects.all()}
    if not studies:
        return 0
    own = Path(settings.STUDIO_HOME) / TOMBSTONES
    known = {(entry["study"], entry["pseudonym"]) for entry in read_tombstones(own)}
    for path in lists:
        for entry in read_tombstones(path):
            if (entry["study"], entry["pseudonym"]) not in known:
                known.add((entry["study"], entry["pseudonym"]))
                _append([entry])
            study = studies.get(entry.pop("study"))
            at = datetime.fromisoformat(entry.pop("at"))
            if study is not None and not study.tombstones.filter(pseudonym=entry["pseudonym"]).exists():
                models.Tombstone.objects.create(study=study, created_at=at, **entry)
    erased = 0
    for study in studies.values():
        names = list(study.tombstones.values_list("pseudonym", flat=True))
        for member in models.Member.objects.filter(study=study, pseudonym__in=names).select_related("study", "person"):
            erase_member(member, datetime.now(UTC))
            erased += 1
    return erased
