"""Judgments as records: each person's latest answers, without those who withdrew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.records import Judgment as Record
from deadpan.studio import models
from deadpan.studio.models import MAIN, WITHDRAWN


def rows(study: Any, kinds: Sequence[str] = (MAIN,), adjudicators: bool = False) -> Any:
    """Return the journal rows of one study, oldest first."""
    found = models.StoredJudgment.objects.filter(study=study, item__kind__in=kinds).exclude(
        member__state=WITHDRAWN
    )
    if adjudicators:
        found = found.filter(source="adjudication")
    else:
        found = found.exclude(source="adjudication")
    return found.order_by("id").select_related(None)


def records(study: Any, kinds: Sequence[str] = (MAIN,), adjudicators: bool = False) -> list[Record]:
    """Return every row as a Judgment, under the person's pseudonym."""
    values = rows(study, kinds, adjudicators).values_list(
        "item__item_id", "member__pseudonym", "question", "answer", "seconds", "created_at"
    )
    return [Record(i, who, q, a, s, at.isoformat()) for i, who, q, a, s, at in values]


def latest_records(study: Any, kinds: Sequence[str] = (MAIN,), adjudicators: bool = False) -> list[Record]:
    """Return each person's latest answer to each question, without cleared ones."""
    latest = {(r.item_id, r.annotator, r.question): r for r in records(study, kinds, adjudicators)}
    return [record for record in latest.values() if record.answer]
