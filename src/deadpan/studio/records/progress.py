"""Progress of a study: items done, hours worked, pay owed, attention checks, and remarks about items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q, Sum
from django.db.models.functions import Least
from django.utils.translation import gettext as _

from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.studio import models
from deadpan.studio.records.journal import latest_records
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
    claimed: float = 0.0
    """Hours the browser claimed; far more than were counted is a sign of a forged claim."""

    @property
    def claims_too_much(self) -> bool:
        """Return whether more was claimed than a slow clock or two windows explain."""
        return self.claimed > 1.5 * self.hours + 0.1


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
            f"{worker.hours:.2f}" + (f" (claims {worker.claimed:.2f}!)" if worker.claims_too_much else ""),
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
        return StudioStatus(tuple(study_progress(each, now) for each in models.StoredStudy.objects.order_by("slug")))
    flags = tuple(item_flags(flagged_assignments(study)))
    return StudioStatus((study_progress(study, now),), with_people=True, flags=flags)


def study_progress(study: Any, now: datetime) -> StudyProgress:
    """Count items, judgments and hours. Hours left come from the mean seconds of a finished item."""
    done, places = places_done(study).get(study.pk, (0, 0))
    work = study.members.aggregate(seconds=Sum("seconds"), items=Sum(F("done") + F("round_done") + F("checks")))
    day = models.Assignment.objects.filter(state=models.DONE, touched_at__gt=now - timedelta(hours=PACE_HOURS))
    submissions = list(study.submissions.values_list("reasons", flat=True))
    return StudyProgress(
        study=study.slug,
        title=study.title,
        protocol=study.protocol,
        is_open=study.is_open,
        items=study.main_items,
        items_finished=study.items.filter(kind=models.MAIN, finished__gte=F("wanted")).count(),
        places=places,
        places_done=done,
        submissions=len(submissions),
        submissions_kept=sum(not reasons for reasons in submissions),
        in_last_day=day.filter(item__study=study, item__kind=models.MAIN).count(),
        hours_left=round((places - done) * work["seconds"] / work["items"] / 3600, 2) if work["items"] else None,
        currency=settings_of(study).currency,
        workers=tuple(_workers(study)),
    )


def places_done(study: Any = None) -> dict[int, tuple[int, int]]:
    """Return by study how many places are done, and of how many; the surplus of an item finishes no place."""
    main = models.StoredItem.objects.filter(kind=models.MAIN, **({"study": study} if study is not None else {}))
    rows = main.values_list("study_id").annotate(done=Sum(Least("wanted", "finished")), places=Sum("wanted"))
    return {study: (done or 0, places or 0) for study, done, places in rows}


def _workers(study: Any) -> list[Worker]:
    """Return everybody in the study. Those who withdrew have no name any more but are paid for their work."""
    rate = settings_of(study).rate
    checks, passed = attention_checks(study)
    found = []
    for member in models.Member.objects.filter(study=study).select_related("person").order_by("joined_at"):
        hours = paid_seconds(member) / 3600
        found.append(
            Worker(
                name=member.person.name,
                pseudonym=member.pseudonym,
                role=member.role,
                state=member.state,
                done=member.done + member.round_done if member.role != models.ADJUDICATOR else 0,
                hours=round(hours, 3),
                owed=round(hours * rate, 2) if rate is not None else None,
                checks_passed=passed[member.pseudonym],
                checks=checks[member.pseudonym],
                claimed=round(member.claimed_seconds / 3600, 3),
            )
        )
    for gone in study.tombstones.order_by("id"):
        hours = gone.seconds / 3600
        owed = round(hours * rate, 2) if rate is not None else None
        found.append(Worker("", gone.pseudonym, gone.role, models.WITHDRAWN, gone.done, round(hours, 3), owed, 0, 0))
    return found


def attention_checks(study: Any) -> tuple[Counter[str], Counter[str]]:
    """Return the attention checks per member: how many they met, and how many they passed."""
    expected = {
        item: hidden["check"]
        for item, hidden in models.StoredItem.objects.filter(study=study, kind=models.ATTENTION).values_list(
            "item_id", "hidden"
        )
    }
    answers: dict[tuple[str, str], dict[str, str]] = {}
    # Without checks the journal is not searched for answers to them.
    for record in latest_records(study, kinds=(models.ATTENTION,)) if expected else ():
        answers.setdefault((record.item_id, record.annotator), {})[record.question] = record.answer
    met: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for (item, who), given in answers.items():
        met[who] += 1
        passed[who] += all(given.get(q) == a for q, a in expected[item].items())
    return met, passed


# ---------------------------------------------------------------- pay


IDLE_MINUTES = 2
"""A page in front counts for this long after the last sign of a reader; attention.js has the same number."""


@dataclass(frozen=True, slots=True)
class Pay:
    """Time of one member, and what is owed for it; None without a rate."""

    minutes: int
    owed: float | None
    currency: str


def paid_seconds(member: Any) -> float:
    """Return the seconds that count: answers, checks, the qualification round, consent and guideline."""
    return float(member.seconds + member.page_seconds)


def pay_of(member: Any, settings: Any) -> Pay:
    """Return the time and pay of a member."""
    hours = paid_seconds(member) / 3600
    owed = round(hours * settings.rate, 2) if settings.rate is not None else None
    return Pay(round(hours * 60), owed, settings.currency)


def pay_rule(settings: Any) -> str:
    """Return the rule that time is counted by."""
    rule = _(
        "Time counts while a page of the study is on screen: consent, guideline, reading, answering and "
        "checks. It stops %(minutes)s minutes after you last moved the mouse, typed or scrolled."
    ) % {"minutes": IDLE_MINUTES}
    if settings.rate is None:
        return str(rule)
    paid = _("An hour is paid %(rate)s %(currency)s.") % {"rate": f"{settings.rate:,g}", "currency": settings.currency}
    return f"{rule} {paid}"


# ---------------------------------------------------------------- remarks


@dataclass(frozen=True, slots=True)
class ItemFlag:
    """One remark about an item, by pseudonym. `what` is "flagged" or "skipped"."""

    item: str
    text: str
    language: str
    annotator: str
    what: str
    said: str


def flagged_assignments(study: Any) -> Any:
    """Return the assignments that are flagged or skipped, the latest first."""
    said = Q(state=models.SKIPPED) | ~Q(flag="")
    found = models.Assignment.objects.filter(said, item__study=study).select_related("item", "member")
    return found.order_by("-pk")


def item_flags(assignments: Iterable[Any]) -> Iterator[ItemFlag]:
    """Yield the remarks of these assignments: an item may be flagged and then skipped."""
    for held in assignments:
        words = {"flagged": held.flag, "skipped": held.reason if held.state == models.SKIPPED else ""}
        for what, said in words.items():
            if said:
                yield ItemFlag(
                    held.item.item_id,
                    str(held.item.response.get("text", "")),
                    held.item.language,
                    held.member.pseudonym,
                    what,
                    said,
                )
