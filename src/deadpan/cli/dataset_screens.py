"""What `deadpan datasets stats` and `leaks` put on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from deadpan.cli.output import table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.datasets.description import Description, Spread
    from deadpan.datasets.leaks import CorpusLeaks, LeakReport
    from deadpan.datasets.twins import Twin

MOST = 5
NUMBERS = ("sarcastic", "total", "n", "mean", "25 %", "median", "75 %", "95 %", "max", "words", "repeated")


def show_descriptions(out: Console, described: Mapping[str, Description]) -> None:
    """The comparison table of the papers, then lengths by label, then what else a corpus has."""
    rows = [[_cell(value) for value in facts.row().values()] for facts in described.values()]
    columns = ("corpus", "language", "source", "sarcastic", "total", "context", "explained", "labelled by")
    out.print(table(columns, rows, numbers=NUMBERS))
    out.print("\nTokens a response")
    lengths = [
        (name, *[_cell(value) for value in _length_row(label, spread)])
        for name, facts in described.items()
        for label, spread in facts.tokens.items()
    ]
    out.print(
        table(
            ("corpus", "label", "n", "mean", "25 %", "median", "75 %", "95 %", "max"),
            lengths,
            numbers=NUMBERS,
        )
    )
    out.print()
    for name, facts in described.items():
        out.print(f"{name}: {_rest(facts)}", soft_wrap=True)


def _cell(value: object) -> str:
    """A fact as the tables print it."""
    if isinstance(value, bool):
        return "yes" if value else "-"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _length_row(label: str, s: Spread) -> tuple[object, ...]:
    word = "sincere" if label == "not" else label
    return (word, s.n, f"{s.mean:.1f}", s.quarter, s.median, s.three_quarters, s.most, s.max)


def _rest(facts: Description) -> str:
    parts = [f"{facts.vocabulary:,} different tokens", f"{facts.duplicates:,} repeated texts"]
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


def show_leaks(out: Console, report: LeakReport) -> None:
    """The verdict in sentences, then the evidence a corpus at a time."""
    for sentence in report.verdict:
        out.print(f"• {sentence}", soft_wrap=True)
    for corpus in report.corpora:
        _show_corpus(out, corpus)
    between = [twin for crossing in report.crossings for twin in crossing.twins]
    _show_twins(out, "the same text in two corpora", between)


def _show_corpus(out: Console, corpus: CorpusLeaks) -> None:
    tokens = corpus.telling.tokens[:MOST]
    if tokens:
        out.print(f"\n{corpus.name}: tokens that nearly decide the label")
        rows = [
            (
                t.token,
                "sarcastic" if t.sarcastic else "sincere",
                f"{t.share:.0%}",
                f"{t.n:,}",
                f"{t.coverage:.1%}",
            )
            for t in tokens
        ]
        columns = ("token", "label", "of its texts", "texts", "of the corpus")
        out.print(table(columns, rows, numbers=columns[2:]))
    _show_twins(out, f"{corpus.name}: across its splits", [t for c in corpus.crossings for t in c.twins])
    _show_twins(out, f"{corpus.name}: within a split", [t for r in corpus.repeats for t in r.twins])


def _show_twins(out: Console, title: str, twins: list[Twin]) -> None:
    if not twins:
        return
    from rich.text import Text

    out.print(f"\n{title}")
    for twin in twins[:MOST]:
        out.print(Text(f"  {twin.similar}: {twin.left} = {twin.right}", style="dim"))
        out.print(Text(f"    {twin.left_text}"), overflow="ellipsis", no_wrap=True)
        if twin.right_text != twin.left_text:
            out.print(Text(f"    {twin.right_text}"), overflow="ellipsis", no_wrap=True)
