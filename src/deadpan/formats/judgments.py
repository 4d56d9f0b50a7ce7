"""Judgments in files: what the studio exports, and tables from other tools, one answer per row or one rater
per column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import chain
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.rows import TableRow
from deadpan.formats.table_writer import cell_text
from deadpan.formats.tables import SUFFIXES, read_table
from deadpan.records import Judgment
from deadpan.storage import read_records

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item_id", "item", "id", "example_id", "text_id", "task_id", "unit"),
    "annotator": ("annotator", "rater", "worker", "worker_id", "annotator_id", "rater_id", "coder", "user"),
    "answer": ("answer", "label", "rating", "value", "judgment", "annotation"),
    "question": ("question", "variable", "dimension"),
    "time": ("created_at",),
}
"""Field -> the names such a column commonly has."""
NO_TIME = "1970-01-01T00:00:00+00:00"
FEWEST = 5
"""Rows from which a column without a repeated answer is taken for texts."""
_CURE = (
    "a table of judgments has the columns item, annotator and answer, or the column item and one column per "
    "rater"
)


def read_judgments(path: Path | str) -> list[Judgment]:
    """Read judgments: JSON lines and Parquet that deadpan wrote, or any table.

    A table is long (columns item, annotator, answer, and perhaps question) or wide (a column with the item,
    every other column a rater, so that a column of texts is an error). An empty cell is a missing answer.
    Rows that cannot be read are an error, and so are two different answers of a rater to one item, unless a
    column created_at says which is the later.
    """
    path = Path(path)
    if not path.is_file():
        why = "is a folder" if path.is_dir() else "no such file"
        raise DataError(f"{path}: {why}: name a file of judgments")
    if path.suffix.lower() not in SUFFIXES:
        raise DataError(f"{path}: judgments are {', '.join(SUFFIXES)} files: use one of these endings")
    if _is_ours(path):
        return list(read_records(path, Judgment))
    tally = Tally()
    rows = read_table(path, tally, _CURE)
    first = next(rows, None)
    if first is None:
        raise DataError(f"{path}: holds no row; {_CURE}")
    judgments = list(_single(path, _judgments(path, first, chain([first], rows))))
    if tally.drops["bad_row"]:
        raise DataError(f"{path.parent / tally.places['bad_row'][0]}: is the file complete?")
    return judgments


def _is_ours(path: Path) -> bool:
    """Return True for the records that the studio exports."""
    if path.suffix not in (".jsonl", ".parquet"):
        return False
    first = next(read_table(path, Tally(), _CURE), None)
    return first is None or {field.name for field in fields(Judgment)} <= set(first.fields)


def _single(path: Path, judgments: Iterable[tuple[TableRow, Judgment]]) -> Iterator[Judgment]:
    """Yield one answer per rater and item; raise for a second one that differs, where no time decides."""
    given: dict[tuple[str, str, str], tuple[str, str]] = {}
    for row, judgment in judgments:
        key = (judgment.item_id, judgment.annotator, judgment.question)
        if judgment.created_at == NO_TIME and key in given:
            answer, place = given[key]
            if answer and judgment.answer not in ("", answer):
                raise DataError(
                    f"{path.parent / row.place}: {judgment.annotator!r} answers item {judgment.item_id!r} "
                    f"with {judgment.answer!r}, but with {answer!r} in {place}: keep one of the two rows, or "
                    "add a column created_at with the times: the latest answer counts"
                )
            if answer or not judgment.answer:
                continue
        given[key] = (judgment.answer, row.place)
        yield judgment


def _judgments(path: Path, first: TableRow, rows: Iterable[TableRow]) -> Iterator[tuple[TableRow, Judgment]]:
    spelled = {str(name).strip().lower(): str(name) for name in first.fields}
    found = {
        field: next((spelled[name] for name in names if name in spelled), None)
        for field, names in COLUMNS.items()
    }
    item, annotator, answer = found["item"], found["annotator"], found["answer"]
    if annotator and answer and item:
        question, time = found["question"], found["time"]
        for row in rows:
            asked = cell_text(row.fields.get(question)) if question else ""
            at = cell_text(row.fields.get(time)).strip() if time else ""
            rater = cell_text(row.fields.get(annotator))
            yield row, _judgment(row, item, rater, asked, row.fields.get(answer), at or NO_TIME)
        return
    raters = [str(name) for name in first.fields if str(name) != item]
    if len(raters) < 2 or annotator:
        raise DataError(f"{path}: no judgments in the columns {', '.join(spelled)[:200]}; {_CURE}")
    if unnamed := next((name for name in raters if re.fullmatch(r"column \d+", name)), ""):
        raise DataError(f"{path}: {unnamed} has no name in the first row, which is the header; {_CURE}")
    found_in: dict[str, list[str]] = {rater: [] for rater in raters}
    for row in rows:
        for rater in raters:
            if cell_text(row.fields.get(rater)).strip():
                given = _judgment(row, item, rater, "", row.fields.get(rater))
                found_in[rater].append(given.answer)
                yield row, given
    _check_raters(path, found_in)


def _check_raters(path: Path, answers: Mapping[str, list[str]]) -> None:
    """Raise for a column of texts beside the raters: it would count as one who agrees with nobody."""
    for name, own in answers.items():
        others = {answer for rater, given in answers.items() if rater != name for answer in given}
        one_of_a_kind = len(own) >= FEWEST and len(set(own)) == len(own)
        if one_of_a_kind and others.isdisjoint(own) and not any(map(_is_number, own)):
            raise DataError(
                f"{path}: the column {name!r} holds no answers: every row has a different value, and no "
                "rater gives any of them; leave it out of the table"
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _judgment(
    row: TableRow, item: str | None, annotator: str, question: str, answer: Any, time: str = NO_TIME
) -> Judgment:
    name = cell_text(row.fields.get(item)) if item else str(row.number)
    words = cell_text(answer).strip().removesuffix(".0")
    return Judgment(name, annotator, question, words, 0.0, time)
