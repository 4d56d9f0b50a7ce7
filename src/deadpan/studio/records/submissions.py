"""Submissions to a survey: those that are used, and the reasons of those that are not."""

from __future__ import annotations

from typing import Any

from deadpan.drops import Tally
from deadpan.formats.export import Submission
from deadpan.studio.models import WITHDRAWN


def _rows(study: Any) -> Any:
    """Return the submissions of people who have not withdrawn, oldest first."""
    return study.submissions.exclude(member__state=WITHDRAWN).select_related("member").order_by("id")


def accepted_submissions(study: Any) -> list[Submission]:
    """Return the submissions that break no rule."""
    return [
        Submission(
            f"{study.slug}-{row.pk}",
            row.member.pseudonym,
            row.answers,
            row.seconds,
            row.created_at.isoformat(),
        )
        for row in _rows(study)
        if not row.reasons
    ]


def rejected_submissions(study: Any) -> list[tuple[int, list[str]]]:
    """Return the number and the reasons of each submission that is not used."""
    return [(row.pk, row.reasons) for row in _rows(study) if row.reasons]


def tally_submissions(study: Any, tally: Tally) -> None:
    """Count every submission that is not used, under its first reason, and every withdrawal."""
    for pk, reasons in rejected_submissions(study):
        tally.drop(reasons[0], f"submission {pk}")
    # Tombstones of earlier versions do not say how much was erased.
    withdrawn = sum(max(1, n) for n in study.tombstones.values_list("submissions", flat=True))
    if withdrawn:
        tally.drops["withdrawn"] += withdrawn
