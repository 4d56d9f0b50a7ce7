"""Invitations: links that let people into a study."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F

from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.studio.app.security import digest, new_token
from deadpan.studio.models import ACTIVE, ANNOTATOR, APPLICANT, OWNER, Event, Invite, Member, Person
from deadpan.studio.people.qualification import has_round

DAYS = 30
GUEST = "guest-"
"""Start of the names of people who came by a link and have no password; nobody else may have such a name."""


@dataclass(frozen=True, slots=True)
class InviteLink(Result):
    """A link that lets people into a study. It is shown once: only its hash is stored."""

    link: str
    role: str
    uses: int

    def summary(self) -> Summary:
        """Return the link."""
        return Summary(notes=(self.link,))

    def as_dict(self) -> dict[str, object]:
        """Return the link, the role and for how many people it works."""
        return asdict(self)


def invite_link(
    study: Any, role: str, *, uses: int, days: int, site: str, now: datetime, actor: str, group: str = ""
) -> InviteLink:
    """Make an invitation and return its link."""
    token = make_invite(study, role, uses, now, actor, days, group)
    return InviteLink(f"{site.rstrip('/')}/join/{token}", role, uses)


def make_invite(
    study: Any, role: str, uses: int, now: datetime, actor: str, days: int = DAYS, group: str = ""
) -> str:
    """Create an invitation and return its token, which is not stored and so is shown once."""
    token = new_token()
    Invite.objects.create(
        study=study,
        token_hash=digest(token),
        role=role,
        uses=uses,
        uses_left=uses,
        group=group,
        expires_at=now + timedelta(days=days),
    )
    Event.objects.create(study=study, actor=actor, what="invite", detail={"role": role, "uses": uses})
    return token


def any_invite(token: str) -> Any:
    """Return the invitation of a token, used up or not, or None."""
    return Invite.objects.filter(token_hash=digest(token)).select_related("study").first()


def find_invite(token: str, now: datetime) -> Any:
    """Return the valid invitation of a token, or None."""
    invite = any_invite(token)
    return invite if invite is not None and invite.usable(now) else None


def use_invite(invite: Any, person: Any) -> Any:
    """Make the person a member and count the use; None if no use is left. A member stays one."""
    with transaction.atomic():
        known = Member.objects.filter(study=invite.study, person=person).first()
        if known is not None:
            return known
        left = Invite.objects.filter(pk=invite.pk, uses_left__gt=0, revoked_at=None)
        taken = left.update(uses_left=F("uses_left") - 1)
        if not taken:
            return None
        applies = invite.role == ANNOTATOR and has_round(invite.study)
        return Member.objects.create(
            study=invite.study,
            person=person,
            role=invite.role,
            state=APPLICANT if applies else ACTIVE,
            group=invite.group,
            invite=invite,
        )


def start_token(now: datetime) -> str | None:
    """Return a token for the first owner; None if there is an owner."""
    if Person.objects.filter(is_owner=True).exists():
        return None
    Invite.objects.filter(study=None).delete()
    return make_invite(None, OWNER, 1, now, "serve", days=1)


def revoke_invite(study: Any, pk: int, now: datetime, actor: str) -> bool:
    """End an invitation: nobody new comes in by it. Return False if there is none of that number."""
    changed = Invite.objects.filter(study=study, pk=pk, revoked_at=None).update(revoked_at=now)
    if changed:
        Event.objects.create(study=study, actor=actor, what="revoke invite", detail={"invite": pk})
    return bool(changed)


def renew_invite(study: Any, pk: int, now: datetime, actor: str) -> str | None:
    """Replace an invitation by a new link for the people who have not come yet; the old one ends."""
    old = Invite.objects.filter(study=study, pk=pk).first()
    if old is None:
        return None
    revoke_invite(study, pk, now, actor)
    return make_invite(study, old.role, max(old.uses_left, 1), now, actor, group=old.group)
