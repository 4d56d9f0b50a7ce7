"""SARC (Khodak et al. 2018): Reddit comments with their replies, and the raw corpus they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, islice
from typing import TYPE_CHECKING, Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Reader, Release, ReleaseFile, short_hash
from deadpan.drops import Tally
from deadpan.errors import need
from deadpan.formats.labels import BINARY, label_of
from deadpan.formats.rows import TableRow
from deadpan.formats.sarc import (
    IndexLine,
    comments_beside,
    read_comment_blocks,
    read_comments,
    read_index,
    read_raw_rows,
)
from deadpan.records import Example, Turn
from deadpan.storage import arrow_schema, json_text
from deadpan.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from deadpan.formats.sarc import IndexLine


_COMMENT_FIELDS = frozenset(("score", "ups", "downs", "date", "created_utc", "subreddit"))
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
            comments = CommentColumns(entries, _ids(lines), _COMMENT_FIELDS)
            facts = {"label_kind": "marker", "split": file.split, "source": self.name, "language": "en"}
            yield from example_batches(lines, comments, facts, self.clean_text, self.tally, file.path.name)

    def _responses(self, line: IndexLine, comments: dict[str, Known | None], file: CorpusFile) -> Iterator[Example]:
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
    if not comment.keys() <= _COMMENT_FIELDS:
        comment = {key: value for key, value in comment.items() if key in _COMMENT_FIELDS}
    return Turn(printable(str(author or "")), printable(text)), comment


class SarcMain(SarcReader):
    release = _release("main, balanced", "sarc_main", "balanced")


class SarcMainUnbalanced(SarcReader):
    release = _release("main, unbalanced", "sarc_main", "unbalanced")


class SarcPol(SarcReader):
    release = _release("pol (r/politics), balanced", "sarc_pol", "balanced")


class SarcPolUnbalanced(SarcReader):
    release = _release("pol (r/politics), unbalanced", "sarc_pol", "unbalanced")


_LINES = 8_192
_NOWHERE = -1
_UNCLEAR = r"#|/[sS]|sarcasm>"
_SEEN = "[!-~]"


class CommentColumns:
    """Speaker, text and other fields of the needed comments; `rows` maps an id to its row."""

    def __init__(
        self, blocks: Iterable[dict[str, dict[str, Any]]], needed: Container[str], kept: frozenset[str]
    ) -> None:
        self.rows: dict[str, int] = {}
        self.spoken = bytearray()
        self._packed: list[list[pa.Array]] = []
        for entries in blocks:
            ids = [id for id in entries if id in needed]
            if ids:
                self._add(ids, [entries[id] for id in ids], kept)

    def _add(self, ids: list[str], comments: list[dict[str, Any]], kept: frozenset[str]) -> None:
        texts = [comment.pop("text", None) for comment in comments]
        if silent := [at for at, text in enumerate(texts) if not isinstance(text, str)]:
            for at in reversed(silent):
                self.rows.pop(ids.pop(at), None)
                del texts[at], comments[at]
        speakers = [str(comment.pop("author", None) or "") for comment in comments]
        first = len(self.spoken)
        self.rows.update(zip(ids, range(first, first + len(ids)), strict=True))
        self.spoken.extend(map(bool, texts))
        rest = [
            json_text(comment if comment.keys() <= kept else {k: v for k, v in comment.items() if k in kept})
            for comment in comments
        ]
        self._packed.append([_strings(speakers), _strings(texts), _strings(rest)])

    def columns(self) -> list[pa.Array]:
        """Return speakers, texts and other fields; as large strings, since texts may exceed 2 GB."""
        import pyarrow as pa

        kind = pa.large_string()
        return [
            pa.chunked_array([part[at] for part in self._packed], pa.string()).cast(kind).combine_chunks()
            for at in range(3)
        ]


def _strings(values: list[Any]) -> pa.Array:
    pa = need("pyarrow", "parquet")
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:
        return pa.array([printable(value) for value in values], pa.string())


@dataclass(slots=True)
class _Rows:
    """A batch in the making: id, label, thread and row of every response, and the rows of its context."""

    ids: list[str] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    sequences: list[str] = field(default_factory=list)
    responses: list[int] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


def example_batches(
    lines: Sequence[IndexLine],
    comments: CommentColumns,
    facts: dict[str, str],
    clean: Callable[[str, str], str | None],
    tally: Tally,
    index: str,
) -> Iterator[pa.RecordBatch]:
    """Yield batches of Examples. `facts` are the fields all share; `clean` returns a text, or None."""
    columns = comments.columns()
    rest = iter(lines)
    while part := list(islice(rest, _LINES)):
        rows = _numbered(part, comments, tally, index)
        if rows.ids:
            yield _gathered(rows, columns, facts, clean)


def _numbered(lines: Iterable[IndexLine], comments: CommentColumns, tally: Tally, index: str) -> _Rows:
    rows, row_of, spoken = _Rows(), comments.rows.get, comments.spoken
    silent = 0
    for ancestors, responses, labels in lines:
        context = [row for id in ancestors if (row := row_of(id, _NOWHERE)) != _NOWHERE and spoken[row]]
        silent += len(ancestors) - len(context)
        response_rows = [row_of(id, _NOWHERE) for id in responses]
        if _NOWHERE in response_rows:
            for id in compress(responses, (row == _NOWHERE for row in response_rows)):
                tally.drop("no_text", index, f"response {id} is not in comments.json")
            there = [row != _NOWHERE for row in response_rows]
            responses, labels = tuple(compress(responses, there)), tuple(compress(labels, there))
            response_rows = list(compress(response_rows, there))
        n = len(response_rows)
        rows.ids.extend(responses)
        rows.labels.extend(labels)
        rows.groups.extend([ancestors[0]] * n)
        rows.sequences.extend([ancestors[-1]] * n)
        rows.responses.extend(response_rows)
        rows.contexts.extend(context * n)
        rows.lengths.extend([len(context)] * n)
    tally.change("ancestors_without_text", silent)
    return rows


def _gathered(
    rows: _Rows, columns: list[pa.Array], facts: dict[str, str], clean: Callable[[str, str], str | None]
) -> pa.RecordBatch:
    import pyarrow as pa

    schema = arrow_schema(Example)
    speakers, texts, rest = columns
    n = len(rows.ids)
    chosen = pa.array(rows.responses, pa.int64())
    words, kept = _cleaned(rows.ids, _taken(texts, chosen), clean)
    before = pa.array(rows.contexts, pa.int64())
    ends = pa.array([0, *accumulate(rows.lengths)], pa.int32())
    arrays: dict[str, Any] = {
        "id": rows.ids,
        "response": _turns(_taken(speakers, chosen), words),
        "context": pa.ListArray.from_arrays(ends, _turns(_taken(speakers, before), _taken(texts, before))),
        "label": rows.labels,
        "categories": pa.ListArray.from_arrays(pa.array([0] * (n + 1), pa.int32()), pa.array([], pa.string())),
        "group": rows.groups,
        "sequence": rows.sequences,
        "meta": _taken(rest, chosen),
    }
    whole = [
        pa.array(arrays[name], kind) if isinstance(arrays.get(name), list)
        else arrays[name].cast(kind) if name in arrays
        else pa.repeat(facts.get(name, ""), n)
        for name, kind in zip(schema.names, schema.types, strict=True)
    ]  # fmt: skip
    batch = pa.RecordBatch.from_arrays(whole, schema=schema)
    return batch if kept is None else batch.filter(pa.array(kept))


def _taken(column: pa.Array, rows: pa.Array) -> pa.Array:
    import pyarrow as pa

    return column.take(rows).cast(pa.string())


def _turns(speakers: pa.Array, texts: pa.Array) -> pa.StructArray:
    import pyarrow as pa

    fields = list(arrow_schema(Turn))
    return pa.StructArray.from_arrays([speakers, texts], fields=fields)


def _cleaned(
    ids: list[str], texts: pa.Array, clean: Callable[[str, str], str | None]
) -> tuple[pa.Array, list[bool] | None]:
    """Return the cleaned texts and which to keep; only texts that may change are looked at."""
    import pyarrow as pa
    import pyarrow.compute as pc

    doubt = pc.or_(pc.match_substring_regex(texts, _UNCLEAR), pc.invert(pc.match_substring_regex(texts, _SEEN)))
    places = pc.indices_nonzero(doubt).to_pylist()
    if not places:
        return texts, None
    kept = [True] * len(ids)
    words = texts.to_pylist()
    for at in places:
        text = clean(ids[at], words[at])
        kept[at] = text is not None
        words[at] = text or ""
    return pa.array(words, pa.string()), kept


_RAW_FIELDS = ("subreddit", "score", "ups", "downs", "date", "created_utc", "parent_id")

_NUMBERS = ("score", "ups", "downs", "created_utc")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_TSV = Release(
    title="SARC raw",
    citation="Khodak, Saunshi and Vodrahalli (2018), A Large Self-Annotated Corpus for Sarcasm, LREC",
    url="https://nlp.cs.princeton.edu/SARC/",
    licence="not stated",
    language="en",
    platform="Reddit",
    label_kind="marker",
    folder="sarc_raw_politics",
    files=(ReleaseFile(("sarc.csv", "sarc.tsv", "sarc-raw.tsv")),),
    context=True,
)


class SarcRaw(Reader):
    """Reader of ten tab-separated columns without a header: a comment and its parent.

    Without ids, the parent comment identifies the thread, so it is the group.
    """

    release: ClassVar[Release] = _TSV

    def examples(self) -> Iterator[Example]:
        """Yield one Example per row."""
        for file in self.files():
            for row in read_raw_rows(file.path, self.tally, self.hint):
                label = label_of(row, BINARY, self.tally)
                if label is not None:
                    yield self._example(file, row, label)

    def _example(self, file: CorpusFile, row: TableRow, label: bool) -> Example:
        parent = row.text("parent_comment")
        thread = row.text("link_id") or short_hash(row.text("subreddit"), parent)
        return self.example(
            file,
            row.text("id") or row.number,
            row.text("comment"),
            speaker=row.text("author"),
            context=(Turn("", parent),) if parent else (),
            label=label,
            group=thread,
            sequence=row.text("parent_id") or thread,
            meta={key: _value(key, row.text(key)) for key in _RAW_FIELDS if key in row.fields},
        )


def _value(key: str, text: str) -> str | int:
    """Return a number where the field is one; the date-times of Kaggle stay text."""
    return int(text) if key in _NUMBERS and _WHOLE.fullmatch(text) else text


class SarcKaggle(SarcRaw):
    """The copy on Kaggle: a CSV of the same columns with a header; created_utc is a date-time."""

    release: ClassVar[Release] = replace(
        _TSV,
        title="SARC on Kaggle",
        url="https://www.kaggle.com/datasets/danofer/sarcasm",
        files=(ReleaseFile(("train-balanced-sarcasm.csv", "train-balanced-sarc.csv.gz", "kaggle-sample.csv")),),
    )
