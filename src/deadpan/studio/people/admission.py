"""Admission to a study: invitations, crowdsourcing platforms, and the qualification round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from deadpan.errors import ConfigError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.ratings import match_majority, ratings_from_judgments
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.stats.interval import undefined
from deadpan.studio import models
from deadpan.studio.app.security import clean_text, hash_token, new_token
from deadpan.studio.records.journal import latest_records
from deadpan.studio.records.studies import protocol_of, settings_of

_INVITE_DAYS = 30
GUEST = "guest-"
"""Start of the names of people who came by a link and have no password; nobody else may have such a name."""


@dataclass(frozen=True, slots=True)
class InviteLink(Result):
    """A link that lets people into a study. It is shown once: only its hash is stored."""

    link: str
    role: str
    uses: int

    def summary(self) -> Summary:
        """Return the link, and its forms for platforms."""
        if self.role != models.PARTICIPANT:
            return Summary(notes=(self.link,))
        forms = tuple(f"{platform}: {link}" for platform, link in platform_links(self.link).items())
        return Summary(notes=(self.link, *forms))

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
    study: Any, role: str, uses: int, now: datetime, actor: str, days: int = _INVITE_DAYS, group: str = ""
) -> str:
    """Create an invitation and return its token, which is not stored and so is shown once."""
    token = new_token()
    models.Invite.objects.create(
        study=study,
        token_hash=hash_token(token),
        role=role,
        uses=uses,
        uses_left=uses,
        group=group,
        expires_at=now + timedelta(days=days),
    )
    models.Event.objects.create(study=study, actor=actor, what="invite", detail={"role": role, "uses": uses})
    return token


def any_invite(token: str) -> Any:
    """Return the invitation of a token, used up or not, or None."""
    return models.Invite.objects.filter(token_hash=hash_token(token)).select_related("study").first()


def find_invite(token: str, now: datetime) -> Any:
    """Return the valid invitation of a token, or None."""
    invite = any_invite(token)
    return invite if invite is not None and invite.usable(now) else None


def use_invite(invite: Any, person: Any) -> Any:
    """Make the person a member and count the use; None if no use is left. A member stays one."""
    with transaction.atomic():
        known = models.Member.objects.filter(study=invite.study, person=person).first()
        if known is not None:
            return known
        left = models.Invite.objects.filter(pk=invite.pk, uses_left__gt=0, revoked_at=None)
        # One statement checks and counts: two people cannot take the last use.
        taken = left.update(uses_left=F("uses_left") - 1)
        if not taken:
            return None
        applies = invite.role == models.ANNOTATOR and has_round(invite.study)
        return models.Member.objects.create(
            study=invite.study,
            person=person,
            role=invite.role,
            state=models.APPLICANT if applies else models.ACTIVE,
            group=invite.group,
            invite=invite,
        )


def start_token(now: datetime) -> str | None:
    """Return a token for the first owner; None if there is an owner."""
    if models.Person.objects.filter(is_owner=True).exists():
        return None
    # Earlier starts printed links too; only the newest one works.
    models.Invite.objects.filter(study=None).delete()
    return make_invite(None, models.OWNER, 1, now, "serve", days=1)


def revoke_invite(study: Any, pk: int, now: datetime, actor: str) -> bool:
    """End an invitation: nobody new comes in by it. Return False if there is none of that number."""
    changed = models.Invite.objects.filter(study=study, pk=pk, revoked_at=None).update(revoked_at=now)
    if changed:
        models.Event.objects.create(study=study, actor=actor, what="revoke invite", detail={"invite": pk})
    return bool(changed)


def renew_invite(study: Any, pk: int, now: datetime, actor: str) -> str | None:
    """Replace an invitation by a new link for the people who have not come yet; the old one ends."""
    old = models.Invite.objects.filter(study=study, pk=pk).first()
    if old is None:
        return None
    revoke_invite(study, pk, now, actor)
    return make_invite(study, old.role, max(old.uses_left, 1), now, actor, group=old.group)


# ---------------------------------------------------------------- platforms


# Parameters that name the person: Prolific, Mechanical Turk, SONA.
_PERSON_PARAMETERS = ("PROLIFIC_PID", "workerId", "survey_code", "SONA_ID", "id")
_VISIT_PARAMETERS = ("STUDY_ID", "SESSION_ID", "assignmentId", "hitId", "experiment_id")
_TURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_LONGEST_ID = 120


@dataclass(frozen=True, slots=True)
class Completion:
    """The way back to the platform: a code to enter, or an address to return to."""

    code: str
    url: str


def platform_ids(query: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the person's id on a platform and the parameters of the visit, from the address."""
    person = next((clean_text(query[name])[:_LONGEST_ID] for name in _PERSON_PARAMETERS if query.get(name)), "")
    visit = {
        name: clean_text(query[name])[:_LONGEST_ID]
        for name in (*_PERSON_PARAMETERS, *_VISIT_PARAMETERS)
        if query.get(name)
    }
    return person, visit


def is_preview(query: Mapping[str, str]) -> bool:
    """Return whether a Mechanical Turk worker only looks at the task and has not accepted it."""
    return query.get("assignmentId") == _TURK_PREVIEW


def known_participant(study: Any, crowd_id: str) -> Any:
    """Return the member who came with this id before, or None."""
    found = models.Identity.objects.filter(member__study=study, crowd_id=crowd_id).select_related("member__person")
    identity = found.first() if crowd_id else None
    return identity.member if identity else None


def platform_links(link: str) -> dict[str, str]:
    """Return the form of an invitation's link for each platform, with the platform's own placeholders."""
    prolific = "&".join(f"{name}={{{{%{name}%}}}}" for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"))
    return {
        "Prolific": f"{link}?{prolific}",
        # As the ExternalURL of a task: MTurk adds workerId, assignmentId and hitId itself.
        "Mechanical Turk": link,
        "SONA": f"{link}?survey_code=%SURVEY_CODE%",
    }


def shown_name(name: str, pseudonym: str) -> str:
    """Return how a leader sees somebody, alike in every table: the account's name, and the name exports have."""
    return f"{_('guest')} {pseudonym}" if not name or name.startswith(GUEST) else f"{name} ({pseudonym})"


def completion_of(member: Any, study: Any, state: str) -> Completion | None:
    """Return the way back for somebody who is done, or who cannot take part; None while there is work."""
    settings = settings_of(study)
    if state == "done" and member.done > 0 and member.state != models.APPLICANT:
        return filled_completion(settings, member)
    # Who comes when the study is full did nothing, and cannot take part either.
    out = state == "refused" or (state == "done" and not member.done)
    return Completion("", _filled(settings.screenout_url, member)) if out and settings.screenout_url else None


def filled_completion(settings: Any, member: Any) -> Completion | None:
    """Return the code and the address of the settings; None if the study names neither."""
    if not (settings.completion_code or settings.completion_url):
        return None
    return Completion(settings.completion_code, _filled(settings.completion_url, member))


def _filled(url: str, member: Any) -> str:
    """Return the address with SONA's and others' placeholders filled from the member's visit."""
    if not url or urlsplit(url).scheme not in ("http", "https"):
        return ""
    visit = models.Identity.objects.filter(member=member).values_list("platform", flat=True).first() or {}
    for name, value in visit.items():
        # urlencode quotes the value: a parameter cannot change the rest of the address.
        url = url.replace(f"{{{name}}}", urlencode({"v": value})[2:])
    return url


# ---------------------------------------------------------------- qualification


@dataclass(frozen=True, slots=True)
class Applicant:
    """An applicant's result. `passed` is a proposal: the owner decides."""

    member: Any
    answered: int
    match: Interval
    passed: bool
    name: str = ""

    @property
    def proposal(self) -> str:
        """Return what the threshold proposes."""
        return "admit" if self.passed else "not yet"


def has_round(study: Any) -> bool:
    """Return whether the study has a qualification round."""
    return bool(settings_of(study).qualification)


def applicants(study: Any) -> list[Applicant]:
    """Return everybody who took part in the round, best match first."""
    settings = settings_of(study)
    question = protocol_of(study).questions(settings)[0]
    records = [r for r in latest_records(study, kinds=(models.QUALIFICATION,)) if r.question == question.name]
    matches = {}
    if records:
        ratings = ratings_from_judgments(records, question.name, question.values)
        matches = {match.annotator: match for match in match_majority(ratings)}
    counts: dict[str, int] = {}
    for record in records:
        counts[record.annotator] = counts.get(record.annotator, 0) + 1
    total = models.StoredItem.objects.filter(study=study, kind=models.QUALIFICATION).count()
    found = []
    for member in models.Member.objects.filter(
        study=study, state__in=(models.APPLICANT, models.ACTIVE, models.REFUSED)
    ).select_related("person"):
        if member.pseudonym not in counts and member.state != models.APPLICANT:
            continue
        share = matches[member.pseudonym].share if member.pseudonym in matches else undefined("no answer yet")
        answered = counts.get(member.pseudonym, 0)
        passed = share.value is not None and share.value >= settings.threshold and answered >= total
        found.append(Applicant(member, answered, share, passed, shown_name(member.person.name, member.pseudonym)))
    return sorted(found, key=lambda a: (-(a.match.value or 0.0), a.member.pseudonym))


def set_admission(study: Any, pseudonym: str, admit: bool, actor: str) -> bool:
    """Admit or refuse an applicant; return False if there is no such pseudonym."""
    state = models.ACTIVE if admit else models.REFUSED
    changed = models.Member.objects.filter(
        study=study, pseudonym=pseudonym, state__in=(models.APPLICANT, models.ACTIVE, models.REFUSED)
    ).update(state=state)
    if changed:
        models.Event.objects.create(study=study, actor=actor, what=state, detail={"member": pseudonym})
    return bool(changed)


@dataclass(frozen=True, slots=True)
class ApplicantTable(Result):
    """Everybody who took part in a qualification round."""

    applicants: tuple[Applicant, ...]

    def summary(self) -> Summary:
        """Return a row per applicant."""
        if not self.applicants:
            return Summary(notes=("no applicant yet",))
        rows = tuple((a.member.pseudonym, a.answered, a.match, a.proposal, a.member.state) for a in self.applicants)
        head = ("pseudonym", "answered", "match with the others", "proposal", "state")
        return Summary((Table(head, rows),))

    def as_dict(self) -> dict[str, object]:
        """Return a row per applicant."""
        rows = [
            {
                "pseudonym": a.member.pseudonym,
                "answered": a.answered,
                "match": a.match.as_dict(),
                "proposal": a.proposal,
                "state": a.member.state,
            }
            for a in self.applicants
        ]
        return {"applicants": rows}


def decide_applicants(
    study: Any, *, admit: Sequence[str] = (), refuse: Sequence[str] = (), admit_proposed: bool = False, actor: str
) -> ApplicantTable:
    """Admit and refuse applicants by pseudonym, and return all of them."""
    if not has_round(study):
        raise ConfigError(f"{study.slug} has no qualification round: everybody who joins takes part")
    if both := set(admit) & set(refuse):
        raise ConfigError(f"applicant {min(both)!r} is admitted and refused: choose one")
    table = applicants(study)
    decisions = dict.fromkeys(admit, True) | dict.fromkeys(refuse, False)
    if admit_proposed:
        proposed = [a.member.pseudonym for a in table if a.passed and a.member.state == models.APPLICANT]
        decisions = dict.fromkeys(proposed, True) | decisions
    known = {a.member.pseudonym for a in table}
    for pseudonym in decisions:
        if pseudonym not in known:
            raise ConfigError(
                f"no applicant {pseudonym!r} in {study.slug}: see deadpan studio members {study.slug} --applicants"
            )
    for pseudonym, admitted in decisions.items():
        set_admission(study, pseudonym, admitted, actor)
    return ApplicantTable(tuple(applicants(study)))
