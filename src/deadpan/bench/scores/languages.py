"""Scores by language: a run of a set in several languages as one run per language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deadpan.bench.runs.folder import BenchRun
from deadpan.errors import DataError
from deadpan.registry import unknown

LANGUAGES = {"en": "English", "ko": "Korean"}


def languages_of(runs: Sequence[BenchRun]) -> list[str]:
    """Return the languages of the items that were asked."""
    return sorted({row.language for run in runs for row in run.rows})


def in_language(run: BenchRun, language: str) -> BenchRun:
    """Return the part of a run that asked items of one language; it is whole if the run is."""
    kept = tuple(row for row in run.rows if row.language == language)
    if not kept:
        raise DataError(f"{run.path}: {unknown('language', language, languages_of([run]))}")
    others = {row.item for row in run.rows if row.language != language}
    items = tuple(item for item in run.plan.items if item not in others)
    size = len(items) + run.plan.set_size - len(run.plan.items)
    expected = None if run.plan.expected is None else len(kept)
    return replace(run, plan=replace(run.plan, items=items, set_size=size, expected=expected), rows=kept)
