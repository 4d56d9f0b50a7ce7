"""Descriptions of several corpora side by side: the comparison table of a paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.datasets import open_source
from deadpan.datasets.dataset import counted
from deadpan.datasets.description import Description, Spread, describe
from deadpan.datasets.reading import Reading
from deadpan.drops import Tally
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.text import plural

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Cell

MOST = 5
"""Values listed per kind."""


@dataclass(frozen=True, slots=True, repr=False)
class Descriptions(Result):
    """A description per corpus, and what was dropped while reading it."""

    corpora: Mapping[str, Description]
    tallies: Mapping[str, Tally] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Descriptions: {', '.join(self.corpora)}>"

    def summary(self) -> Summary:
        """Return the comparison table, lengths by label, and further counts per corpus."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        columns = (
            "corpus",
            "language",
            "source",
            "sarcastic",
            "total",
            "context",
            "explained",
            "labelled by",
        )
        rows = tuple(tuple(facts.row().values()) for facts in self.corpora.values())
        lengths = tuple(
            (name, *_length_row(label, spread))
            for name, facts in self.corpora.items()
            for label, spread in facts.tokens.items()
        )
        quantiles = ("corpus", "label", "n", "mean", "25 %", "median", "75 %", "95 %", "max")
        notes = [f"{name}: {_further(facts)}" for name, facts in self.corpora.items()]
        notes += [note for tally in self.tallies.values() for note in tally.notes()]
        return Summary((Table(columns, rows), Table(quantiles, lengths, "Tokens per response")), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return every description with its drops and changes."""
        none = Tally()
        return {
            name: {**facts.as_dict(), **self.tallies.get(name, none).as_dict()}
            for name, facts in self.corpora.items()
        }


def describe_sources(
    sources: Iterable[str | Path], reading: Reading | None = None, progress: Progress = silent
) -> Descriptions:
    """Describe corpora by name, or tables by path, in one pass over each."""
    corpora, tallies = {}, {}
    for source in sources:
        name = str(source)
        reader = open_source(source, reading)
        examples = counted(reader, f"reading {name}", progress)
        corpora[name] = describe(examples, name=name, platform=reader.release.platform)
        tallies[name] = reader.tally
    return Descriptions(corpora, tallies)


def _length_row(label: str, s: Spread) -> tuple[Cell, ...]:
    word = "sincere" if label == "not" else label
    return (word, s.n, round(s.mean, 1), s.quarter, s.median, s.three_quarters, s.most, s.max)


def _further(facts: Description) -> str:
    parts = [f"{facts.vocabulary:,} distinct tokens", plural(facts.duplicates, "duplicate text")]
    if facts.with_context:
        parts.append(f"{facts.mean_turns:.1f} turns of context on average, at most {facts.max_turns}")
    if facts.groups:
        parts.append(f"{facts.groups:,} groups")
    if facts.sequences.n:
        parts.append(f"{facts.sequences.n:,} sequences")
    for word, counts in (("splits", facts.splits), ("categories", facts.categories)):
        named = {key: count for key, count in counts.items() if key}
        if named:
            parts.append(f"{word} {_list(named)}")
    parts += [f"{word}s {_list(counts)}" for word, counts in facts.topics.items()]
    return "; ".join(parts)


def _list(counts: Mapping[str, int]) -> str:
    shown = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:MOST])
    return shown + (", ..." if len(counts) > MOST else "")
