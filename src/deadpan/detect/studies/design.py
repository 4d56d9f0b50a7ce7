"""Division of examples into training and test parts: their own splits, or folds; copies are kept apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from deadpan.arguments import check_examples, check_flag
from deadpan.detect.seen import without_texts_of
from deadpan.duplicates import without_duplicates
from deadpan.errors import DataError
from deadpan.records import Example
from deadpan.splits import Fold, folds

FOLDS = 5


@dataclass(frozen=True, slots=True, repr=False)
class Design:
    """The folds of a study: every example of `tested` is in the test part of exactly one of them.

    Where the examples come with splits, or in two files, there is one fold, theirs. `duplicates` counts the
    training rows that were excluded because their text is in the test part; `also` and the counts beside it
    describe the additional training data.
    """

    folds: tuple[Fold, ...]
    tested: list[Example]
    published: bool
    duplicates: int
    also: int = 0
    also_duplicates: int = 0
    also_test: int = 0

    def __repr__(self) -> str:
        return f"<Design {self.describe()}, {len(self.tested):,} tested>"

    def describe(self) -> str:
        """Return how the examples were divided, in a few words."""
        return "test split" if self.published else f"{len(self.folds)} folds"

    def notes(self) -> list[str]:
        """Return what was done to the data, one sentence each."""
        lines = []
        if self.published:
            lines.append("Trained on the training part (and dev, if any), tested on the test part.")
        if self.duplicates:
            lines.append(f"Excluded from training because their text is tested: {self.duplicates:,}.")
        if self.also or self.also_duplicates or self.also_test:
            lines.append(
                f"Additional training data: {self.also:,} examples; excluded from it: "
                f"{self.also_duplicates:,} duplicates of the corpus, {self.also_test:,} of a test split."
            )
        return lines

    def as_dict(self) -> dict[str, object]:
        """Return the facts for --json."""
        return {
            "design": self.describe(), "folds": len(self.folds), "n_tested": len(self.tested),
            "training_duplicates_excluded": self.duplicates, "n_also": self.also,
            "duplicates_removed": self.also_duplicates, "also_test_excluded": self.also_test,
        }  # fmt: skip


def published_splits(examples: Sequence[Example]) -> tuple[list[Example], list[Example]] | None:
    """Return the train (with dev) and test parts of a corpus that comes with both, otherwise None."""
    train = [example for example in examples if example.split in ("train", "dev")]
    test = [example for example in examples if example.split == "test"]
    return (train, test) if any(e.split == "train" for e in train) and test else None


def divide(
    examples: Sequence[Example], *, k: int = FOLDS, pool: bool = False, also: Sequence[Example] = ()
) -> Design:
    """Divide labelled examples into training and test parts.

    Published train and test splits are used as they are, unless `pool` asks for folds over all examples.
    Folds cross no group and no sequence, and depend on the ids alone. A training row whose text is also
    in the test part is excluded. `also` is additional training data: its test split is not read, and
    copies or near-copies of the corpus are excluded from it.
    """
    kept = [example for example in check_examples(examples) if example.label is not None]
    if not kept:
        raise DataError("no example has a label: a study needs labelled examples")
    parts = None if check_flag(pool, "pool") else published_splits(kept)
    planned = folds(kept, k, seed=0) if parts is None else [Fold(*parts)]
    more, duplicates, from_test = additional(also, kept)
    clean = tuple(Fold([*without_texts_of(fold.train, fold.test), *more], fold.test) for fold in planned)
    excluded = sum(
        len(before.train) + len(more) - len(after.train) for before, after in zip(planned, clean, strict=True)
    )
    for before, after in zip(planned, clean, strict=True):
        if before.train and not after.train:
            raise DataError(
                f"nothing to train on: each of the {len(before.train):,} training texts is also tested: "
                "give other texts"
            )
    tested = kept if parts is None else parts[1]
    return Design(clean, tested, parts is not None, excluded, len(more), duplicates, from_test)


def additional(also: Sequence[Example], examples: Sequence[Example]) -> tuple[list[Example], int, int]:
    """Return additional training data without duplicates of `examples` and without its own test split.

    The two numbers count the duplicates and the test rows that were excluded.
    """
    candidates = [example for example in also if example.label is not None]
    readable = [example for example in candidates if example.split != "test"]
    kept = without_duplicates(readable, examples).examples
    return _renamed(kept, examples), len(readable) - len(kept), len(candidates) - len(readable)


def _renamed(more: Iterable[Example], examples: Iterable[Example]) -> list[Example]:
    """Return examples with ids of their own: two files may both number their rows from 0."""
    taken = {example.id for example in examples}
    renamed = []
    for example in more:
        name, number = example.id, 1
        while name in taken:
            number += 1
            name = f"{example.id}~{number}"
        taken.add(name)
        renamed.append(example if name == example.id else replace(example, id=name))
    return renamed
