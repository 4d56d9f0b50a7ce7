"""SARC 2.0 (Khodak et al. 2018): sequences of Reddit comments with the responses to the last of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from deadpan.archives import blocks, open_bytes
from deadpan.datasets.comments import read_comments, read_entries
from deadpan.datasets.reader import Found, Reader, Release, ReleaseFile, place
from deadpan.datasets.sarc_columns import CommentColumns, example_batches
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

KEPT = frozenset(("score", "ups", "downs", "date", "created_utc", "subreddit"))
_LABELS = {"1": True, "0": False}
Known = tuple[Turn, dict[str, Any]]


class Sequence(NamedTuple):
    """One line of the index: ancestors from the post down, responses to the last of them, their labels."""

    ancestors: tuple[str, ...]
    responses: tuple[str, ...]
    labels: tuple[bool, ...]


def read_sequences(path: Path, tally: Tally | None = None) -> Iterator[Sequence]:
    """The index as a stream. A first line of another form means another file; later ones are counted."""
    tally = Tally() if tally is None else tally
    labels_of = cache(_labels)  # a few spellings, a million lines
    made = partial(tuple.__new__, Sequence)  # what Sequence(...) does, without its detour
    number = 0
    with open_bytes(path) as file:
        for lines in _blocks_of_lines(file):
            for line in lines:
                number += 1
                try:
                    ancestors, replies, marks = line.split("|")
                    responses, labels = tuple(replies.split(" ")), labels_of(marks)
                except (ValueError, KeyError):
                    responses, labels = (), (False,)
                if len(responses) == len(labels):
                    # Most contexts are the post alone.
                    above = tuple(ancestors.split(" ")) if " " in ancestors else (ancestors,)
                    yield made((above, responses, labels))
                elif number == 1:
                    form = "ancestors|responses|labels, ids between spaces"
                    raise DataError(f"{path}:1: not a SARC index: expected {form}")
                elif line:
                    tally.drop("bad_row", place(path, number), repr(line[:80]))


def _blocks_of_lines(file: IO[bytes]) -> Iterator[list[str]]:
    """Lines a block at a time: packed files read line by line are several times slower."""
    rest = b""
    for block in blocks(file):
        whole, mark, tail = block.rpartition(b"\n")
        if not mark:
            rest += tail
            continue
        yield (rest + whole).decode("ascii", "replace").replace("\r", "").split("\n")
        rest = tail
    if rest:
        yield [rest.decode("ascii", "replace").removesuffix("\r")]


def _labels(text: str) -> tuple[bool, ...]:
    return tuple([_LABELS[label] for label in text.split(" ")])


def _release(title: str, folder: str, balance: str) -> Release:
    return Release(
        title=f"SARC 2.0 {title}",
        citation="Khodak, Saunshi and Vodrahalli 2018, A Large Self-Annotated Corpus for Sarcasm, LREC",
        url="https://nlp.cs.princeton.edu/SARC/2.0/",
        licence="not stated",
        language="en",
        platform="Reddit",
        label_kind="marker",
        folder=folder,
        files=(
            ReleaseFile((f"train-{balance}.csv", f"train-{balance}.csv.bz2"), "train"),
            ReleaseFile((f"test-{balance}.csv", f"test-{balance}.csv.bz2"), "test"),
        ),
        context=True,
    )


class SarcReader(Reader):
    """One Example a response; `sequence` is the last ancestor, `group` the post."""

    def examples(self) -> Iterator[Example]:
        """Two passes: the ids the index needs, then their text out of comments.json."""
        for found in self.found():
            sequences = list(read_sequences(found.path, self.tally))
            path = comments_beside(self.name, found.path)
            needed = _ids(sequences)
            comments = {id: _known(comment) for id, comment in read_comments(path, needed)}
            del needed
            for sequence in sequences:
                yield from self._responses(sequence, comments, found)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The same by the column: three times as fast, for a corpus that is only passed on."""
        self.start()
        for found in self.found():
            sequences = list(read_sequences(found.path, self.tally))
            entries = read_entries(comments_beside(self.name, found.path))
            comments = CommentColumns(entries, _ids(sequences), KEPT)
            facts = {"label_kind": "marker", "split": found.split, "source": self.name, "language": "en"}
            yield from example_batches(
                sequences, comments, facts, self.clean_text, self.tally, found.path.name
            )

    def _responses(
        self, sequence: Sequence, comments: dict[str, Known | None], found: Found
    ) -> Iterator[Example]:
        context = []
        for id in sequence.ancestors:
            ancestor = comments.get(id)
            # The post's text is often not released; an empty turn would only look like a silence.
            if ancestor is None or not ancestor[0].text:
                self.tally.change("ancestors_without_text")
            else:
                context.append(ancestor[0])
        turns = tuple(context)
        for id, label in zip(sequence.responses, sequence.labels, strict=True):
            known = comments.get(id)
            if known is None:
                self.tally.drop("no_text", found.path.name, f"response {id} is not in comments.json")
                continue
            yield Example(
                id,
                known[0],
                turns,
                label,
                (),
                "marker",
                sequence.ancestors[0],
                sequence.ancestors[-1],
                found.split,
                self.name,
                "en",
                "",
                "",
                known[1],
            )


def _ids(sequences: list[Sequence]) -> set[str]:
    return {id for s in sequences for id in (*s.ancestors, *s.responses)}


def _known(comment: dict[str, Any]) -> Known | None:
    """The words of a comment and what else is known of it; None without words."""
    text, author = comment.pop("text", None), comment.pop("author", None)
    if not isinstance(text, str):
        return None
    if not comment.keys() <= KEPT:
        comment = {key: value for key, value in comment.items() if key in KEPT}
    return Turn(printable(str(author or "")), printable(text)), comment


def comments_beside(name: str, index: Path) -> Path:
    """The comments.json that belongs to an index."""
    for spelling in ("comments.json", "comments.json.bz2", "comments.json.gz", "comments.json.xz"):
        if (index.parent / spelling).is_file():
            return index.parent / spelling
    raise DataError(
        f"{name}: no comments.json beside {index}; it is part of the same release and holds the texts"
    )


class SarcMain(SarcReader):
    release = _release("main, balanced", "sarc_main", "balanced")


class SarcMainUnbalanced(SarcReader):
    release = _release("main, unbalanced", "sarc_main", "unbalanced")


class SarcPol(SarcReader):
    release = _release("pol (r/politics), balanced", "sarc_pol", "balanced")


class SarcPolUnbalanced(SarcReader):
    release = _release("pol (r/politics), unbalanced", "sarc_pol", "unbalanced")
