"""Steering a study that runs: its stage, settings, items and people; all of it is logged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.core import signing
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.formats.study import StudyItem, checked_items, typed_settings
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.studio import models
from deadpan.studio.people.admission import revoke_invite
from deadpan.studio.people.assignment import return_items
from deadpan.studio.records.studies import count_items, item_rows, protocol_of, settings_of
from deadpan.validation import encode

Stage = Literal["open", "paused", "closed"]
STAGES = ("open", "paused", "closed")
_RESET_SALT = "deadpan.studio.reset"
FIXED_SETTINGS = ("qualification", "overlap", "match", "questions", "set", "set_hash", "sarcastic", "count")
"""Settings that decided which items there are and who was admitted: they stay as they were."""


@dataclass(frozen=True, slots=True)
class StudyChange(Result):
    """A change to a study, in words."""

    study: str
    change: str

    def summary(self) -> Summary:
        """Return the change."""
        return Summary(notes=(f"{self.study}: {self.change}",))

    def as_dict(self) -> dict[str, object]:
        """Return the change."""
        return {"study": self.study, "change": self.change}


@dataclass(frozen=True, slots=True)
class AuditLog(Result):
    """The log of a study, the latest entry first."""

    rows: tuple[tuple[str, str, str, str], ...]

    def summary(self) -> Summary:
        """Return a row per event."""
        return Summary((Table(("at", "by", "what", "detail"), self.rows),))

    def as_dict(self) -> dict[str, object]:
        """Return the events."""
        return {"events": [dict(zip(("at", "by", "what", "detail"), row, strict=True)) for row in self.rows]}


@dataclass(frozen=True, slots=True)
class MemberList(Result):
    """Members and invitations of a study."""

    members: tuple[tuple[str, str, str, str, int], ...]
    invites: tuple[tuple[int, str, str, str], ...]

    def summary(self) -> Summary:
        """Return a table of each."""
        people = Table(("pseudonym", "role", "state", "group", "done"), self.members)
        return Summary((people, Table(("invitation", "role", "uses left", "valid"), self.invites)))

    def as_dict(self) -> dict[str, object]:
        """Return both lists."""
        return {"members": [list(row) for row in self.members], "invites": [list(row) for row in self.invites]}


def log_event(study: Any, actor: str, what: str, **detail: Any) -> None:
    """Add an entry to the audit log."""
    models.Event.objects.create(study=study, actor=actor[:150], what=what[:40], detail=detail)


def audit_log(study: Any, limit: int = 200) -> AuditLog:
    """Return the latest events of a study."""
    found = models.Event.objects.filter(study=study).order_by("-id")[:limit]
    return AuditLog(
        tuple(
            (f"{e.created_at:%Y-%m-%d %H:%M}", e.actor, e.what, ", ".join(f"{k} {v}" for k, v in e.detail.items()))
            for e in found
        )
    )


def set_stage(study: Any, stage: str, actor: str) -> StudyChange:
    """Open, pause or close a study. Nothing is deleted, and a closed one can be opened again."""
    if stage not in STAGES:
        raise ConfigError(f"unknown stage {stage!r}: choose {', '.join(STAGES)}")
    if study.is_draft and stage != "open":
        raise ConfigError(_("A draft takes no answers yet: open it first."))
    if study.is_draft and not settings_of(study).contact.strip():
        raise ConfigError(_("A study needs a contact that people can ask: name one in its settings, then open it."))
    if study.stage != stage:
        study.is_draft, study.is_open, study.is_closed = False, stage == "open", stage == "closed"
        study.save(update_fields=["is_draft", "is_open", "is_closed"])
        log_event(study, actor, stage)
    return StudyChange(study.slug, stage)


def change_study(
    study: Any,
    settings: Mapping[str, Any],
    actor: str,
    *,
    title: str = "",
    language: str = "",
    stage: str | None = None,
    raters: int | None = None,
) -> StudyChange:
    """Change settings, title, people per item and stage of a study; a value that does not fit changes nothing."""
    merged = {**study.settings, **encode(dict(settings))}
    if raters is not None and raters < study.raters_per_item:
        raise ConfigError(_("People per item can be raised, not lowered: some items have their answers already."))
    for name in FIXED_SETTINGS:
        # Nobody has answered a draft's questions yet.
        if name == "questions" and study.is_draft:
            continue
        if name in settings and settings[name] != study.settings.get(name, settings[name]):
            raise ConfigError(f"{name} decided which items people got: make another study to change it")
    typed_settings(study.protocol, merged)
    # A default that is stored for the first time is no change.
    before = {**encode(settings_of(study)), "title": study.title, "language": study.language}
    study.settings = merged
    study.title, study.language = title or study.title, language or study.language
    study.save(update_fields=["settings", "title", "language"])
    after = {**encode(settings_of(study)), "title": study.title, "language": study.language}
    changed = sorted(name for name in after if after[name] != before[name])
    if raters is not None and raters > study.raters_per_item:
        # Items outside the overlap are judged once, and stay so.
        study.items.filter(wanted=study.raters_per_item).update(wanted=raters)
        study.raters_per_item = raters
        study.save(update_fields=["raters_per_item"])
        changed.append("raters_per_item")
    if changed:
        log_event(study, actor, "settings", changed=changed)
    if stage is not None:
        set_stage(study, stage, actor)
        changed.append(f"stage: {stage}")
    return StudyChange(study.slug, f"changed {', '.join(changed)}" if changed else "nothing to change")


def add_items(study: Any, items: Sequence[StudyItem], actor: str) -> StudyChange:
    """Add items at the end of the order; an id that is there already is an error."""
    checked = checked_items(items, study.protocol)
    known = set(models.StoredItem.objects.filter(study=study).values_list("item_id", flat=True))
    if twice := [item.id for item in checked if item.id in known]:
        raise DataError(f"item {twice[0]!r} is in the study already, and {len(twice) - 1} others: leave them out")
    if not checked:
        raise DataError("there is no item in it")
    with transaction.atomic():
        last = models.StoredItem.objects.filter(study=study).aggregate(n=Max("position"))["n"]
        ordered = sorted(checked, key=lambda item: draw(study.seed, item.id))
        rows = item_rows(study, ordered, settings_of(study), protocol_of(study), first=(last or 0) + 1)
        models.StoredItem.objects.bulk_create(rows, batch_size=500)
        count_items(study)
        log_event(study, actor, "add items", items=len(checked))
    return StudyChange(study.slug, f"{len(checked):,} items added")


# ---------------------------------------------------------------- people


def remove_member(study: Any, pseudonym: str, actor: str) -> StudyChange:
    """Take somebody out of a study: they get nothing more, their open items go back, their answers stay."""
    member = _member(study, pseudonym)
    models.Member.objects.filter(pk=member.pk).update(state=models.REMOVED)
    return_items(models.Assignment.objects.filter(member=member, state=models.OPEN))
    log_event(study, actor, "remove", member=pseudonym)
    return StudyChange(study.slug, f"removed {pseudonym}")


def restore_member(study: Any, pseudonym: str, actor: str) -> StudyChange:
    """Let somebody who was removed or refused in again."""
    member = _member(study, pseudonym)
    if member.state in (models.REMOVED, models.REFUSED):
        unfinished = settings_of(study).qualification and member.round_done < study.round_items
        models.Member.objects.filter(pk=member.pk).update(state=models.APPLICANT if unfinished else models.ACTIVE)
        log_event(study, actor, "restore", member=pseudonym)
    return StudyChange(study.slug, f"restored {pseudonym}")


def change_members(
    study: Any, actor: str, now: datetime, remove: str | None, restore: str | None, revoke: int | None
) -> MemberList:
    """Remove or restore a member, or end an invitation, and return who and what there is then."""
    if remove:
        remove_member(study, remove, actor)
    if restore:
        restore_member(study, restore, actor)
    if revoke is not None and not revoke_invite(study, revoke, now, actor):
        raise ConfigError(f"no invitation {revoke} that is still valid in {study.slug}")
    found = models.Member.objects.filter(study=study).order_by("joined_at")
    invites = models.Invite.objects.filter(study=study).order_by("pk")
    return MemberList(
        tuple((m.pseudonym, m.role, m.state, m.group, m.done) for m in found),
        tuple((i.pk, i.role, f"{i.uses_left}/{i.uses}", "yes" if i.usable(now) else "no") for i in invites),
    )


def _member(study: Any, pseudonym: str) -> Any:
    member = models.Member.objects.filter(study=study, pseudonym=pseudonym).first()
    if member is None:
        raise ConfigError(f"nobody has the pseudonym {pseudonym!r} in {study.slug}")
    return member


def reset_token(person: Any, now: datetime) -> str:
    """Return a token with which this person sets a new password, within a day and once."""
    # The end of the stored hash: once the password is changed, the link is dead.
    return str(signing.dumps([person.pk, person.password[-12:]], salt=_RESET_SALT, compress=True))


def person_of_token(token: str) -> Any:
    """Return who may set a new password with this token, or None."""
    try:
        pk, tail = signing.loads(token, salt=_RESET_SALT, max_age=24 * 3600)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    person = models.Person.objects.filter(pk=pk).first()
    return person if person is not None and person.password[-12:] == tail else None


def reset_link(name: str, base: str, now: datetime, actor: str) -> StudyChange:
    """Return a link with which somebody, the owner too, sets a new password."""
    person = models.Person.objects.filter(name=name).first()
    if person is None or not person.has_usable_password():
        raise ConfigError(f"no account named {name!r} has a password: guests return with their own link")
    for study in models.StoredStudy.objects.filter(members__person=person):
        log_event(study, actor, "reset password", member=study.members.get(person=person).pseudonym)
    if person.is_owner:
        log_event(None, actor, "reset password", role=models.OWNER)
    return StudyChange(name, f"{base.rstrip('/')}/reset/{reset_token(person, now)}")
