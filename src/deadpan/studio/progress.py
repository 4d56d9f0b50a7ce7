"""How far a study is: items done, hours worked, what is owed, who failed checks."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q, Sum

from deadpan.studio.judgments import latest_records
from deadpan.studio.models import (
    ADJUDICATOR,
    ATTENTION,
    DONE,
    MAIN,
    WITHDRAWN,
    Assignment,
    Item,
    Judgment,
    Member,
)

PACE_HOURS = 24


@dataclass(frozen=True, slots=True)
class Worker:
    """One member: what they did, how long it took them, what they are owed."""

    name: str
    pseudonym: str
    role: str
    state: str
    done: int
    hours: float
    owed: float | None
    checks_passed: int
    checks: int


@dataclass(frozen=True, slots=True)
class Progress:
    """A study at one moment. `places` are item times rater: what has to be done in all."""

    study: str
    title: str
    protocol: str
    is_open: bool
    items: int
    items_finished: int
    places: int
    places_done: int
    submissions: int
    submissions_kept: int
    in_last_day: int
    hours_left: float | None
    currency: str
    workers: tuple[Worker, ...]

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)


def progress(study: Any, now: datetime) -> Progress:
    """Count everything. Hours left come from the mean seconds of a finished item."""
    items = Item.objects.filter(study=study, kind=MAIN).annotate(
        finished=Count(
            "assignments", filter=Q(assignments__state=DONE) & ~Q(assignments__member__state=WITHDRAWN)
        )
    )
    pairs = list(items.values_list("wanted", "finished"))
    places, done = sum(w for w, _ in pairs), sum(min(w, f) for w, f in pairs)
    seconds = Judgment.objects.filter(study=study, item__kind=MAIN).aggregate(s=Sum("seconds"))["s"] or 0.0
    worked = Assignment.objects.filter(item__study=study, item__kind=MAIN, state=DONE)
    submissions = list(study.submissions.values_list("reasons", flat=True))
    return Progress(
        study=study.slug,
        title=study.title,
        protocol=study.protocol,
        is_open=study.is_open,
        items=len(pairs),
        items_finished=sum(f >= w for w, f in pairs),
        places=places,
        places_done=done,
        submissions=len(submissions),
        submissions_kept=sum(not reasons for reasons in submissions),
        in_last_day=worked.filter(touched_at__gt=now - timedelta(hours=PACE_HOURS)).count(),
        hours_left=round((places - done) * seconds / worked.count() / 3600, 2) if worked.count() else None,
        currency=str(study.settings.get("currency", "")),
        workers=tuple(_workers(study)),
    )


def _workers(study: Any) -> list[Worker]:
    """Everybody in the study. Those who withdrew are paid for their work all the same."""
    rate = study.settings.get("rate")
    seconds = dict(
        Judgment.objects.filter(study=study)
        .values_list("member_id")
        .annotate(total=Sum("seconds"))
        .values_list("member_id", "total")
    )
    told = dict(
        study.submissions.values_list("member_id")
        .annotate(total=Sum("seconds"))
        .values_list("member_id", "total")
    )
    done = Counter(
        Assignment.objects.filter(item__study=study, state=DONE)
        .exclude(item__kind=ATTENTION)
        .values_list("member_id", flat=True)
    )
    checks, passed = attention(study)
    found = []
    for member in Member.objects.filter(study=study).select_related("person").order_by("joined_at"):
        hours = ((seconds.get(member.pk) or 0.0) + (told.get(member.pk) or 0.0)) / 3600
        found.append(
            Worker(
                name=member.person.name,
                pseudonym=member.pseudonym,
                role=member.role,
                state=member.state,
                done=done[member.pk] if member.role != ADJUDICATOR else 0,
                hours=round(hours, 3),
                owed=round(hours * float(rate), 2) if rate is not None else None,
                checks_passed=passed[member.pseudonym],
                checks=checks[member.pseudonym],
            )
        )
    return found


def attention(study: Any) -> tuple[Counter[str], Counter[str]]:
    """How many checks each member met, and how many they passed."""
    expected = {
        item: hidden["check"]
        for item, hidden in Item.objects.filter(study=study, kind=ATTENTION).values_list("item_id", "hidden")
    }
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for record in latest_records(study, kinds=(ATTENTION,)):
        answers.setdefault((record.item_id, record.annotator), {})[record.question] = record.answer
    met: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for (item, who), given in answers.items():
        met[who] += 1
        passed[who] += all(given.get(q) == a for q, a in expected[item].items())
    return met, passed
