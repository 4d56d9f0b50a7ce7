"""Hashes of the texts a model was trained on, so that it is never tested on them unnoticed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.keys import Keys, text_keys
from deadpan.records import Example
from deadpan.storage import atomic
from deadpan.text import fold

NAME = "seen.npy"


@dataclass(frozen=True, slots=True, eq=False)
class SeenTexts:
    """A set of texts as sorted hashes; case and punctuation do not count."""

    hashes: Keys

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Self:
        """Return the set of these examples' responses."""
        return cls(np.unique(text_hashes(examples)))

    def __len__(self) -> int:
        return len(self.hashes)

    def __repr__(self) -> str:
        return f"SeenTexts({len(self):,} texts)"

    def contain(self, examples: Sequence[Example]) -> NDArray[np.bool_]:
        """Return a mask of the examples whose response is in the set."""
        return np.isin(text_hashes(examples), self.hashes)

    def write(self, folder: Path) -> None:
        """Write the hashes into a model folder."""
        with atomic(folder / NAME) as temporary, temporary.open("wb") as file:
            np.save(file, self.hashes, allow_pickle=False)

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Read the hashes of a model folder; None where an old model has none."""
        path = folder / NAME
        return cls(np.load(path, allow_pickle=False)) if path.is_file() else None


def text_hashes(examples: Sequence[Example]) -> Keys:
    """Return one hash per response, equal for texts that differ in case or punctuation only."""
    # Texts of a megabyte differ in their first thousand characters, or they are copies.
    return text_keys([(fold(e.response.text) or e.response.text)[:1000] for e in examples])


def without_texts_of(train: Sequence[Example], test: Sequence[Example]) -> list[Example]:
    """Return the training examples whose text is not among the test examples."""
    shared = SeenTexts.of(test).contain(train)
    return [example for example, is_shared in zip(train, shared, strict=True) if not is_shared]
