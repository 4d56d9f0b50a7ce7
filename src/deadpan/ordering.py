"""An order of items for labelling: those whose label teaches a detector most first, with a random control.

The most uncertain items come first, skipping those that repeat one just chosen. Every fifth item is from a
control stratum drawn at random from all items: however far people get, the control items labelled so far are
a random sample, so agreement and prevalence are estimated from them without bias.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.arguments import check_list, check_names, check_whole
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.stats.interval import FloatArray

CONTROL = 0.2
"""Share of items in the control stratum."""

ALIKE = 0.5
"""Share of words in common (Jaccard) above which the second of two texts is put off."""

RECENT = 100
"""Chosen items that a candidate is compared with."""


@dataclass(frozen=True, slots=True)
class Ordering:
    """Item ids in the order of labelling, and those of the control stratum."""

    ids: tuple[str, ...]
    control: tuple[str, ...]


def informative_order(
    ids: Sequence[str],
    texts: Sequence[str],
    scores: Sequence[float],
    *,
    control: float = CONTROL,
    seed: int = 0,
    first: int | None = None,
) -> Ordering:
    """Order items by how much their labels would teach, with a random control stratum in between.

    `scores` are a detector's probabilities of sarcasm. `control` is the share of the control stratum, above
    0 and at most 1; with 1 the order is random. Where only the `first` N matter, the rest is not compared.
    """
    ids, texts = check_names(ids, "ids"), check_names(texts, "texts")
    scores = check_list(scores, "scores")
    if not len(ids) == len(texts) == len(scores):
        raise DataError(f"an order needs a text and a score per item: got {len(ids)}, {len(texts)}, {len(scores)}")
    if len(set(ids)) < len(ids):
        raise DataError("an order needs ids that differ")
    if not isinstance(control, int | float) or not 0 < control <= 1:
        raise ConfigError(f"the control stratum is a share above 0 and at most 1: got {control!r}")
    if first is not None:
        check_whole(first, "first")
    by_chance = sorted(ids, key=lambda name: draw(seed, f"control:{name}"))
    chosen = by_chance[: max(1, round(control * len(ids)))] if ids else []
    held = set(chosen)
    rest = [at for at, name in enumerate(ids) if name not in held]
    teaching = [ids[at] for at in _diverse(rest, texts, _numbers(scores), first)]
    return Ordering(tuple(_interleaved(chosen, teaching, control)), tuple(chosen))


def _numbers(scores: Sequence[float]) -> FloatArray:
    try:
        return np.array(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("scores must be numbers from 0 to 1: pass a detector's probabilities") from None


def _diverse(rows: Sequence[int], texts: Sequence[str], scores: FloatArray, first: int | None) -> list[int]:
    """Return rows by uncertainty; one that repeats a recently chosen text moves behind all others."""
    ranked = sorted(rows, key=lambda at: (abs(scores[at] - 0.5), at))
    kept: list[int] = []
    later: list[int] = []
    recent: deque[frozenset[str]] = deque(maxlen=RECENT)
    for place, at in enumerate(ranked):
        if first is not None and len(kept) >= first:
            kept += ranked[place:]
            break
        words = frozenset(texts[at].lower().split())
        if any(len(words & other) > ALIKE * len(words | other) for other in recent):
            later.append(at)
        else:
            kept.append(at)
            recent.append(words)
    return [*kept, *later]


def _interleaved(control: Sequence[str], teaching: Sequence[str], share: float) -> list[str]:
    """Return both strata mixed so that every beginning of the list has about this share of controls."""
    order: list[str] = []
    ahead, behind = iter(control), iter(teaching)
    given = 0
    for place in range(len(control) + len(teaching)):
        due = given < round((place + 1) * share) and given < len(control)
        name = next(ahead if due else behind, None)
        if name is None:
            name = next(ahead)
            due = True
        given += due
        order.append(name)
    return order
