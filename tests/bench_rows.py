"""Runs made of rows in memory: what a score is computed from, without asking anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deadpan.bench.items.item import CATEGORIES
from deadpan.bench.runs.folder import AnswerRow, BenchRun, RunPlan


def make_row(item: str, run: int, prediction: str, **changes: Any) -> AnswerRow:
    """A row of an item whose answer is A; the items a1 and a2 are the family a."""
    values = {
        "model": "openai/m", "returned": "m-1", "set": "public", "set_hash": "0" * 64, "item": item,
        "family": item.rstrip("0123456789"), "category": CATEGORIES[0], "language": "en", "run": run,
        "answer": "A", "prediction": prediction, "order": "ABCDEF", "stop_reason": "stop", "max_tokens": 64,
        "escalated": 0, "retries": 0, "calls": 1, "input_tokens": 100, "output_tokens": 5, "cost": 0.0,
        "seconds": 1.0, "error": "", "text": f"Final Answer: {prediction}", "at": "2026-11-15T10:00:00",
    }  # fmt: skip
    values.update(changes)
    return AnswerRow(**{"correct": values["prediction"] == values["answer"], **values})


def make_rows(letters: Mapping[str, str], **changes: Any) -> list[AnswerRow]:
    """Rows by item: "AAB" are the answers of three runs."""
    return [
        make_row(item, run, letter.strip(), **changes)
        for item, given in letters.items()
        for run, letter in enumerate(given, 1)
    ]


def make_run(rows: Sequence[AnswerRow], model: str = "openai/m", path: str = "run", **plan: Any) -> BenchRun:
    """A run with these rows."""
    items = tuple(dict.fromkeys(row.item for row in rows))
    values = {
        "model": model, "set": "public", "set_hash": "0" * 64, "visibility": "public", "items": items,
        "set_size": len(items), "runs": max((row.run for row in rows), default=1), "prompt": "zero-shot/1",
        "prompt_texts": {}, "temperature": 0.0, "top_p": None, "limits": (64,), "seed": 0, "shuffle": False,
    }  # fmt: skip
    return BenchRun(Path(path), RunPlan(**{**values, **plan}), tuple(rows), complete=True)
