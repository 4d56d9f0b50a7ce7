"""Disagreements, kept up to date from the journal: only items with new answers are counted again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from deadpan.studio.models import MAIN, WITHDRAWN, StoredCase, StoredJudgment, StoredStudy
from deadpan.studio.records.studies import lock_study

CHUNK = 200
"""Items counted at a time."""
OVERLAP, SETTLED = 500, timedelta(seconds=10)
"""Entries looked at again, and how long: one that was numbered earlier may be committed later."""


def refresh_cases(study: Any) -> int:
    """Bring the disagreements up to the end of the journal; return how many items were looked at."""
    journal = StoredJudgment.objects.filter(study=study)
    newest = journal.order_by("-id").values_list("id", "created_at").first()
    upto = StoredStudy.objects.filter(pk=study.pk).values_list("cases_upto", flat=True).get()
    if newest is None or newest[0] <= upto:
        return 0
    last = newest[0] if newest[1] < timezone.now() - SETTLED else newest[0] - 1
    changed = set(journal.filter(id__gt=upto - OVERLAP, id__lte=newest[0]).values_list("item_id", flat=True))
    recount_cases(study, changed)
    StoredStudy.objects.filter(pk=study.pk, cases_upto__lt=last).update(cases_upto=last)
    return len(changed)


def recount_cases(study: Any, items: Iterable[int]) -> None:
    """Count the answers of these items again, and store those that differ."""
    from deadpan.studio.records.figures.results import choice_questions

    names = [question.name for question in choice_questions(study)]
    wanted = sorted(items)
    for at in range(0, len(wanted), CHUNK):
        some = wanted[at : at + CHUNK]
        # Counted before the database is locked: people who save meanwhile wait for the writing only.
        state, found = _state(some), _divided(study, some, names)
        if _stored(some) == found:
            continue
        with transaction.atomic():
            # Two who count the same items at the same moment would both store them.
            lock_study(study.pk)
            if _state(some) != state:
                found = _divided(study, some, names)
            StoredCase.objects.filter(study=study, item_id__in=some).delete()
            StoredCase.objects.bulk_create(
                StoredCase(study=study, item_id=item, question=question, **values)
                for (item, question), values in found.items()
            )


def _state(items: list[int]) -> Any:
    """Return what changes whenever an entry about these items is added or erased."""
    return StoredJudgment.objects.filter(item_id__in=items).aggregate(last=Max("id"), n=Count("id"))


def _stored(items: list[int]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the disagreements of these items as they are stored."""
    rows = StoredCase.objects.filter(item_id__in=items).values(
        "item_id", "question", "counts", "share", "decided"
    )
    return {(row.pop("item_id"), row.pop("question")): row for row in rows}


def _divided(study: Any, items: list[int], names: list[str]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the disagreements of these items as the journal has them."""
    latest, decided = _answers(study, items, names)
    counts: dict[tuple[int, str], Counter[str]] = {}
    for (item, question, _), answer in latest.items():
        if answer:
            counts.setdefault((item, question), Counter())[answer] += 1
    return {
        key: {
            "counts": dict(tally.most_common()),
            "share": max(tally.values()) / sum(tally.values()),
            "decided": decided.get(key, ""),
        }
        for key, tally in counts.items()
        if len(tally) > 1
    }


def _answers(
    study: Any, items: list[int], names: list[str]
) -> tuple[dict[tuple[int, str, int], str], dict[tuple[int, str], str]]:
    """Return the latest answer per item, question and member, and the adjudicators' per item and question."""
    rows = (
        StoredJudgment.objects.filter(study=study, item_id__in=items, item__kind=MAIN, question__in=names)
        .exclude(member__state=WITHDRAWN)
        .order_by("id")
        .values_list("item_id", "question", "member_id", "answer", "source")
    )
    latest: dict[tuple[int, str, int], str] = {}
    decided: dict[tuple[int, str], str] = {}
    for item, question, member, answer, source in rows:
        if source == "adjudication":
            decided[item, question] = answer
        else:
            latest[item, question, member] = answer
    return latest, decided
