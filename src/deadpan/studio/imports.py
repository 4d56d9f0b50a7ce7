"""Labels made elsewhere, added to the journal under the names they come with."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import transaction
from django.db.models import F

from deadpan.drops import Tally
from deadpan.records import Judgment
from deadpan.studio import models
from deadpan.studio.creation import protocol_of
from deadpan.studio.models import ACTIVE, ANNOTATOR, DONE, Assignment, Event, Item, Member, Person


def import_judgments(study: Any, found: Sequence[Judgment], actor: str) -> tuple[int, Tally]:
    """Add what fits the study; how many rows, and what did not fit and why. Twice adds nothing new."""
    tally = Tally()
    items = {item.item_id: item for item in Item.objects.filter(study=study)}
    questions = {question.name: question for question in protocol_of(study).questions(study.settings)}
    rows = []
    with transaction.atomic():
        members: dict[str, Any] = {}
        for number, record in enumerate(found, 1):
            reason = _misfit(record, items, questions)
            if reason:
                tally.drop(
                    reason, f"row {number}", f"{record.item_id} {record.question} {record.answer[:40]}"
                )
                continue
            if record.annotator not in members:
                members[record.annotator] = _member(study, record.annotator)
            rows.append(_row(study, items[record.item_id], members[record.annotator], record))
        before = models.Judgment.objects.filter(study=study).count()
        models.Judgment.objects.bulk_create(rows, ignore_conflicts=True, batch_size=500)
        added = models.Judgment.objects.filter(study=study).count() - before
        for member in members.values():
            _mark_done(study, member)
        Event.objects.create(study=study, actor=actor, what="import", detail={"rows": added})
    tally.change("already_there", len(rows) - added)
    return added, tally


def _misfit(record: Judgment, items: dict[str, Any], questions: dict[str, Any]) -> str:
    if record.item_id not in items:
        return "unknown_item"
    if record.question not in questions:
        return "unknown_question"
    question = questions[record.question]
    if question.choices and record.answer not in [choice.value for choice in question.choices]:
        return "not_an_answer"
    try:
        datetime.fromisoformat(record.created_at)
    except ValueError:
        return "time_not_readable"
    return "" if record.annotator.strip() else "no_annotator"


def _member(study: Any, annotator: str) -> Any:
    """Somebody who cannot log in, under a pseudonym that is the same each time for the same name."""
    known = hashlib.sha256(f"{study.pk}\x1f{annotator}".encode()).hexdigest()
    person, _ = Person.objects.get_or_create(
        name=f"imported-{known[:24]}", defaults={"password": "!imported"}
    )
    member, _ = Member.objects.get_or_create(
        study=study,
        person=person,
        defaults={"role": ANNOTATOR, "state": ACTIVE, "pseudonym": f"i{known[:8]}"},
    )
    return member


def _row(study: Any, item: Any, member: Any, record: Judgment) -> Any:
    at = datetime.fromisoformat(record.created_at)
    words = "\x1f".join((record.item_id, record.question, record.answer, record.created_at))
    return models.Judgment(
        study=study,
        item=item,
        member=member,
        question=record.question,
        answer=record.answer,
        seconds=max(0.0, record.seconds),
        key=f"import:{hashlib.sha256(words.encode()).hexdigest()[:40]}",
        source="import",
        created_at=at if at.tzinfo else at.replace(tzinfo=UTC),
    )


def _mark_done(study: Any, member: Any) -> None:
    """Their items count as judged, so that nobody more than wanted is asked."""
    judged = models.Judgment.objects.filter(member=member).values_list("item_id", flat=True).distinct()
    have = set(Assignment.objects.filter(member=member).values_list("item_id", flat=True))
    number = len(have)
    for pk in sorted(set(judged) - have):
        number += 1
        Assignment.objects.create(item_id=pk, member=member, number=number, state=DONE)
        Item.objects.filter(pk=pk).update(taken=F("taken") + 1)
