"""The journal of judgments: saved once, never changed. What counts is the last word on each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from deadpan.errors import DataError
from deadpan.studio.creation import protocol_of
from deadpan.studio.models import DONE, OPEN, RETURNED, Assignment, Item, Judgment
from deadpan.studio.protocols.protocol import Question

LONGEST_KEY = 64
LOOK_BACK = 200
PAST = ("question", "answer", "seconds", "key")


@dataclass(frozen=True, slots=True)
class Saved:
    """What a save came to: the answers that now count, whether the item is finished, whether it was new."""

    answers: dict[str, str]
    complete: bool
    new: bool


def order_for(assignment: Any) -> str:
    """What the order of options depends on: the person and the item, so it never changes under their eyes."""
    return f"{assignment.member_id}:{assignment.item_id}"


def questions_of(assignment: Any, study: Any) -> Sequence[Question]:
    """What this item asks this person."""
    screen = protocol_of(study).screen(assignment.item, study.settings, order_for(assignment))
    return screen.questions


def current(member_id: int, item_pk: int) -> dict[str, str]:
    """The answers that count: the last row of each question, taken-back ones left out."""
    latest = dict(_rows(member_id, item_pk).values_list("question", "answer"))
    return {question: answer for question, answer in latest.items() if answer}


def _rows(member_id: int, item_pk: int) -> Any:
    """One person's journal of one item, oldest first."""
    return Judgment.objects.filter(member_id=member_id, item_id=item_pk).order_by("id")


def is_complete(questions: Sequence[Question], answers: Mapping[str, str]) -> bool:
    """Whether everything required is answered."""
    return all(answers.get(q.name) for q in questions if q.required and q.asked(answers))


def save(
    assignment: Any, study: Any, answers: Mapping[str, str], *, seconds: float, key: str, now: datetime
) -> Saved:
    """Add answers to the journal. The same key again changes nothing and is answered like the first time."""
    if not key or len(key) > LONGEST_KEY:
        raise DataError("a save needs a key of 1 to 64 characters")
    questions = questions_of(assignment, study)
    try:
        with transaction.atomic():
            _hold(assignment)
            # One query for all that is known of this item: a save is what people wait for.
            past = list(_rows(assignment.member_id, assignment.item.pk).values_list(*PAST))
            if any(row[3] == key for row in past):
                return _as_it_is(assignment, questions)
            before = {question: answer for question, answer, _, _ in past}
            rows, after = _rows_for(questions, {q: a for q, a in before.items() if a}, answers)
            spent = sum(row[2] for row in past)
            _write(assignment, study, rows, _credible(seconds, spent, assignment, now), key, now)
            complete = is_complete(questions, after)
            _touch(assignment, complete, now)
    except IntegrityError:  # the same key, at the same moment, from another thread: it is saved
        return _as_it_is(assignment, questions)
    return Saved(after, complete, True)


def _hold(assignment: Any) -> None:
    """Let two answers that arrive at the same moment wait for each other: the later sees the earlier.

    In SQLite one transaction that writes waits for the other anyway.
    """
    if connection.features.has_select_for_update:
        held = Assignment.objects.select_for_update().filter(pk=assignment.pk)
        assignment.state = held.values_list("state", flat=True).get()


def _as_it_is(assignment: Any, questions: Sequence[Question]) -> Saved:
    answers = current(assignment.member_id, assignment.item.pk)
    return Saved(answers, is_complete(questions, answers), False)


def _rows_for(
    questions: Sequence[Question], before: Mapping[str, str], given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The rows to add and the answers that then count. What no longer applies is taken back with it."""
    known = {question.name: question for question in questions}
    merged = {**before, **given}
    for name, value in given.items():
        if name not in known:
            raise DataError(f"unknown question {name[:40]!r}")
        if not known[name].asked(merged) and value:
            raise DataError(f"{name} is not asked here")
        if not known[name].allows(value, merged):
            raise DataError(f"{value[:40]!r} is no answer to {name}")
    rows = dict(given)
    for name, question in known.items():
        stale = not question.asked(merged) or not question.allows(merged.get(name, ""), merged)
        if merged.get(name) and stale:
            rows[name] = ""
            merged[name] = ""
    return rows, {name: value for name, value in merged.items() if value}


def _credible(seconds: float, spent: float, assignment: Any, now: datetime) -> float:
    """Seconds at work as the browser counted them, never more than have passed since it was given."""
    told = seconds if 0 < seconds < float("inf") else 0.0
    left = float((now - assignment.given_at).total_seconds()) - spent
    return max(0.0, min(told, left))


def _write(
    assignment: Any,
    study: Any,
    rows: Mapping[str, str],
    seconds: float,
    key: str,
    now: datetime,
    source: str = "web",
) -> None:
    share = seconds / len(rows) if rows else 0.0
    Judgment.objects.bulk_create(
        Judgment(
            study_id=study.pk,
            item_id=assignment.item.pk,
            member_id=assignment.member_id,
            question=question,
            answer=answer,
            seconds=round(share, 3),
            key=key,
            source=source,
            created_at=now,
        )
        for question, answer in rows.items()
    )


def _touch(assignment: Any, complete: bool, now: datetime) -> None:
    """Note that the item was worked on; one that had gone back to the pool is in these hands again."""
    if assignment.state == RETURNED:
        Item.objects.filter(pk=assignment.item.pk).update(taken=F("taken") + 1)
    assignment.state = DONE if complete else OPEN
    assignment.touched_at = now
    Assignment.objects.filter(pk=assignment.pk).update(state=assignment.state, touched_at=now)


def undo(member: Any, study: Any, now: datetime) -> Any:
    """Put back what the last save changed, by adding rows; the assignment it was about, or None."""
    with transaction.atomic():
        rows = list(Judgment.objects.filter(member=member).order_by("-id")[:LOOK_BACK])
        undone = {row.key.removeprefix("undo:") for row in rows if row.source == "undo"}
        last = next((row for row in rows if row.source == "web" and row.key not in undone), None)
        if last is None:
            return None
        assignment = Assignment.objects.select_related("item").get(member=member, item_id=last.item_id)
        batch = Judgment.objects.filter(member=member, key=last.key)
        first = min(row.pk for row in batch)
        earlier = dict(
            Judgment.objects.filter(member=member, item_id=last.item_id, pk__lt=first)
            .order_by("id")
            .values_list("question", "answer")
        )
        back = {row.question: earlier.get(row.question, "") for row in batch}
        _write(assignment, study, back, 0.0, f"undo:{last.key}", now, "undo")
        answers = current(member.pk, assignment.item.pk)
        _touch(assignment, is_complete(questions_of(assignment, study), answers), now)
    return assignment
