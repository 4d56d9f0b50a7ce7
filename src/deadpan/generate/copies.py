"""Dialogues that are one dialogue: of each other, of an example in the prompt, or of their own source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.duplicates import distinct, identity, near_pairs, shingles
from deadpan.generate.draft import Draft

TWIN, OF_EXAMPLE, OF_SOURCE = "near_duplicate", "copies_example", "copies_source"


def find_copies(
    texts: Sequence[str], examples: Sequence[str], similarity: float
) -> dict[int, tuple[str, int]]:
    """Which texts to drop, by position: the later of two alike, or one that copies an example of the prompt.

    With the reason comes the position of the text it is alike to (-1 for an example). The first of a crowd
    stays, and only texts alike to one that stays are dropped, so that a chain of small edits keeps its ends.
    """
    keys, of_text = distinct([*examples, *texts])
    n_examples = len(examples)
    first: dict[int, int] = {}
    found: dict[int, tuple[str, int]] = {}
    near = _neighbours(keys, similarity)
    kept: set[int] = set()
    for place, key in enumerate(of_text.tolist()):
        twin = key if key in kept else next((k for k in near.get(key, ()) if k in kept), None)
        if place < n_examples:
            kept.add(key)
            first.setdefault(key, -1)
        elif twin is None:
            kept.add(key)
            first[key] = place - n_examples
        else:
            found[place - n_examples] = (OF_EXAMPLE if first[twin] < 0 else TWIN, first[twin])
    return found


def _neighbours(keys: Sequence[str], similarity: float) -> dict[int, list[int]]:
    near: dict[int, list[int]] = {}
    for pairs in near_pairs(keys, similarity):
        for one, other in np.stack([pairs.left, pairs.right], axis=1).tolist():
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    return {key: sorted(others) for key, others in near.items()}


def copies_source(draft: Draft, similarity: float) -> bool:
    """Whether the new dialogue is its source again: the prompt asks for a new one."""
    made = shingles(identity(draft.text))
    source = shingles(identity("\n".join(turn.text for turn in draft.source)))
    return bool(made and source) and len(made & source) / len(made | source) >= similarity
