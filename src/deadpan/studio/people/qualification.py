"""The qualification round: the same items for all applicants, their match with the others, the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.errors import ConfigError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.ratings import match_majority, ratings_from_judgments
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.stats.interval import undefined
from deadpan.studio.models import ACTIVE, APPLICANT, QUALIFICATION, REFUSED, Event, Member, StoredItem
from deadpan.studio.records.judgments import latest_records
from deadpan.studio.records.studies import protocol_of, settings_of


@dataclass(frozen=True, slots=True)
class Applicant:
    """An applicant's result. `passed` is a proposal: the owner decides."""

    member: Any
    answered: int
    match: Interval
    passed: bool

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
    records = [r for r in latest_records(study, kinds=(QUALIFICATION,)) if r.question == question.name]
    matches = {}
    if records:
        ratings = ratings_from_judgments(records, question.name, question.values)
        matches = {match.annotator: match for match in match_majority(ratings)}
    counts: dict[str, int] = {}
    for record in records:
        counts[record.annotator] = counts.get(record.annotator, 0) + 1
    total = StoredItem.objects.filter(study=study, kind=QUALIFICATION).count()
    found = []
    for member in Member.objects.filter(study=study, state__in=(APPLICANT, ACTIVE, REFUSED)):
        if member.pseudonym not in counts and member.state != APPLICANT:
            continue
        share = matches[member.pseudonym].share if member.pseudonym in matches else undefined("no answer yet")
        answered = counts.get(member.pseudonym, 0)
        passed = share.value is not None and share.value >= settings.threshold and answered >= total
        found.append(Applicant(member, answered, share, passed))
    return sorted(found, key=lambda a: (-(a.match.value or 0.0), a.member.pseudonym))


def decide(study: Any, pseudonym: str, admit: bool, actor: str) -> bool:
    """Admit or refuse an applicant; return False if there is no such pseudonym."""
    state = ACTIVE if admit else REFUSED
    changed = Member.objects.filter(
        study=study, pseudonym=pseudonym, state__in=(APPLICANT, ACTIVE, REFUSED)
    ).update(state=state)
    if changed:
        Event.objects.create(study=study, actor=actor, what=state, detail={"member": pseudonym})
    return bool(changed)


@dataclass(frozen=True, slots=True)
class ApplicantTable(Result):
    """Everybody who took part in a qualification round."""

    applicants: tuple[Applicant, ...]

    def summary(self) -> Summary:
        """Return a row per applicant."""
        if not self.applicants:
            return Summary(notes=("no applicant yet",))
        rows = tuple(
            (a.member.pseudonym, a.answered, a.match, a.proposal, a.member.state) for a in self.applicants
        )
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
    study: Any,
    *,
    admit: Sequence[str] = (),
    refuse: Sequence[str] = (),
    admit_proposed: bool = False,
    actor: str,
) -> ApplicantTable:
    """Admit and refuse applicants by pseudonym, and return all of them."""
    if not has_round(study):
        raise ConfigError(f"{study.slug} has no qualification round: everybody who joins takes part")
    if both := set(admit) & set(refuse):
        raise ConfigError(f"applicant {min(both)!r} is admitted and refused: choose one")
    table = applicants(study)
    decisions = dict.fromkeys(admit, True) | dict.fromkeys(refuse, False)
    if admit_proposed:
        proposed = [a.member.pseudonym for a in table if a.passed and a.member.state == APPLICANT]
        decisions = dict.fromkeys(proposed, True) | decisions
    known = {a.member.pseudonym for a in table}
    for pseudonym in decisions:
        if pseudonym not in known:
            raise ConfigError(
                f"no applicant {pseudonym!r} in {study.slug}; see deadpan studio applicants {study.slug}"
            )
    for pseudonym, admitted in decisions.items():
        decide(study, pseudonym, admitted, actor)
    return ApplicantTable(tuple(applicants(study)))
