"""How much of a score comes from context (KoCoSa's Table 9), and on which examples (Table 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.detect.context import name_turns
from deadpan.detect.system import Progress, silent
from deadpan.detect.validation import Trial, cross_validate
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.stats import ScoreTable, score_predictions

LENGTHS = (5, 10, 20, 40)
"""Words: the upper ends of the classes of length."""
FEWEST = 10
"""A part with fewer examples is shown with the others: its score would be noise."""
REST = "(fewer than 10 each)"
GROUPINGS = ("topic", "category", "length")


def by_context(
    system: str,
    examples: Sequence[Example],
    contexts: Sequence[int | None],
    *,
    k: int = 5,
    seed: int = 0,
    rule: str | float = 0.5,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> dict[str, Trial]:
    """The same folds with more and more turns before the response."""
    return {
        name_turns(turns): cross_validate(
            system, examples, k=k, seed=seed, rule=rule, progress=progress,
            settings={**(settings or {}), "turns": turns},
        )
        for turns in contexts
    }  # fmt: skip


def by_part(
    examples: Sequence[Example], predictions: Sequence[Prediction], grouping: str, seed: int = 0
) -> dict[str, ScoreTable]:
    """Scores of the parts of a corpus: a topic, a category or a class of length each."""
    if grouping not in GROUPINGS:
        raise ConfigError(f"unknown grouping {grouping!r}: choose from {', '.join(GROUPINGS)}")
    said = {prediction.example_id: prediction for prediction in predictions}
    parts: dict[str, list[Example]] = {}
    labelled = [example for example in examples if example.label is not None]
    for example in labelled:
        for name in _parts_of(example, grouping):
            parts.setdefault(name, []).append(example)
    if set(parts) <= {""}:
        raise ConfigError(f"no example has a {grouping}: use another --by, or a corpus that has one")
    small = [name for name, rows in parts.items() if len(rows) < FEWEST]
    if len(small) > 1:
        parts[REST] = [example for name in small for example in parts.pop(name)]
        parts[REST] = list({example.id: example for example in parts[REST]}.values())
    if grouping == "category":
        # A category is a kind of sarcasm: without examples of the other label there is nothing to tell apart.
        sincere = [example for example in labelled if not example.label]
        parts = {
            name: [*rows, *sincere] if all(e.label for e in rows) else rows for name, rows in parts.items()
        }
    order = (
        sorted(parts)
        if grouping == "length"
        else sorted(parts, key=lambda name: (name == REST, -len(parts[name]), name))
    )
    return {
        name or "(none)": score_predictions(parts[name], [said[e.id] for e in parts[name]], seed=seed)
        for name in order
    }


def _parts_of(example: Example, grouping: str) -> tuple[str, ...]:
    if grouping == "topic":
        meta = example.meta
        return (str(meta.get("topic") or meta.get("subreddit") or meta.get("show") or ""),)
    if grouping == "category":
        return example.categories if example.categories else ()
    words = len(example.response.text.split())
    low = 0
    for high in LENGTHS:
        if words <= high:
            return (f"{low + 1:02d} to {high:02d} words",)
        low = high
    return (f"{low + 1:02d} words and more",)
