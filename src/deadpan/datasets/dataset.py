"""A corpus in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.drops import Tally
from deadpan.progress import Progress
from deadpan.records import Example
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.datasets.reader import Release
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True, repr=False)
class Dataset(Result):
    """The examples of a corpus, the facts of its release, what was dropped, and the files it is in."""

    name: str
    release: Release
    examples: list[Example]
    tally: Tally
    files: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.examples)

    def __iter__(self) -> Iterator[Example]:
        return iter(self.examples)

    def __getitem__(self, index: int) -> Example:
        return self.examples[index]

    def __repr__(self) -> str:
        counts = self.counts
        labels = ", ".join(f"{n:,} {word}" for word, n in counts.items() if n)
        return f"<Dataset {self.name}: {len(self.examples):,} examples{f' ({labels})' if labels else ''}>"

    @property
    def counts(self) -> dict[str, int]:
        """The number of sarcastic, sincere and unlabelled examples."""
        labels = Counter(example.label for example in self.examples)
        return {"sarcastic": labels[True], "sincere": labels[False], "unlabelled": labels[None]}

    def summary(self) -> Summary:
        """Return the examples by split and label, and what was dropped or changed."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        by_split: dict[str, Counter[bool | None]] = {}
        for example in self.examples:
            by_split.setdefault(example.split, Counter())[example.label] += 1
        rows = tuple(
            (split or "no split", n[True], n[False], n[None], n.total()) for split, n in by_split.items()
        )
        columns = ("split", "sarcastic", "sincere", "unlabelled", "n")
        return Summary((Table(columns, rows, self.name),), self.tally.notes())

    def as_dict(self) -> dict[str, object]:
        """Return the counts; the examples themselves are written by `write_records`."""
        return {"name": self.name, "examples": len(self.examples), **self.counts, **self.tally.as_dict()}


def counted(examples: Iterable[Example], title: str, progress: Progress) -> Iterator[Example]:
    """Yield the examples while reporting how many have passed."""
    done = 0
    for done, example in enumerate(examples, 1):
        yield example
        if not done % 1000:
            progress(title, done, 0)
    progress(title, done, 0)
