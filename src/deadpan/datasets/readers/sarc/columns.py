"""SARC as Arrow columns: the Examples of SarcReader without a Python object per example, for conversions.

Comments go into columns as they are read; an Example is then a few row numbers, and Arrow gathers its texts.
A test checks that columns and records are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress, islice
from typing import TYPE_CHECKING, Any

from deadpan.columns import arrow_schema, json_text
from deadpan.drops import Tally
from deadpan.records import Example, Turn
from deadpan.text import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from deadpan.formats.sarc import IndexLine

LINES = 8_192
NOWHERE = -1
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
    import pyarrow as pa

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
    while part := list(islice(rest, LINES)):
        rows = _numbered(part, comments, tally, index)
        if rows.ids:
            yield _gathered(rows, columns, facts, clean)


def _numbered(lines: Iterable[IndexLine], comments: CommentColumns, tally: Tally, index: str) -> _Rows:
    rows, row_of, spoken = _Rows(), comments.rows.get, comments.spoken
    silent = 0
    for ancestors, responses, labels in lines:
        context = [row for id in ancestors if (row := row_of(id, NOWHERE)) != NOWHERE and spoken[row]]
        silent += len(ancestors) - len(context)
        response_rows = [row_of(id, NOWHERE) for id in responses]
        if NOWHERE in response_rows:
            for id in compress(responses, (row == NOWHERE for row in response_rows)):
                tally.drop("no_text", index, f"response {id} is not in comments.json")
            there = [row != NOWHERE for row in response_rows]
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
    rows: _Rows,
    columns: list[pa.Array],
    facts: dict[str, str],
    clean: Callable[[str, str], str | None],
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
        "categories": pa.ListArray.from_arrays(
            pa.array([0] * (n + 1), pa.int32()), pa.array([], pa.string())
        ),
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

    doubt = pc.or_(
        pc.match_substring_regex(texts, _UNCLEAR), pc.invert(pc.match_substring_regex(texts, _SEEN))
    )
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
