"""SARC 2.0 (Khodak et al. 2018): sequences of Reddit comments with the replies to the last of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from deadpan.datasets.reader import CorpusFile, Reader, Release, ReleaseFile
from deadpan.datasets.readers.sarc.columns import CommentColumns, example_batches
from deadpan.formats.sarc import IndexLine, comments_beside, read_comment_blocks, read_comments, read_index
from deadpan.records import Example, Turn
from deadpan.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

KEPT = frozenset(("score", "ups", "downs", "date", "created_utc", "subreddit"))
Known = tuple[Turn, dict[str, Any]]


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
    """Reader of one Example per response; `sequence` is the last ancestor, `group` the post."""

    def examples(self) -> Iterator[Example]:
        """Read the ids of the index first, then their texts from comments.json."""
        for file in self.files():
            lines = list(read_index(file.path, self.tally))
            path = comments_beside(self.name, file.path)
            needed = _ids(lines)
            comments = {id: _known(comment) for id, comment in read_comments(path, needed)}
            del needed
            for line in lines:
                yield from self._responses(line, comments, file)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the same examples as columns: three times as fast, for a corpus that is only converted."""
        if self.selects:
            yield from super().batches()
            return
        self.start()
        for file in self.files():
            lines = list(read_index(file.path, self.tally))
            entries = read_comment_blocks(comments_beside(self.name, file.path))
            comments = CommentColumns(entries, _ids(lines), KEPT)
            facts = {"label_kind": "marker", "split": file.split, "source": self.name, "language": "en"}
            yield from example_batches(lines, comments, facts, self.clean_text, self.tally, file.path.name)

    def _responses(
        self, line: IndexLine, comments: dict[str, Known | None], file: CorpusFile
    ) -> Iterator[Example]:
        context = []
        for id in line.ancestors:
            ancestor = comments.get(id)
            # The text of the post is often not released; an empty turn would look like silence.
            if ancestor is None or not ancestor[0].text:
                self.tally.change("ancestors_without_text")
            else:
                context.append(ancestor[0])
        turns = tuple(context)
        for id, label in zip(line.responses, line.labels, strict=True):
            known = comments.get(id)
            if known is None:
                self.tally.drop("no_text", file.path.name, f"response {id} is not in comments.json")
                continue
            yield Example(
                id,
                known[0],
                turns,
                label,
                (),
                "marker",
                line.ancestors[0],
                line.last,
                file.split,
                self.name,
                "en",
                "",
                "",
                known[1],
            )


def _ids(lines: list[IndexLine]) -> set[str]:
    return {id for line in lines for id in line.ids}


def _known(comment: dict[str, Any]) -> Known | None:
    """Return a comment as a turn, and its other fields; None if it has no text."""
    text, author = comment.pop("text", None), comment.pop("author", None)
    if not isinstance(text, str):
        return None
    if not comment.keys() <= KEPT:
        comment = {key: value for key, value in comment.items() if key in KEPT}
    return Turn(printable(str(author or "")), printable(text)), comment


class SarcMain(SarcReader):
    release = _release("main, balanced", "sarc_main", "balanced")


class SarcMainUnbalanced(SarcReader):
    release = _release("main, unbalanced", "sarc_main", "unbalanced")


class SarcPol(SarcReader):
    release = _release("pol (r/politics), balanced", "sarc_pol", "balanced")


class SarcPolUnbalanced(SarcReader):
    release = _release("pol (r/politics), unbalanced", "sarc_pol", "unbalanced")
