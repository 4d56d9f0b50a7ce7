"""Conversations of a finished corpus, as examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.draws import sample
from deadpan.formats.sarc import IndexLine
from deadpan.records import Example, Turn


def read_conversations(
    corpus: BuiltCorpus | Path | str, *, count: int = 3, seed: int = 0, subset: str = "main"
) -> list[Example]:
    """Return the replies of `count` random sequences of a benchmark, with their context."""
    corpus = BuiltCorpus.of(corpus)
    lines = (line for side in ("train", "test") for line in corpus.index(f"{subset}/{side}-unbalanced.csv"))
    chosen = sample(lines, count, seed=seed, key=lambda line: line.last)
    entries = corpus.texts(subset, (id for line in chosen for id in line.ids))
    return [example for line in chosen for example in _examples(line, entries)]


def turn(entry: dict[str, Any]) -> Turn:
    """Return a comment as a turn."""
    return Turn(entry["author"], entry["text"])


def context(ancestors: Iterable[str], entries: dict[str, dict[str, Any]]) -> tuple[Turn, ...]:
    """Return the turns that have a text; a post that no dump has is skipped."""
    return tuple(turn(entries[id]) for id in ancestors if entries[id]["text"])


def _examples(line: IndexLine, entries: dict[str, dict[str, Any]]) -> Iterator[Example]:
    for id, label in zip(line.responses, line.labels, strict=True):
        yield Example(
            id=id,
            response=turn(entries[id]),
            context=context(line.ancestors, entries),
            label=label,
            label_kind="marker",
            group=line.ancestors[0],
            sequence=line.last,
            source="corpus",
            language="en",
        )
