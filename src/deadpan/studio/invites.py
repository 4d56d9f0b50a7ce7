"""Links that let people in."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from deadpan.studio.models import ACTIVE, ANNOTATOR, APPLICANT, OWNER, Event, Invite, Member, Person
from deadpan.studio.qualification import has_round
from deadpan.studio.security import digest, new_token

DAYS = 30


def make_invite(study: Any, role: str, uses: int, now: datetime, actor: str, days: int = DAYS) -> str:
    """A new link's token. It is not stored, so it is shown once."""
    token = new_token()
    Invite.objects.create(
        study=study,
        token_hash=digest(token),
        role=role,
        uses_left=uses,
        expires_at=now + timedelta(days=days),
    )
    Event.objects.create(study=study, actor=actor, what="invite", detail={"role": role, "uses": uses})
    return token


def find_invite(token: str, now: datetime) -> Any:
    """The invitation a token stands for, if it is still good."""
    return (
        Invite.objects.filter(token_hash=digest(token), uses_left__gt=0, expires_at__gt=now)
        .select_related("study")
        .first()
    )


def use_invite(invite: Any, person: Any) -> Any:
    """Let the person in, once a use; None if somebody was faster. A member who comes again stays one."""
    with transaction.atomic():
        known = Member.objects.filter(study=invite.study, person=person).first()
        if known is not None:
            return known
        taken = Invite.objects.filter(pk=invite.pk, uses_left__gt=0).update(uses_left=F("uses_left") - 1)
        if not taken:
            return None
        applies = invite.role == ANNOTATOR and has_round(invite.study)
        return Member.objects.create(
            study=invite.study, person=person, role=invite.role, state=APPLICANT if applies else ACTIVE
        )


def start_token(now: datetime) -> str | None:
    """A link for the first owner; None when there is one already."""
    if Person.objects.filter(is_owner=True).exists():
        return None
    Invite.objects.filter(study=None).delete()
    return make_invite(None, OWNER, 1, now, "serve", days=1)
