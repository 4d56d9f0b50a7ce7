"""The append-only journal: saves and undo, and its rows as records. The latest answer counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.judgments import Submission
from deadpan.records import Judgment as Record
from deadpan.studio import models
from deadpan.studio.protocols.protocol import Question
from deadpan.studio.records.studies import screen_of

# The column holds 80: an undo stores the key behind "undo:".
_LONGEST_KEY = 64
# Rows of a person in which an undo looks for the last save; a save has a row per question.
_UNDO_WITHIN = 200
_HISTORY = ("question", "answer", "key")
MEMBER_COUNTERS = {models.MAIN: "done", models.QUALIFICATION: "round_done", models.ATTENTION: "checks"}
"""The member's counter of finished items of each kind."""


@dataclass(frozen=True, slots=True)
class Saved:
    """The result of a save: current answers, whether the item is complete, whether the save was new."""

    answers: dict[str, str]
    complete: bool
    new: bool


def option_order(assignment: Any) -> str:
    """Return the key of the order of options: person and item, so that it is the same on every visit."""
    return f"{assignment.member_id}:{assignment.item_id}"


def questions_of(assignment: Any, study: Any) -> Sequence[Question]:
    """Return the questions this item asks this person."""
    return screen_of(assignment.item, study, option_order(assignment)).questions


def current_answers(member_id: int, item_pk: int) -> dict[str, str]:
    """Return the current answers: the last row of each question, without cleared ones."""
    # A later row of the same question replaces an earlier one in the dict: rows come oldest first.
    latest = dict(_rows(member_id, item_pk).values_list("question", "answer"))
    return {question: answer for question, answer in latest.items() if answer}


def _rows(member_id: int, item_pk: int) -> Any:
    """Return one person's rows of one item, oldest first."""
    return models.StoredJudgment.objects.filter(member_id=member_id, item_id=item_pk).order_by("id")


def is_complete(questions: Sequence[Question], answers: Mapping[str, str]) -> bool:
    """Return whether every required question is answered."""
    return all(answers.get(q.name) for q in questions if q.required and q.asked(answers))


def save_answers(
    assignment: Any,
    study: Any,
    answers: Mapping[str, str],
    *,
    seconds: float,
    key: str,
    now: datetime,
    ago: float = 0.0,
) -> Saved:
    """Add answers to the journal. A repeated key adds nothing and gets the same result.

    `seconds` of work ended `ago` seconds before now: an answer that was kept on the device arrives later.
    """
    if not key or len(key) > _LONGEST_KEY:
        raise DataError("a save needs a key of 1 to 64 characters")
    questions = questions_of(assignment, study)
    try:
        with transaction.atomic():
            _lock(assignment)
            # One query for the whole history of the item: people wait for a save.
            past = list(_rows(assignment.member_id, assignment.item.pk).values_list(*_HISTORY))
            if any(row[2] == key for row in past):
                return _already_saved(assignment, questions)
            before = {question: answer for question, answer, _ in past}
            rows, after = _rows_for(questions, {q: a for q, a in before.items() if a}, answers)
            spent, columns = counted_time(assignment.member_id, seconds, now, ago)
            _write(assignment, study, rows, spent, key, now)
            complete = is_complete(questions, after)
            _touch(assignment, complete, now, spent, columns)
    except IntegrityError:  # the same key from another thread at the same moment: it is saved
        return _already_saved(assignment, questions)
    return Saved(after, complete, True)


def _lock(assignment: Any) -> None:
    """Lock the assignment, so that of two simultaneous saves the later sees the earlier.

    In SQLite writing transactions wait for each other anyway.
    """
    held = models.Assignment.objects.filter(pk=assignment.pk)
    if connection.features.has_select_for_update:
        held = held.select_for_update(no_key=True)
    assignment.state = held.values_list("state", flat=True).get()


def _already_saved(assignment: Any, questions: Sequence[Question]) -> Saved:
    answers = current_answers(assignment.member_id, assignment.item.pk)
    return Saved(answers, is_complete(questions, answers), False)


def _rows_for(
    questions: Sequence[Question], before: Mapping[str, str], given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the rows to add and the answers after them. Answers that no longer apply are cleared."""
    known = {question.name: question for question in questions}
    merged = {**before, **given}
    for name, value in given.items():
        if name not in known:
            raise DataError(f"unknown question {name[:40]!r}")
        if not known[name].asked(merged) and value:
            raise DataError(f"{name} is not asked here")
        if not known[name].allows(value, merged):
            raise DataError(f"{value[:40]!r} is not an answer to {name}")
    rows = dict(given)
    for name, question in known.items():
        # A question may depend on another: changing "sarcasm" to "abnormal" makes "kind" meaningless.
        stale = not question.asked(merged) or not question.allows(merged.get(name, ""), merged)
        if merged.get(name) and stale:
            rows[name] = ""
            merged[name] = ""
    return rows, {name: value for name, value in merged.items() if value}


def counted_time(member_id: int, claimed: float, now: datetime, ago: float = 0.0) -> tuple[float, dict[str, Any]]:
    """Return the seconds of a claim that count, and the changes to the member's columns that say so.

    A claim reaches back from `ago` seconds before now to what is counted already, or to the moment the person
    joined: nobody's total exceeds the time that has passed, and claims that overlap count once.
    """
    if not 0 < claimed < float("inf"):
        return 0.0, {}
    held = models.Member.objects.filter(pk=member_id)
    if connection.features.has_select_for_update:
        held = held.select_for_update(no_key=True)
    joined, until = held.values_list("joined_at", "counted_until").get()
    # An earlier end than this cannot be claimed, so the limit costs nobody anything.
    end = now - timedelta(seconds=min(max(ago, 0.0), 10.0**8) if math.isfinite(ago) else 0.0)
    counted = max(0.0, min(claimed, (end - (until or joined)).total_seconds()))
    columns: dict[str, Any] = {"claimed_seconds": F("claimed_seconds") + round(min(claimed, 10.0**8), 3)}
    return counted, {**columns, "counted_until": end} if counted else columns


def _write(
    assignment: Any, study: Any, rows: Mapping[str, str], seconds: float, key: str, now: datetime, source: str = "web"
) -> None:
    # The time of a save is spread over its rows, so that the sum of all rows is the time worked.
    share = seconds / len(rows) if rows else 0.0
    models.StoredJudgment.objects.bulk_create(
        models.StoredJudgment(
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


def _touch(
    assignment: Any, complete: bool, now: datetime, seconds: float = 0.0, columns: Mapping[str, Any] | None = None
) -> None:
    """Record work on the item and add it up; one that was returned to the pool is assigned again."""
    before, after = assignment.state, models.DONE if complete else models.OPEN
    # +1 when the item is finished now, -1 when an answer it needs was cleared, 0 otherwise.
    step = (after == models.DONE) - (before == models.DONE)
    item = {}
    if before in (models.RETURNED, models.SKIPPED):
        item["taken"] = F("taken") + 1
    if step:
        item["finished"] = F("finished") + step
    if item:
        models.StoredItem.objects.filter(pk=assignment.item.pk).update(**item)
    mine: dict[str, Any] = {**(columns or {}), **({"seconds": F("seconds") + round(seconds, 3)} if seconds else {})}
    if step:
        counter = MEMBER_COUNTERS[assignment.item.kind]
        mine[counter] = F(counter) + step
    if mine:
        models.Member.objects.filter(pk=assignment.member_id).update(**mine)
    assignment.state, assignment.touched_at = after, now
    models.Assignment.objects.filter(pk=assignment.pk).update(state=after, touched_at=now)


def undo_last_save(member: Any, study: Any, now: datetime) -> Any:
    """Undo the last save by adding rows, and return its assignment, or None."""
    try:
        return _undo(member, study, now)
    except IntegrityError:  # pressed twice at the same moment: it is undone, once
        rows = models.StoredJudgment.objects.filter(member=member, source="undo").order_by("-id")
        return models.Assignment.objects.filter(member=member, item__judgments__in=rows[:1]).first()


def _undo(member: Any, study: Any, now: datetime) -> Any:
    with transaction.atomic():
        rows = list(models.StoredJudgment.objects.filter(member=member).order_by("-id")[:_UNDO_WITHIN])
        undone = {row.key.removeprefix("undo:") for row in rows if row.source == "undo"}
        last = next((row for row in rows if row.source == "web" and row.key not in undone), None)
        if last is None:
            return None
        assignment = models.Assignment.objects.select_related("item").get(member=member, item_id=last.item_id)
        _lock(assignment)
        batch = models.StoredJudgment.objects.filter(member=member, key=last.key)
        # Everything before the first row of that save is what the answers were before it.
        first = min(row.pk for row in batch)
        earlier = dict(
            models.StoredJudgment.objects.filter(member=member, item_id=last.item_id, pk__lt=first)
            .order_by("id")
            .values_list("question", "answer")
        )
        back = {row.question: earlier.get(row.question, "") for row in batch}
        _write(assignment, study, back, 0.0, f"undo:{last.key}", now, "undo")
        answers = current_answers(member.pk, assignment.item.pk)
        _touch(assignment, is_complete(questions_of(assignment, study), answers), now)
    return assignment


# ---------------------------------------------------------------- judgments as records


def journal_rows(
    study: Any, kinds: Sequence[str] = (models.MAIN,), adjudicators: bool = False, first: int | None = None
) -> Any:
    """Return the journal rows of one study, oldest first; of its `first` items only where that is given."""
    found = models.StoredJudgment.objects.filter(study=study, item__kind__in=kinds).exclude(
        member__state=models.WITHDRAWN
    )
    if adjudicators:
        found = found.filter(source="adjudication")
    else:
        found = found.exclude(source="adjudication")
    if first is not None:
        found = found.filter(item__position__lt=first)
    return found.order_by("id").select_related(None)


def journal_records(study: Any, kinds: Sequence[str] = (models.MAIN,), **which: Any) -> list[Record]:
    """Return every row as a Judgment, under the person's pseudonym; `which` rows as in `journal_rows`."""
    values = journal_rows(study, kinds, **which).values_list(
        "item__item_id", "member__pseudonym", "question", "answer", "seconds", "created_at"
    )
    return [Record(i, who, q, a, s, at.isoformat()) for i, who, q, a, s, at in values]


def latest_records(study: Any, kinds: Sequence[str] = (models.MAIN,), **which: Any) -> list[Record]:
    """Return each person's latest answer to each question, without cleared ones."""
    # Rows come oldest first, so the last of each key stays.
    latest = {(r.item_id, r.annotator, r.question): r for r in journal_records(study, kinds, **which)}
    return [record for record in latest.values() if record.answer]


# ---------------------------------------------------------------- submissions


def _submissions(study: Any) -> Any:
    """Return the submissions of people who have not withdrawn, oldest first."""
    return study.submissions.exclude(member__state=models.WITHDRAWN).select_related("member").order_by("id")


def accepted_submissions(study: Any) -> list[Submission]:
    """Return the submissions that break no rule."""
    return [
        Submission(f"{study.slug}-{row.pk}", row.member.pseudonym, row.answers, row.seconds, row.created_at.isoformat())
        for row in _submissions(study)
        if not row.reasons
    ]


def rejected_submissions(study: Any) -> list[tuple[int, list[str]]]:
    """Return the number and the reasons of each submission that is not used."""
    return [(row.pk, row.reasons) for row in _submissions(study) if row.reasons]


def tally_submissions(study: Any, tally: Tally) -> None:
    """Count every submission that is not used, under its first reason, and every withdrawal."""
    for pk, reasons in rejected_submissions(study):
        tally.drop(reasons[0], f"submission {pk}")
    withdrawn = sum(study.tombstones.values_list("submissions", flat=True))
    if withdrawn:
        tally.drops["withdrawn"] += withdrawn
