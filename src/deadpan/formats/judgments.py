"""Judgments in files: what the studio exports, and tables from other tools, one answer per row or one rater
per column."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from deadpan.cards import HubConfig
from deadpan.drops import Tally
from deadpan.errors import DataError, DeadpanError
from deadpan.formats.rows import TableRow
from deadpan.formats.tables import SUFFIXES, cell_text, read_table
from deadpan.records import Judgment, Label
from deadpan.storage import (
    OutputPage,
    atomic,
    begin_folder,
    check_complete,
    read_records,
    write_manifest,
    write_records,
    write_text,
)
from deadpan.validation import encode, field_types

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item_id", "item", "id", "example_id", "text_id", "task_id", "unit"),
    "annotator": ("annotator", "rater", "worker", "worker_id", "annotator_id", "rater_id", "coder", "user"),
    "answer": ("answer", "label", "rating", "value", "judgment", "annotation"),
    "question": ("question", "variable", "dimension"),
    "time": ("created_at",),
}
"""Field -> the names such a column commonly has."""
NO_TIME = "1970-01-01T00:00:00+00:00"
_FEWEST = 5
"""Rows from which a column without a repeated answer is taken for texts."""
_CURE = "a table of judgments has the columns item, annotator and answer, or the column item and one column per rater"


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


def read_answers(path: Path | str) -> dict[str, str]:
    """Read a model's answers by item: a table with the columns item and answer, or judgments of one annotator."""
    path = Path(path)
    first = next(read_table(path, Tally(), _CURE), None)
    names = {str(name).strip().lower(): str(name) for name in first.fields} if first else {}
    item, answer = (next((names[n] for n in _COLUMNS[part] if n in names), None) for part in ("item", "answer"))
    if item is None or answer is None:
        raise DataError(f"{path}: a model's answers need the columns item and answer: got {', '.join(names)[:200]}")
    who = next((names[name] for name in _COLUMNS["annotator"] if name in names), None)
    found: dict[str, str] = {}
    raters: set[str] = set()
    for row in read_table(path, Tally(), _CURE):
        raters.add(cell_text(row.fields.get(who)) if who else "")
        found[cell_text(row.fields.get(item))] = cell_text(row.fields.get(answer)).strip().removesuffix(".0")
    if len(raters) > 1:
        raise DataError(f"{path}: answers of {len(raters)} annotators: keep those of the model")
    return found


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
        field: next((spelled[name] for name in names if name in spelled), None) for field, names in _COLUMNS.items()
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
        one_of_a_kind = len(own) >= _FEWEST and len(set(own)) == len(own)
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


_R = TypeVar("_R")
JUDGMENTS, LABELS, SUBMISSIONS = "judgments.jsonl", "labels.jsonl", "submissions.jsonl"
QUALIFICATION = "qualification.jsonl"
TEXTS, REMARKS = "texts.jsonl", "remarks.jsonl"


@dataclass(frozen=True, slots=True)
class Submission:
    """One participant's answers to a survey, by question, including the texts they handed in."""

    id: str
    participant: str
    answers: Mapping[str, Any]
    seconds: float
    created_at: str


@dataclass(frozen=True, slots=True)
class Remark:
    """Remarks on an item: "flagged", "skipped" with the reason, or "decided" with the note."""

    item_id: str
    annotator: str
    what: str
    said: str


@dataclass(frozen=True, slots=True)
class Export:
    """The answers of a study. `submissions` is empty for a study that is not a survey.

    `qualification` holds the answers of the qualification round, of applicants who were refused too.
    """

    judgments: tuple[Judgment, ...]
    labels: tuple[Label, ...]
    submissions: tuple[Submission, ...] = ()
    qualification: tuple[Judgment, ...] = ()


def write_export(
    folder: Path,
    judgments: Iterable[Judgment],
    labels: Iterable[Label],
    submissions: Iterable[Submission] | None = None,
    *,
    qualification: Iterable[Judgment] = (),
    texts: Sequence[Any] = (),
    remarks: Sequence[Remark] = (),
    csv: bool = False,
    parquet: bool = False,
    command: str = "studio export",
    config: Mapping[str, Any] | None = None,
    tally: Tally | None = None,
) -> dict[str, int]:
    """Write the answers, the manifest last, and return the counts. `csv` adds files for a spreadsheet,
    `parquet` the judgments and labels as Parquet.

    The tally counts what the caller excluded, such as withdrawals.
    """
    folder = Path(folder)
    before = begin_folder(folder, readme_with=JUDGMENTS)
    judgments = tuple(judgments)
    parts: dict[str, tuple[Sequence[Any], type[Any]]] = {
        JUDGMENTS: (judgments, Judgment),
        LABELS: (tuple(labels), Label),
    }
    if submissions is not None:
        parts[SUBMISSIONS] = (tuple(submissions), Submission)
    if round_ := tuple(qualification):
        parts[QUALIFICATION] = (round_, Judgment)
    # Beside the answers: what they are about, and what people said of it.
    beside: dict[str, tuple[Sequence[Any], type[Any]]] = {}
    if texts:
        beside[TEXTS] = (texts, type(texts[0]))
    if remarks:
        beside[REMARKS] = (remarks, Remark)
    _remove_stale(folder, keep={*parts, *beside}, csv=csv, parquet=parquet)
    for name, (records, kind) in beside.items():
        write_records(folder / name, records, kind)
        if csv:
            write_csv((folder / name).with_suffix(".csv"), records, kind)
    for name, (records, kind) in parts.items():
        write_records(folder / name, records, kind)
        if csv:
            write_csv((folder / name).with_suffix(".csv"), records, kind)
        if parquet and name in (JUDGMENTS, LABELS):
            write_records((folder / name).with_suffix(".parquet"), records, kind)
    counts = {name.removesuffix(".jsonl"): len(records) for name, (records, _) in parts.items()}
    write_text(folder / "README.md", _card(counts))
    about = answers_about(judgments, config or {})
    write_manifest(folder, command=command, config=config, counts=counts, tally=tally, before=before, about=about)
    return counts


_MOST_CHOICES = 12
"""Questions with more different answers than this are remarks, on which people do not agree or disagree."""


def answers_about(judgments: Sequence[Judgment], config: Mapping[str, Any]) -> OutputPage:
    """Return the finding of a study: who answered what, and how far people agree on the first question."""
    from deadpan.page.numbers import score
    from deadpan.ratings import agreement, ratings_from_judgments

    people = len({judgment.annotator for judgment in judgments})
    items = len({judgment.item_id for judgment in judgments})
    title = str(config.get("study") or "study")
    finding = f"{people:,} people gave {len(judgments):,} answers about {items:,} items of “{title}”."
    answers: dict[str, set[str]] = {}
    for judgment in judgments:
        answers.setdefault(judgment.question, set()).add(judgment.answer)
    for question in [name for name, given in answers.items() if len(given) <= _MOST_CHOICES]:
        try:
            alpha = agreement(ratings_from_judgments(list(judgments), question), resamples=500)["alpha"]
        except (DeadpanError, KeyError):  # one rater, or one item: nothing to agree on
            continue
        finding += f" Krippendorff's alpha on “{question}” is {score(alpha)}."
        break
    facts = (str(config.get("protocol", "")), f"{people:,} people", f"{items:,} items")
    return OutputPage(f"Study “{title}”", finding, tuple(filter(None, facts)), file="")


def _card(counts: Mapping[str, int]) -> str:
    """Return a README whose front matter tells Hugging Face `datasets` which file is which."""
    configs = [HubConfig(part, {"train": f"{part}.jsonl"}).as_dict() for part, n in counts.items() if n]
    front = f"---\nconfigs: {json.dumps(configs)}\n---\n\n" if configs else ""
    rows = "".join(f"- `{part}.jsonl`: {n:,} rows\n" for part, n in counts.items())
    return f"{front}# Answers of a study\n\n{rows}\nLoad one with `datasets.load_dataset(folder, NAME)`.\n"


def _remove_stale(folder: Path, keep: set[str], csv: bool, parquet: bool) -> None:
    """Remove files of an earlier export: they may hold answers withdrawn since."""
    for name in (JUDGMENTS, LABELS, SUBMISSIONS, QUALIFICATION, TEXTS, REMARKS):
        if name not in keep:
            (folder / name).unlink(missing_ok=True)
        if name not in keep or not csv:
            (folder / name).with_suffix(".csv").unlink(missing_ok=True)
        if not parquet:
            (folder / name).with_suffix(".parquet").unlink(missing_ok=True)


def read_export(folder: Path) -> Export:
    """Read the answers of a study; an incomplete folder is an error."""
    folder = Path(folder)
    check_complete(folder, "export", (JUDGMENTS, LABELS))
    survey = (folder / SUBMISSIONS).exists()
    if survey:
        check_complete(folder, "export", (SUBMISSIONS,))
    round_ = folder / QUALIFICATION
    return Export(
        judgments=tuple(read_records(folder / JUDGMENTS, Judgment)),
        labels=tuple(read_records(folder / LABELS, Label)),
        submissions=tuple(read_records(folder / SUBMISSIONS, Submission)) if survey else (),
        qualification=tuple(read_records(round_, Judgment)) if round_.exists() else (),
    )


# ---------------------------------------------------------------- CSV

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_csv(path: Path, records: Iterable[_R], kind: type[_R]) -> int:
    """Write records for a spreadsheet and return their number. Lists and tables become JSON in their cell.

    Text that a spreadsheet would run as a formula gets a leading apostrophe: participants write these cells.
    """
    count = 0
    # Without a byte order mark Excel does not recognise UTF-8 and garbles Korean.
    with atomic(Path(path)) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field_types(kind))
        for count, record in enumerate(records, 1):
            try:
                writer.writerow([_cell(encode(getattr(record, name))) for name in field_types(kind)])
            except (TypeError, ValueError) as bad:  # UnicodeEncodeError is a ValueError
                raise DataError(f"{kind.__name__} {count} cannot be written as CSV: {bad}") from None
    return count


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value  # type: ignore[no-any-return]
