"""Consent given and taken back: a code nobody but the participant has, and what it erases."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.db import transaction

from deadpan.studio.assignment import give_back
from deadpan.studio.models import (
    WITHDRAWN,
    Assignment,
    Event,
    Identity,
    Member,
    Submission,
    Tombstone,
)
from deadpan.studio.security import digest

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without letters and digits that look alike: people copy codes by hand."""


def new_code() -> str:
    """A code of 20 characters in fours, about 99 bits."""
    letters = [secrets.choice(ALPHABET) for _ in range(20)]
    return "-".join("".join(letters[at : at + 4]) for at in range(0, 20, 4))


def plain(code: str) -> str:
    """A code as it was meant, however it was typed."""
    return "".join(letter for letter in code.upper() if letter in ALPHABET)


def consent(member: Any, text: str, now: datetime, **facts: str) -> str:
    """Remember that they agreed, to which words, and give them their code."""
    code = new_code()
    with transaction.atomic():
        Identity.objects.update_or_create(
            member=member,
            defaults={"consent_text": text, "withdrawal_hash": digest(plain(code)), **facts},
        )
        Member.objects.filter(pk=member.pk).update(consented_at=now)
        member.consented_at = now
    return code


def withdraw(code: str, now: datetime) -> bool:
    """Erase who they are and what they handed in; leave a tombstone that keeps them out of every release.

    Their judgments stay in the journal, which is never changed, and are left out wherever it is read.
    """
    if not plain(code):
        return False
    with transaction.atomic():
        identity = (
            Identity.objects.filter(withdrawal_hash=digest(plain(code))).select_related("member").first()
        )
        if identity is None:
            return False
        member = identity.member
        give_back(Assignment.objects.filter(member=member))
        Submission.objects.filter(member=member).delete()
        identity.delete()
        Member.objects.filter(pk=member.pk).update(state=WITHDRAWN)
        Tombstone.objects.create(study_id=member.study_id, pseudonym=member.pseudonym, created_at=now)
        Event.objects.create(
            study_id=member.study_id, actor=member.pseudonym, what="withdraw", created_at=now
        )
    return True
