"""A table of one's own: CSV, TSV, JSON lines or Parquet with a column of text, or a file deadpan wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, get_args

from deadpan.datasets.labels import EVERYDAY, read_label
from deadpan.datasets.reader import Found, Reader, Release
from deadpan.datasets.rows import Row, csv_rows, json_document, json_lines, lines
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, LabelKind, Split, Turn
from deadpan.registry import unknown
from deadpan.storage import read_records

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text",
        "response",
        "tweet",
        "comment",
        "headline",
        "utterance",
        "sentence",
        "body",
        "content",
        "tokens",
    ),
    "label": (
        "label",
        "sarcasm",
        "sarcastic",
        "is_sarcastic",
        "sarcasm_label",
        "irony",
        "ironic",
        "class",
        "target",
    ),
    "context": ("context", "parent_comment", "parent", "conversation", "dialogue", "history"),
    "id": ("id", "tweet_id", "comment_id", "example_id"),
    "speaker": ("speaker",),
    "group": ("group", "thread", "thread_id", "conversation_id", "dialogue_id", "author", "user"),
    "sequence": ("sequence", "pair", "pair_id"),
    "split": ("split", "subset", "partition"),
    "language": ("language", "lang"),
    "explanation": ("explanation", "sarcasm_explanation"),
    "rephrase": ("rephrase",),
}
"""What deadpan needs -> the names columns commonly have, tried in this order."""

SPLITS: Mapping[str, Split] = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
    "testing": "test",
}
SUFFIXES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet")


class Table(Reader):
    """Reads any table. `columns` names them (text="tweet"); those not named are found by their usual names.

    `positive` lists the labels that mean sarcastic, all others then meaning not. A `language` that names
    no column is the language of every row. Columns nobody asks for end up in `meta`.
    """

    release: ClassVar[Release] = Release(
        title="a table of your own",
        citation="",
        url="",
        licence="not stated",
        language="und",
        platform="",
        label_kind="",
        folder="",
        files=(),
        context=True,
    )

    def __init__(
        self,
        name: str,
        data: Path | None = None,
        *,
        strip: bool = True,
        positive: Sequence[str] = (),
        label_kind: LabelKind = "",
        **columns: str,
    ) -> None:
        super().__init__(name, data, strip=strip)
        for column in columns:
            if column not in COLUMNS:
                raise ConfigError(unknown("column", column, COLUMNS))
        if label_kind not in get_args(LabelKind):
            kinds = [kind for kind in get_args(LabelKind) if kind]
            raise ConfigError(unknown("label kind", label_kind, kinds))
        self.positive = frozenset(value.strip().lower() for value in positive)
        self.label_kind = label_kind
        self.columns = columns

    @property
    def cure(self) -> str:
        """Which columns a table needs."""
        return "name the columns there are, such as text=tweet label=sarcastic"

    def found(self) -> list[Found]:
        """The file itself, or the tables in a folder, which are then parts of one."""
        if self.data is None:
            raise DataError(f"{self.name}: say which file to read with --data FILE ({', '.join(SUFFIXES)})")
        if not self.data.exists():
            raise DataError(f"{self.name}: no file {self.data}; expected a table ({', '.join(SUFFIXES)})")
        inside = sorted(self.data.iterdir()) if self.data.is_dir() else [self.data]
        files = [path for path in inside if path.suffix.lower() in SUFFIXES and path.name != "manifest.json"]
        if not files:
            raise DataError(f"{self.name}: nothing to read in {self.data}; expected {', '.join(SUFFIXES)}")
        return [Found(path, SPLITS.get(path.stem.lower(), "")) for path in files]

    def examples(self) -> Iterator[Example]:
        """Every row as an Example."""
        for file in self.found():
            if is_ours(file.path):
                if self.columns or self.positive:
                    raise ConfigError(f"{file.path}: written by deadpan, so its columns need no names")
                yield from read_records(file.path, Example)
                continue
            rows = read_rows(file.path, self)
            first = next(rows, None)
            if first is None:
                continue
            chosen = self._chosen(file.path, first)
            for row in chain([first], rows):
                text = _word(row.fields.get(chosen["text"]))
                if text and "\0" not in text:
                    yield self._example(file, row, chosen)
                else:
                    self.tally.drop("nul_byte" if text else "no_text", row.place)

    def _chosen(self, path: Path, row: Row) -> dict[str, str]:
        """What deadpan needs -> the column that holds it; a text there must be."""
        spelled = {str(name).strip().lower(): name for name in row.fields}
        chosen: dict[str, str] = {}
        for ours, usual in COLUMNS.items():
            asked = self.columns.get(ours)
            theirs = next((spelled[s] for s in ([asked.lower()] if asked else usual) if s in spelled), None)
            if theirs is not None:
                chosen[ours] = theirs
            elif ours == "text" or (asked and ours != "language"):
                has = ", ".join(map(str, row.fields))[:200]
                raise DataError(f"{path}:1: no column {asked or 'text'!r} (has {has}); {self.cure}")
        return chosen

    def _example(self, file: Found, row: Row, chosen: Mapping[str, str]) -> Example:
        values = {ours: row.fields.get(theirs) for ours, theirs in chosen.items()}
        id = _word(values.get("id")) or f"{self.name}/{file.path.stem}-{row.number}"
        split = _word(values.get("split")).lower()
        if split and split not in SPLITS:
            self.tally.change("unknown_split")
        taken = set(chosen.values())
        return Example(
            id=self.unique(id),
            response=Turn(_word(values.get("speaker")), _word(values.get("text"))),
            context=turns(values.get("context")),
            label=self._label(file.path, row, values.get("label")),
            label_kind=self.label_kind,
            group=_word(values.get("group")),
            sequence=_word(values.get("sequence")),
            split=SPLITS.get(split, "") if split else file.split,
            source=self.name,
            language=_word(values.get("language"))
            if "language" in chosen
            else self.columns.get("language", ""),
            explanation=_word(values.get("explanation")),
            rephrase=_word(values.get("rephrase")),
            meta={name: v for name, v in row.fields.items() if name not in taken and _plain(v)},
        )

    def _label(self, path: Path, row: Row, value: object) -> bool | None:
        """The label; an empty one is none, a strange one is an error: half of the column may be wrong."""
        if not _word(value):
            return None
        if self.positive:
            return _word(value).lower() in self.positive
        label = read_label(value, EVERYDAY)
        if label is None:
            raise DataError(
                f"{path.parent / row.place}: label {value!r} is not understood; say which values mean "
                f"sarcastic (positive), or use one of {', '.join(EVERYDAY)}"
            )
        return label


# ---------------------------------------------------------------- files


def read_rows(path: Path, reader: Reader) -> Iterator[Row]:
    """The rows of a table in any of the formats."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        return _parquet_rows(path)
    if kind in (".csv", ".tsv", ".tab"):
        return csv_rows(path, {}, reader.tally, reader.cure, delimiter=_delimiter(path, reader.cure))
    if _first_line(path, reader.cure).startswith("["):
        return _array_rows(path, reader.cure)
    return json_lines(path, {}, reader.tally, reader.cure)


def is_ours(path: Path) -> bool:
    """Whether a file is Examples that deadpan wrote."""
    if path.suffix == ".parquet":
        with _parquet(path) as file:
            return {"response", "label_kind", "sequence"} <= set(file.schema_arrow.names)
    if path.suffix != ".jsonl":
        return False
    try:
        first = json.loads(_first_line(path, "it should be JSON lines"))
    except (ValueError, RecursionError):
        return False
    response = first.get("response") if isinstance(first, dict) else None
    return isinstance(response, dict) and "text" in response


def _first_line(path: Path, cure: str) -> str:
    return next((line.strip() for _, line in lines(path, cure) if line.strip()), "")


def _delimiter(path: Path, cure: str) -> str:
    """Whichever the header has most of: what some programs call CSV has semicolons or tabs."""
    header = _first_line(path, cure)
    return max(",", "\t", ";", key=header.count)


def _array_rows(path: Path, cure: str) -> Iterator[Row]:
    """A JSON array of objects."""
    document = json_document(path, cure)
    for number, fields in enumerate(document, 1):
        if not isinstance(fields, dict):
            raise DataError(f"{path}:1: item {number} of the array is not an object; {cure}")
        yield Row(fields, number, f"{path.name} item {number}")


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowInvalid, OSError) as bad:
        raise DataError(f"{path}: not a Parquet file, or cut short ({str(bad).splitlines()[0]})") from None


def _parquet_rows(path: Path) -> Iterator[Row]:
    number = 0
    with _parquet(path) as file:
        for batch in file.iter_batches():
            for fields in batch.to_pylist():
                number += 1
                yield Row(fields, number, f"{path.name} row {number}")


# ---------------------------------------------------------------- cells


def turns(value: object) -> tuple[Turn, ...]:
    """A context as turns: a list of texts or of {speaker, text}, such a list as JSON, or a turn a line."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                return turns(json.loads(value))
            except (ValueError, RecursionError):
                pass  # a text that starts with a bracket
        return tuple(Turn("", line.strip()) for line in value.split("\n") if line.strip())
    if not isinstance(value, list):
        return ()
    said = [
        Turn(_word(turn.get("speaker")), _word(turn.get("text")))
        if isinstance(turn, dict)
        else Turn("", _word(turn))
        for turn in value
    ]
    return tuple(turn for turn in said if turn.text)


def _word(value: object) -> str:
    """A cell as text; nothing, and a float that stands for nothing, as empty."""
    return "" if value is None or value != value else str(value).strip()


def _plain(value: object) -> bool:
    """Whether a cell can go into `meta`, that is into JSON."""
    return value == value and isinstance(value, str | int | float | bool) and value != ""
