"""Corpora listed, and described in numbers from one pass: what the data section of a paper gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.arguments import check_text, iter_examples
from deadpan.datasets import READERS, open_source, with_progress
from deadpan.datasets.reading import Reading
from deadpan.drops import Tally
from deadpan.duplicates import identity
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.text import plural, social_tokens
from deadpan.validation import encode

if TYPE_CHECKING:
    from deadpan.datasets.reader import Release
    from deadpan.page.summary import Summary
    from deadpan.page.table import Cell


@dataclass(frozen=True, slots=True, repr=False)
class DatasetList(Result):
    """The registered corpora: name -> release."""

    releases: dict[str, Release]

    def __repr__(self) -> str:
        return f"<DatasetList: {len(self.releases)} corpora>"

    def summary(self) -> Summary:
        """Return one row per corpus."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((name, r.title, r.language, r.label_kind) for name, r in self.releases.items())
        columns = ("name", "title", "lang", "labels")
        note = "Platform, publication, licence and files of each: deadpan datasets list --json"
        return Summary((Table(columns, rows),), (note,))

    def as_dict(self) -> dict[str, object]:
        """Return the facts of every release."""
        return {
            "datasets": [
                {
                    "name": name,
                    "title": r.title,
                    "language": r.language,
                    "platform": r.platform,
                    "label_kind": r.label_kind,
                    "context": r.context,
                    "explanation": r.explanation,
                    "licence": r.licence,
                    "url": r.url,
                    "citation": r.citation,
                    "files": [file.names[0] for file in r.files],
                }
                for name, r in self.releases.items()
            ]
        }


def list_datasets() -> DatasetList:
    """Return the corpora that deadpan and installed packages can read."""
    return DatasetList({name: READERS.load(name).release for name in READERS})


# Values listed per kind.
_VALUES_LISTED = 5


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

        columns = ("corpus", "language", "source", "sarcastic", "total", "context", "explained", "labelled by")
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
            name: {**facts.as_dict(), **self.tallies.get(name, none).as_dict()} for name, facts in self.corpora.items()
        }


def describe_sources(
    sources: Iterable[str | Path], reading: Reading | None = None, progress: Progress = silent
) -> Descriptions:
    """Describe corpora by name, or tables by path, in one pass over each."""
    corpora, tallies = {}, {}
    for source in sources:
        name = str(source)
        reader = open_source(source, reading)
        examples = with_progress(reader, f"reading {name}", progress)
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
    shown = ", ".join(f"{name} {count:,}" for name, count in list(counts.items())[:_VALUES_LISTED])
    return shown + (", ..." if len(counts) > _VALUES_LISTED else "")


# Fields of `meta` with the topic or origin of a text.
_TOPIC_FIELDS = ("subreddit", "topic", "show", "dialect", "domain")

# Topics shown.
_TOPICS_KEPT = 10


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and quantiles of some counts; quantiles are values that occur (nearest rank)."""

    n: int
    mean: float
    quarter: int
    median: int
    three_quarters: int
    most: int
    """The 95 % quantile."""
    max: int


@dataclass(frozen=True, slots=True)
class Sequences:
    """Sequences (responses to one context) by size, and their mean share of sarcastic responses."""

    n: int
    sizes: Mapping[int, int]
    sarcastic_share: float | None


@dataclass(frozen=True, slots=True)
class Description(Result):
    """A corpus in numbers. Lengths are by label: "sarcastic", "not", "unlabelled".

    `share` is the share of sarcastic among labelled examples; `duplicates` repeat the text of an earlier one.
    """

    name: str
    platform: str
    n: int
    sarcastic: int
    not_sarcastic: int
    unlabelled: int
    share: float | None
    label_kinds: Mapping[str, int]
    languages: Mapping[str, int]
    sources: Mapping[str, int]
    splits: Mapping[str, int]
    with_context: int
    mean_turns: float
    max_turns: int
    with_explanation: int
    with_rephrase: int
    categories: Mapping[str, int]
    sequences: Sequences
    groups: int
    characters: Mapping[str, Spread]
    tokens: Mapping[str, Spread]
    vocabulary: int
    duplicates: int
    topics: Mapping[str, Mapping[str, int]]

    def row(self) -> dict[str, Any]:
        """Return the row of the comparison tables in papers."""
        return {
            "name": self.name,
            "language": ", ".join(self.languages),
            "source": self.platform,
            "sarcastic": self.sarcastic,
            "total": self.n,
            "context": self.with_context > 0,
            "explanation": self.with_explanation > 0,
            "label": ", ".join(kind for kind in self.label_kinds if kind),
        }

    def summary(self) -> Summary:
        """Return the comparison table of one corpus."""

        return Descriptions({self.name: self}).summary()

    def as_dict(self) -> dict[str, Any]:
        """Return all counts; sizes of sequences are strings, since JSON has no numbers as keys."""
        plain: dict[str, Any] = encode(self)
        sizes = {str(size): count for size, count in self.sequences.sizes.items()}
        plain["sequences"] = {**plain["sequences"], "sizes": sizes}
        return plain


def describe(examples: Iterable[Example], *, name: str = "", platform: str = "") -> Description:
    """Count what a corpus is made of: labels, splits, turns, lengths, sequences, topics, duplicates.

    `examples` may be a stream: they are read once, and only counts and distinct tokens are kept.

    >>> from deadpan import describe, read_dataset
    >>> describe(read_dataset("starter-en")).sarcastic
    340
    """
    check_text(name, "name")
    check_text(platform, "platform")
    counts = _Counts()
    for example in iter_examples(examples):
        counts.add(example)
    return counts.description(name, platform)


# Label, its kind, language, source, split, turns, explained, rephrased.
_Facts = tuple[bool | None, str, str, str, str, int, bool, bool]


@dataclass(slots=True)
class _Counts:
    """Counts of one pass. Lengths are histograms, so their quantiles are exact."""

    facts: Counter[_Facts] = field(default_factory=Counter)
    categories: Counter[str] = field(default_factory=Counter)
    sequences: dict[str, list[int]] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)
    characters: Counter[tuple[bool | None, int]] = field(default_factory=Counter)
    tokens: Counter[tuple[bool | None, int]] = field(default_factory=Counter)
    vocabulary: set[str] = field(default_factory=set)
    texts: set[int] = field(default_factory=set)
    topics: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, example: Example) -> None:
        text, label = example.response.text, example.label
        tokens = social_tokens(text.lower())
        self.facts[
            label,
            example.label_kind,
            example.language,
            example.source,
            example.split,
            len(example.context),
            bool(example.explanation),
            bool(example.rephrase),
        ] += 1
        self.categories.update(example.categories)
        self.characters[label, len(text)] += 1
        self.tokens[label, len(tokens)] += 1
        self.vocabulary.update(tokens)
        self.texts.add(hash(identity(text)))  # a hash instead of the text: a tenth of the memory
        if example.group:
            self.groups.add(example.group)
        if example.sequence:
            self._add_to_sequence(example)
        if example.meta:
            self._add_topics(example.meta)

    def _add_topics(self, meta: Mapping[str, Any]) -> None:
        for key in _TOPIC_FIELDS:
            value = meta.get(key)
            if isinstance(value, str) and value:
                self.topics.setdefault(key, Counter())[value] += 1

    def _add_to_sequence(self, example: Example) -> None:
        size, labelled, sarcastic = self.sequences.get(example.sequence, (0, 0, 0))
        self.sequences[example.sequence] = [
            size + 1,
            labelled + (example.label is not None),
            sarcastic + bool(example.label),
        ]

    def description(self, name: str, platform: str) -> Description:
        """Return the counts as they are reported."""
        n = self.facts.total()
        labels, kinds, languages, sources, splits, turns, explained, rephrased = (
            self._along(axis) for axis in range(8)
        )
        labelled = n - labels[None]
        del turns[0]
        context = histogram_spread(turns)
        return Description(
            name=name or ", ".join(sorted(sources)),
            platform=platform,
            n=n,
            sarcastic=labels[True],
            not_sarcastic=labels[False],
            unlabelled=labels[None],
            share=labels[True] / labelled if labelled else None,
            label_kinds=_ranked(kinds),
            languages=_ranked(languages),
            sources=_ranked(sources),
            splits=_ranked(splits),
            with_context=turns.total(),
            mean_turns=context.mean if context else 0.0,
            max_turns=context.max if context else 0,
            with_explanation=explained[True],
            with_rephrase=rephrased[True],
            categories=_ranked(self.categories),
            sequences=self._sequences(),
            groups=len(self.groups),
            characters=_by_label(self.characters),
            tokens=_by_label(self.tokens),
            vocabulary=len(self.vocabulary),
            duplicates=n - len(self.texts),
            topics={key: _ranked(counter, _TOPICS_KEPT) for key, counter in self.topics.items()},
        )

    def _along(self, axis: int) -> Counter[Any]:
        """Count examples by one of the facts."""
        rows: Counter[Any] = Counter()
        for facts, count in self.facts.items():
            rows[facts[axis]] += count
        return rows

    def _sequences(self) -> Sequences:
        sizes = Counter(size for size, _, _ in self.sequences.values())
        shares = [sarcastic / labelled for _, labelled, sarcastic in self.sequences.values() if labelled]
        mean = sum(shares) / len(shares) if shares else None
        return Sequences(len(self.sequences), dict(sorted(sizes.items())), mean)


def histogram_spread(histogram: Counter[int]) -> Spread | None:
    """Return mean and quantiles of a histogram; None if it is empty."""
    n = histogram.total()
    if not n:
        return None
    values = sorted(value for value, count in histogram.items() if count)
    wanted = [-(-n * percent // 100) for percent in (25, 50, 75, 95)]  # nearest ranks, rounded up
    quantiles: list[int] = []
    passed = 0
    for value in values:
        passed += histogram[value]
        while len(quantiles) < len(wanted) and passed >= wanted[len(quantiles)]:
            quantiles.append(value)
    mean = sum(value * count for value, count in histogram.items()) / n
    quarter, median, three_quarters, most = quantiles
    return Spread(n, mean, quarter, median, three_quarters, most, values[-1])


def _by_label(lengths: Counter[tuple[bool | None, int]]) -> dict[str, Spread]:
    histograms: dict[bool | None, Counter[int]] = {True: Counter(), False: Counter(), None: Counter()}
    for (label, length), count in lengths.items():
        histograms[label][length] += count
    spreads = zip(("sarcastic", "not", "unlabelled"), map(histogram_spread, histograms.values()), strict=True)
    return {name: lengths for name, lengths in spreads if lengths is not None}


def _ranked(counter: Counter[str], most: int | None = None) -> dict[str, int]:
    """Return the counts, most frequent first, ties by name."""
    return dict(sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))[:most])
