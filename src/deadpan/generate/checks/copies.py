"""Near-duplicate dialogues: of each other, of an example in the prompt, or of their own source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.duplicates import distinct, identity
from deadpan.generate.draft import Draft
from deadpan.near_pairs import near_pairs, shingles

DUPLICATE, OF_EXAMPLE, OF_SOURCE = "near_duplicate", "copies_example", "copies_source"


def find_copies(
    texts: Sequence[str], examples: Sequence[str], similarity: float
) -> dict[int, tuple[str, int]]:
    """Return the texts to drop, by position: the later of two near-duplicates, or a copy of an example.

    Each comes with its reason and the position of the text it duplicates (-1 for an example). Only
    duplicates of a text that stays are dropped, so that a chain of small edits keeps its ends.
    """
    keys, of_text = distinct([*examples, *texts])
    n_examples = len(examples)
    first: dict[int, int] = {}
    copies: dict[int, tuple[str, int]] = {}
    near = _neighbours(keys, similarity)
    kept: set[int] = set()
    for place, key in enumerate(of_text.tolist()):
        duplicate = key if key in kept else next((k for k in near.get(key, ()) if k in kept), None)
        if place < n_examples:
            kept.add(key)
            first.setdefault(key, -1)
        elif duplicate is None:
            kept.add(key)
            first[key] = place - n_examples
        else:
            copies[place - n_examples] = (OF_EXAMPLE if first[duplicate] < 0 else DUPLICATE, first[duplicate])
    return copies


def _neighbours(keys: Sequence[str], similarity: float) -> dict[int, list[int]]:
    near: dict[int, list[int]] = {}
    for pairs in near_pairs(keys, similarity):
        for one, other in np.stack([pairs.left, pairs.right], axis=1).tolist():
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    return {key: sorted(others) for key, others in near.items()}


def copies_source(draft: Draft, similarity: float) -> bool:
    """Return whether the new dialogue repeats its source: the prompt asks for a new one."""
    made = shingles(identity(draft.text))
    source = shingles(identity("\n".join(turn.text for turn in draft.source)))
    return bool(made and source) and len(made & source) / len(made | source) >= similarity
