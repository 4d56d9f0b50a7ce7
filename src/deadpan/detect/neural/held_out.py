"""The held-out part of the training examples, for early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from deadpan.records import Example
from deadpan.splits import split

FEWEST = 20
"""With fewer examples nothing is held out: a handful is too noisy, and training needs them all."""


def hold_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], list[Example]]:
    """Return the examples to train on and those to hold out; the second is empty where none can be.

    Examples of a dev split are held out if there are any. Otherwise a share is drawn that no group and no
    sequence crosses; nothing is held out if either part would lack a label.
    """
    everything = list(examples)
    if share <= 0 or len(everything) < FEWEST:
        return everything, []
    watched = [example for example in everything if example.split == "dev"]
    kept = [example for example in everything if example.split != "dev"]
    if not watched or not _has_both(kept):
        # Ids may repeat across corpora; the position makes them unique and the draw still follows the seed.
        numbered = [replace(example, id=f"{example.id}\0{at}") for at, example in enumerate(everything)]
        places = {example.id: at for at, example in enumerate(numbered)}
        if _one_cluster(numbered):
            return everything, []
        parts = split(numbered, {"train": 1 - share, "dev": share}, seed)
        kept = [everything[at] for at in sorted(places[e.id] for e in parts["train"])]
        watched = [everything[at] for at in sorted(places[e.id] for e in parts["dev"])]
    return (kept, watched) if _has_both(kept) and _has_both(watched) else (everything, [])


def _has_both(examples: Sequence[Example]) -> bool:
    return {example.label for example in examples} >= {True, False}


def _one_cluster(examples: Sequence[Example]) -> bool:
    return len({example.group or example.id for example in examples}) < 2
