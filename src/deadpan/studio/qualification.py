"""The qualification round: the same items for all; the owner sees who matches the others and decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deadpan.agreement import match_majority, ratings_from_judgments
from deadpan.stats import Interval
from deadpan.stats.interval import undefined
from deadpan.studio.creation import protocol_of
from deadpan.studio.judgments import latest_records
from deadpan.studio.models import ACTIVE, APPLICANT, QUALIFICATION, REFUSED, Event, Item, Member


@dataclass(frozen=True, slots=True)
class Applicant:
    """How an applicant did. `passed` is a proposal: the owner decides."""

    member: Any
    answered: int
    match: Interval
    passed: bool


def has_round(study: Any) -> bool:
    """Whether the study has a qualification round."""
    return int(study.settings.get("qualification", 0)) > 0


def applicants(study: Any) -> list[Applicant]:
    """Everybody who took part in the round, best match first."""
    question = protocol_of(study).questions(study.settings)[0]
    records = [r for r in latest_records(study, kinds=(QUALIFICATION,)) if r.question == question.name]
    threshold = float(study.settings.get("threshold", 0.65))
    matches = {}
    if records:
        ratings = ratings_from_judgments(records, question.name, [c.value for c in question.choices])
        matches = {match.annotator: match for match in match_majority(ratings)}
    counts: dict[str, int] = {}
    for record in records:
        counts[record.annotator] = counts.get(record.annotator, 0) + 1
    total = Item.objects.filter(study=study, kind=QUALIFICATION).count()
    found = []
    for member in Member.objects.filter(study=study, state__in=(APPLICANT, ACTIVE, REFUSED)):
        if member.pseudonym not in counts and member.state != APPLICANT:
            continue
        share = matches[member.pseudonym].share if member.pseudonym in matches else undefined("no answer yet")
        answered = counts.get(member.pseudonym, 0)
        passed = share.value is not None and share.value >= threshold and answered >= total
        found.append(Applicant(member, answered, share, passed))
    return sorted(found, key=lambda a: (-(a.match.value or 0.0), a.member.pseudonym))


def decide(study: Any, pseudonym: str, admit: bool, actor: str) -> bool:
    """Admit or refuse an applicant; False if there is none of that name."""
    state = ACTIVE if admit else REFUSED
    changed = Member.objects.filter(
        study=study, pseudonym=pseudonym, state__in=(APPLICANT, ACTIVE, REFUSED)
    ).update(state=state)
    if changed:
        Event.objects.create(study=study, actor=actor, what=state, detail={"member": pseudonym})
    return bool(changed)
