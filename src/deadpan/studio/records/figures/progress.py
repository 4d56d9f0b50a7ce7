"""Progress of a study: items done, hours worked, pay owed, attention checks passed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Sum

from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.studio.models import (
    ADJUDICATOR,
    ATTENTION,
    DONE,
    MAIN,
    WITHDRAWN,
    Assignment,
    Member,
    StoredItem,
    StoredJudgment,
    StoredStudy,
)
from deadpan.studio.records.figures.flags import ItemFlag, flagged_assignments, item_flags
from deadpan.studio.records.figures.pay import paid_seconds
from deadpan.studio.records.judgments import latest_records
from deadpan.studio.records.studies import settings_of

PACE_HOURS = 24


@dataclass(frozen=True, slots=True)
class Worker:
    """One member: items done, hours and pay owed."""

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
class StudyProgress:
    """The progress of a study. `places` are items times raters: the work in all."""

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


@dataclass(frozen=True, slots=True)
class StudioStatus(Result):
    """Progress of one study or of all; for one study also its people and what they said about items."""

    studies: tuple[StudyProgress, ...]
    with_people: bool = False
    flags: tuple[ItemFlag, ...] = ()

    def summary(self) -> Summary:
        """Return a row per study and, for one study, a row per person."""
        if not self.studies:
            return Summary(notes=("no study yet: deadpan studio create",))
        rows = tuple(
            (
                p.study,
                p.protocol,
                f"{p.places_done:,} of {p.places:,}",
                f"{p.items_finished:,} of {p.items:,}",
                p.submissions_kept,
            )
            for p in self.studies
        )
        columns = ("study", "protocol", "judgments", "items finished", "submissions")
        people = tuple(_people(p) for p in self.studies if p.workers) if self.with_people else ()
        return Summary((Table(columns, rows), *people, *_flags(self.flags)))

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        found: dict[str, object] = {"studies": [asdict(study) for study in self.studies]}
        return {**found, "flags": [asdict(flag) for flag in self.flags]} if self.with_people else found


def _people(progress: StudyProgress) -> Table:
    """Return a row per person."""
    rows = tuple(
        (
            worker.pseudonym,
            worker.name,
            worker.role,
            worker.state,
            worker.done,
            f"{worker.hours:.2f}",
            "" if worker.owed is None else f"{worker.owed:.2f} {progress.currency}",
            f"{worker.checks_passed}/{worker.checks}",
        )
        for worker in progress.workers
    )
    return Table(("pseudonym", "name", "role", "state", "done", "hours", "owed", "checks"), rows)


def _flags(flags: tuple[ItemFlag, ...]) -> tuple[Table, ...]:
    """Return a row per remark about an item; no table if there is none."""
    rows = tuple((f.item, f.what, f.said, f.annotator) for f in flags)
    return (Table(("item", "action", "what they said", "pseudonym"), rows),) if rows else ()


def studio_status(study: Any | None, now: datetime) -> StudioStatus:
    """Return the status of one study, or of all."""
    if study is None:
        return StudioStatus(tuple(study_progress(each, now) for each in StoredStudy.objects.order_by("slug")))
    flags = tuple(item_flags(flagged_assignments(study)))
    return StudioStatus((study_progress(study, now),), with_people=True, flags=flags)


def study_progress(study: Any, now: datetime) -> StudyProgress:
    """Count items, judgments and hours. Hours left come from the mean seconds of a finished item."""
    pairs = list(StoredItem.objects.filter(study=study, kind=MAIN).values_list("wanted", "finished"))
    places, done = sum(w for w, _ in pairs), sum(min(w, f) for w, f in pairs)
    seconds = (
        StoredJudgment.objects.filter(study=study, item__kind=MAIN).aggregate(s=Sum("seconds"))["s"] or 0.0
    )
    worked = Assignment.objects.filter(item__study=study, item__kind=MAIN, state=DONE)
    submissions = list(study.submissions.values_list("reasons", flat=True))
    return StudyProgress(
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
        currency=settings_of(study).currency,
        workers=tuple(_workers(study)),
    )


def _workers(study: Any) -> list[Worker]:
    """Return everybody in the study. Those who withdrew have no name any more but are paid for their work."""
    rate = settings_of(study).rate
    told = dict(
        study.submissions.values_list("member_id")
        .annotate(total=Sum("seconds"))
        .values_list("member_id", "total")
    )
    checks, passed = attention(study)
    found = []
    for member in Member.objects.filter(study=study).select_related("person").order_by("joined_at"):
        hours = (paid_seconds(member) + (told.get(member.pk) or 0.0)) / 3600
        found.append(
            Worker(
                name=member.person.name,
                pseudonym=member.pseudonym,
                role=member.role,
                state=member.state,
                done=member.done + member.round_done if member.role != ADJUDICATOR else 0,
                hours=round(hours, 3),
                owed=round(hours * rate, 2) if rate is not None else None,
                checks_passed=passed[member.pseudonym],
                checks=checks[member.pseudonym],
            )
        )
    for gone in study.tombstones.order_by("id"):
        hours = gone.seconds / 3600
        owed = round(hours * rate, 2) if rate is not None else None
        found.append(Worker("", gone.pseudonym, gone.role, WITHDRAWN, gone.done, round(hours, 3), owed, 0, 0))
    return found


def attention(study: Any) -> tuple[Counter[str], Counter[str]]:
    """Return the attention checks per member: how many they met, and how many they passed."""
    expected = {
        item: hidden["check"]
        for item, hidden in StoredItem.objects.filter(study=study, kind=ATTENTION).values_list(
            "item_id", "hidden"
        )
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
