"""Tables of your own (CSV, TSV, JSON, Parquet, Excel), and files of Examples that deadpan wrote."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import ClassVar, cast, get_args

from deadpan.datasets.reader import CorpusFile, Reader, Release
from deadpan.datasets.reading import COLUMN_NAMES, SPLIT_NAMES, Reading
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import EVERYDAY, read_label
from deadpan.formats.rows import TableRow
from deadpan.formats.tables import SUFFIXES, header_of, holds_examples, read_table
from deadpan.records import Example, LabelKind, Turn
from deadpan.storage import read_records

# Unknown labels that are counted by name; further ones are counted together.
_NAMED_LABELS = 20

# Columns that together tell a flat table of Examples, as `datasets convert` writes it.
_EXAMPLE_COLUMNS = frozenset({"categories", "source", "label_kind", "meta"})

_NOT_TABLES = ("manifest.json", "croissant.json", "statistics.json")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]+)*")


class TableReader(Reader):
    """Reader of any table with a column of text.

    Columns are named by `reading.columns` or found by their usual names; other columns end up in `meta`.
    With `positive` or `negative` labels, a value that is neither is dropped and counted by its name. If only
    one of the two is given, the well-known words of the other (no, 0, false, ...) count for it; so does any
    other value if the table has only one.
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
    takes: ClassVar[frozenset[str]] = frozenset({"columns", "positive", "negative", "label_kind"})

    def __init__(self, name: str, data: Path | None = None, reading: Reading | None = None) -> None:
        super().__init__(name, data, reading)
        self.columns = dict(self.reading.columns)
        self.positive = frozenset(map(_label_key, self.reading.positive))
        self.negative = frozenset(map(_label_key, self.reading.negative))
        self._labels: dict[str, bool] = {}

    @property
    def hint(self) -> str:
        """The columns a table needs."""
        return "give a table with a header, and name its columns: --column text=NAME"

    @property
    def title(self) -> str:
        """The name of the file without its extension."""
        return self.data.stem if self.data is not None else self.name

    def files(self) -> list[CorpusFile]:
        """Return the file itself, or the tables of a folder: those in `data`, as in a release, or its own."""
        expected = ", ".join(SUFFIXES)
        if self.data is None:
            raise DataError(f"{self.name}: no file to read: name a table ({expected})")
        if not self.data.exists():
            raise DataError(f"{self.data}: no such file: expected a table ({expected})")
        inside = [self.data] if self.data.is_file() else _tables_in(self.data / "data") or _tables_in(self.data)
        if not inside or inside[0].suffix.lower() not in SUFFIXES:
            raise DataError(f"{self.data}: no table there: expected {expected}")
        return [CorpusFile(path, SPLIT_NAMES.get(path.stem.lower(), "")) for path in inside]

    def examples(self) -> Iterator[Example]:
        """Yield every row as an Example."""
        files = self.files()
        ours = [holds_examples(file.path) for file in files]
        if any(ours) and (self.columns or self.positive or self.negative):
            raise ConfigError(f"{files[0].path}: written by deadpan, so its columns and labels need no names")
        if self.positive or self.negative:
            self._labels = self._known_labels(files)
        for file, has_examples in zip(files, ours, strict=True):
            if has_examples:
                yield from read_records(file.path, Example)
            else:
                yield from self._rows(file)

    def _rows(self, file: CorpusFile) -> Iterator[Example]:
        for row, chosen in self._table(file.path, self.tally):
            text = _word(row.fields.get(chosen["text"]))
            if not text or "\0" in text:
                self.tally.drop("nul_byte" if text else "no_text", row.place)
                continue
            value = row.fields.get(chosen["label"]) if "label" in chosen else None
            label = self._label(file.path, row, value)
            if label is None and _word(value):
                self._drop_label(row, _word(value))
            else:
                yield self._example(file, row, chosen, label)

    def judge(self) -> Iterator[tuple[TableRow, Example | None]]:
        """Yield every row with the names of its columns as the file spells them, and its Example.

        The Example has no label, whatever the row says, and is None where there is no text to judge. If no
        row is in the split or language asked for, that is an error.
        """
        self.start()
        split, language = self.reading.wanted_split, self.reading.language
        others: Counter[tuple[str, str]] = Counter()
        judged = False
        for file in self.files():
            for row, chosen in self._table(file.path, self.tally, exact=True):
                words = _word(row.fields.get(chosen["text"]))
                if not words or "\0" in words:
                    self.tally.change("nul_byte_not_judged" if words else "no_text_not_judged")
                    yield row, None
                    continue
                example = self._example(file, row, chosen, None)
                if (split and example.split != split) or (language and example.language not in ("", language)):
                    others[example.split, example.language] += 1
                    continue
                judged = True
                text = self.clean_text(example.id, words)
                response = Turn(example.response.speaker, text or "")
                yield row, replace(example, response=response) if text is not None else None
        if others and not judged:
            raise DataError(self._nothing_selected(others))

    def _table(self, path: Path, tally: Tally, exact: bool = False) -> Iterator[tuple[TableRow, dict[str, str]]]:
        """Yield the rows of a file with the columns chosen from its first one."""
        rows = read_table(path, tally, self.hint, exact=exact)
        first = next(rows, None)
        if first is None:
            if header := header_of(path, self.hint):
                self._chosen(path, TableRow(dict.fromkeys(header), 0, ""))
            return
        chosen = self._chosen(path, first)
        for row in chain([first], rows):
            yield row, chosen

    def _chosen(self, path: Path, row: TableRow) -> dict[str, str]:
        """Return field -> column; there must be a text."""
        spelled = {str(name).strip().lower(): name for name in row.fields}
        chosen: dict[str, str] = {}
        if "label" not in self.columns:
            check_one_label(path, list(spelled))
        for field, usual in COLUMN_NAMES.items():
            asked = self.columns.get(field)
            column = next((spelled[s] for s in ([asked.lower()] if asked else usual) if s in spelled), None)
            if column is not None:
                chosen[field] = column
            elif field == "text" or (asked and not (field == "language" and _LANGUAGE.fullmatch(asked))):
                has = ", ".join(map(str, row.fields))[:200]
                raise DataError(f"{path}:1: no column {asked or 'text'!r} (has {has}); {self.hint}")
        return chosen

    def _example(self, file: CorpusFile, row: TableRow, chosen: Mapping[str, str], label: bool | None) -> Example:
        values = {field: row.fields.get(column) for field, column in chosen.items()}
        id = _word(values.get("id")) or f"{self.name}/{file.path.stem}-{row.number}"
        split = _word(values.get("split")).lower()
        if split and split not in SPLIT_NAMES:
            self.tally.change("unknown_split")
        used = set(chosen.values())
        example = Example(
            id=self.unique(id),
            response=Turn(_word(values.get("speaker")), _word(values.get("text"))),
            context=parse_context(values.get("context")),
            label=label,
            label_kind=self.reading.label_kind,
            group=_word(values.get("group")),
            sequence=_word(values.get("sequence")),
            split=SPLIT_NAMES.get(split, "") if split else file.split,
            source=self.name,
            language=_word(values.get("language")) if "language" in chosen else self.columns.get("language", ""),
            explanation=_word(values.get("explanation")),
            rephrase=_word(values.get("rephrase")),
            meta={name: v for name, v in row.fields.items() if name not in used and _plain(v)},
        )
        return self._restored(example, row) if row.fields.keys() >= _EXAMPLE_COLUMNS else example

    def _restored(self, example: Example, row: TableRow) -> Example:
        """Return an Example of a table that deadpan wrote, with what no other table has a column for."""
        cells = {name: _word(row.fields[name]) for name in _EXAMPLE_COLUMNS}
        kind = cells["label_kind"] if cells["label_kind"] in get_args(LabelKind) else ""
        try:
            meta = json.loads(cells["meta"] or "{}")
        except (ValueError, RecursionError):
            return example  # a table of someone else, with the same names
        if not isinstance(meta, dict):
            return example
        return replace(
            example,
            categories=tuple(filter(None, cells["categories"].split(", "))),
            source=cells["source"] or example.source,
            label_kind=cast("LabelKind", example.label_kind or kind),
            meta=meta,
        )

    # ------------------------------------------------------------ labels

    def _label(self, path: Path, row: TableRow, value: object) -> bool | None:
        """Return the label; None for an empty or unknown one.

        Without named labels an unknown one is an error, since half of the column may be wrong.
        """
        if not _word(value):
            return None
        if self._labels:
            return self._labels.get(_label_key(value))
        label = read_label(value, EVERYDAY)
        if label is None:
            raise DataError(
                f"{path.parent / row.place}: label {value!r} is not understood: say which values mean "
                f"sarcastic and sincere (--positive, --negative), or use labels such as 1 and 0, yes and "
                f"no, true and false, sarcastic and not_sarcastic"
            )
        return label

    def _known_labels(self, files: list[CorpusFile]) -> dict[str, bool]:
        """Return the meaning of the labels that occur, from a first pass over the tables."""
        seen: Counter[str] = Counter()
        for file in files:
            for row, chosen in self._table(file.path, Tally()):
                if "label" in chosen:
                    seen[_label_key(row.fields.get(chosen["label"]))] += 1
        del seen[""]
        for word, asked in (("positive", self.positive), ("negative", self.negative)):
            missing = sorted(asked - seen.keys())
            if asked and len(missing) == len(asked):
                there = ", ".join(f"{value} ({n:,})" for value, n in seen.most_common(10)) or "none"
                raise DataError(
                    f"no row has the {word} label {', '.join(map(repr, missing))}: the labels are {there}; "
                    f"--{word} takes one value, and may be repeated"
                )
            for value in missing:
                self.tally.change(f"label_not_found.{value}")
        known = dict.fromkeys(self.positive, True) | dict.fromkeys(self.negative, False)
        others = [value for value in seen if value not in known]
        if not (self.positive and self.negative):
            missing_one = not self.positive
            known |= {value: missing_one for value in others if read_label(value, EVERYDAY) is missing_one}
            if len(others) == 1:
                known[others[0]] = missing_one
        return known

    def _drop_label(self, row: TableRow, value: str) -> None:
        reason = f"label_unknown.{_label_key(value)[:40]}"
        named = sum(name.startswith("label_unknown.") for name in self.tally.drops)
        if reason not in self.tally.drops and named >= _NAMED_LABELS:
            reason = "label_unknown"
        self.tally.drop(reason, row.place, repr(value))


def _tables_in(path: Path) -> list[Path]:
    """Return a file that is a table, or the tables in a folder."""
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    tables = [one for one in inside if one.is_file() and one.suffix.lower() in SUFFIXES]
    return [one for one in tables if one == path or one.name not in _NOT_TABLES]


def check_one_label(path: Path, names: list[str]) -> None:
    """Refuse to take a prediction for a label: `detect predict` adds the columns label and score."""
    others = [name for name in COLUMN_NAMES["label"] if name in names and name != "label"]
    if others and {"label", "score"} <= set(names):
        raise DataError(
            f"{path}: the columns label and {others[0]} both look like labels, and label may be a prediction"
            f": name the one that is true, --column label={others[0]}"
        )


# ---------------------------------------------------------------- cells


def parse_context(value: object) -> tuple[Turn, ...]:
    """Return a context as turns: a list of texts or {speaker, text}, the same as JSON, or one per line."""
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                return parse_context(json.loads(value))
            except (ValueError, RecursionError):
                pass  # a text that starts with a bracket
        return tuple(Turn("", line.strip()) for line in value.split("\n") if line.strip())
    if not isinstance(value, list):
        return ()
    spoken = [
        Turn(_word(turn.get("speaker")), _word(turn.get("text"))) if isinstance(turn, dict) else Turn("", _word(turn))
        for turn in value
    ]
    return tuple(turn for turn in spoken if turn.text)


def _word(value: object) -> str:
    """Return a cell as text; None and NaN are empty."""
    return "" if value is None or value != value else str(value).strip()


def _plain(value: object) -> bool:
    """Return True if a cell can go into `meta`, that is into JSON."""
    return value == value and isinstance(value, str | int | float | bool) and value != ""


def _label_key(value: object) -> str:
    """Return a label as it is compared: without case, and 1.0 as 1."""
    return _word(value).lower().removesuffix(".0")
