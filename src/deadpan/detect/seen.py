"""Which texts a model learnt from, as hashes: so that nobody is tested on what they were taught."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deadpan.detect.keys import text_keys
from deadpan.records import Example
from deadpan.storage import atomic
from deadpan.text import fold

NAME = "seen.npy"


def write_seen(folder: Path, examples: Sequence[Example]) -> None:
    """Keep a hash of every labelled text, case and punctuation taken out."""
    keys = np.unique(text_keys([_key(e) for e in examples if e.label is not None]))
    with atomic(folder / NAME) as temporary, temporary.open("wb") as file:
        np.save(file, keys, allow_pickle=False)


def unseen(folder: Path, examples: Sequence[Example]) -> list[Example]:
    """The examples whose text the model in a folder did not learn from; all where that is not known."""
    path = folder / NAME
    if not path.is_file():
        return list(examples)
    known = np.isin(text_keys([_key(e) for e in examples]), np.load(path, allow_pickle=False))
    return [example for example, seen in zip(examples, known, strict=True) if not seen]


def _key(example: Example) -> str:
    # Texts of a megabyte differ in their first thousand characters, or they are copies.
    return (fold(example.response.text) or example.response.text)[:1000]
