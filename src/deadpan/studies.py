"""The folder a study comes in (read by the studio) and the folder its answers leave in (read by all)."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from deadpan.config import read_config, write_config
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.fields import encode, field_names
from deadpan.records import Judgment, Label, Turn
from deadpan.storage import (
    atomic,
    digest,
    manifest_path,
    read_manifest,
    read_records,
    write_manifest,
    write_records,
)

R = TypeVar("R")
STUDY, ITEMS = "study.toml", "items.jsonl"
JUDGMENTS, LABELS, SUBMISSIONS = "judgments.jsonl", "labels.jsonl", "submissions.jsonl"

# ---------------------------------------------------------------- the study


@dataclass(frozen=True, slots=True)
class Study:
    """What is asked, of how many, in which language. `settings` are the protocol's own."""

    protocol: str
    title: str
    version: str = "1"
    language: str = "en"
    seed: int = 0
    raters_per_item: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("protocol", "title", "version", "language"):
            if not getattr(self, name).strip():
                raise ConfigError(f"{name} is empty: a study needs one")
        if self.raters_per_item < 1:
            raise ConfigError(f"raters_per_item needs 1 or more, got {self.raters_per_item}")


@dataclass(frozen=True, slots=True)
class StudyItem:
    """One thing people are asked about. `hidden` never leaves the server; `shown` may go to a browser."""

    id: str
    response: Turn
    context: tuple[Turn, ...] = ()
    options: tuple[str, ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict)
    hidden: Mapping[str, Any] = field(default_factory=dict)


def write_study(
    folder: Path,
    study: Study,
    items: Iterable[StudyItem],
    *,
    command: str = "study",
    inputs: Iterable[Path] = (),
    tally: Tally | None = None,
) -> int:
    """Write a study folder, its manifest last; the number of items. A survey may have none."""
    kept = checked_items(items)
    folder = _begin(folder)
    write_config(folder / STUDY, study)
    write_records(folder / ITEMS, kept, StudyItem)
    write_manifest(
        folder,
        command=command,
        config=encode(study),
        seed=study.seed,
        inputs=inputs,
        counts={"items": len(kept)},
        tally=tally,
    )
    return len(kept)


def read_study(folder: Path) -> tuple[Study, list[StudyItem]]:
    """The study and its items. study.toml may be edited by hand, items.jsonl must be as it was written."""
    folder = Path(folder)
    _check_whole(folder, "study", (ITEMS,))
    study = read_config(folder / STUDY, Study)
    try:
        return study, checked_items(read_records(folder / ITEMS, StudyItem))
    except DataError as bad:
        place = "" if ITEMS in str(bad) else f"{folder / ITEMS}: "
        raise DataError(f"{place}{bad}") from None


def checked_items(items: Iterable[StudyItem]) -> list[StudyItem]:
    """The items, if every one can be asked about and told apart from the others."""
    kept: list[StudyItem] = []
    numbers: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        if not item.id.strip():
            raise DataError(f"item {number} has no id: give every item one of its own")
        if item.id in numbers:
            raise DataError(
                f"item {number} has the id {item.id!r} of item {numbers[item.id]}: ids must differ"
            )
        if not item.response.text.strip():
            raise DataError(f"item {item.id!r} has no text to ask about: leave it out")
        if leaked := item.shown.keys() & item.hidden.keys():
            raise DataError(f"item {item.id!r} both shows and hides {min(leaked)!r}: keep one of them")
        numbers[item.id] = number
        kept.append(item)
    return kept


# ---------------------------------------------------------------- its answers


@dataclass(frozen=True, slots=True)
class Submission:
    """What one participant of a survey handed in: their own texts and answers, by question."""

    id: str
    participant: str
    answers: Mapping[str, Any]
    seconds: float
    created_at: str


@dataclass(frozen=True, slots=True)
class Export:
    """The answers of a study. `submissions` is empty for a study that is not a survey."""

    judgments: tuple[Judgment, ...]
    labels: tuple[Label, ...]
    submissions: tuple[Submission, ...] = ()


def write_export(
    folder: Path,
    judgments: Iterable[Judgment],
    labels: Iterable[Label],
    submissions: Iterable[Submission] | None = None,
    *,
    csv: bool = False,
    command: str = "studio export",
    config: Mapping[str, Any] | None = None,
    tally: Tally | None = None,
) -> dict[str, int]:
    """Write the answers, the manifest last; how many of each. `csv` adds files for a spreadsheet.

    The tally counts what was left out, such as withdrawals; it is for the caller to leave them out.
    """
    folder = _begin(folder)
    parts: dict[str, tuple[Sequence[Any], type[Any]]] = {
        JUDGMENTS: (tuple(judgments), Judgment),
        LABELS: (tuple(labels), Label),
    }
    if submissions is not None:
        parts[SUBMISSIONS] = (tuple(submissions), Submission)
    _remove_stale(folder, keep=set(parts), csv=csv)
    for name, (records, kind) in parts.items():
        write_records(folder / name, records, kind)
        if csv:
            write_csv((folder / name).with_suffix(".csv"), records, kind)
    counts = {name.removesuffix(".jsonl"): len(records) for name, (records, _) in parts.items()}
    write_manifest(folder, command=command, config=config, counts=counts, tally=tally)
    return counts


def _remove_stale(folder: Path, keep: set[str], csv: bool) -> None:
    """An earlier export's files must not pass for this one's: they may hold answers withdrawn since."""
    for name in (JUDGMENTS, LABELS, SUBMISSIONS):
        if name not in keep:
            (folder / name).unlink(missing_ok=True)
        if name not in keep or not csv:
            (folder / name).with_suffix(".csv").unlink(missing_ok=True)


def read_export(folder: Path) -> Export:
    """The answers of a study, if they are all there."""
    folder = Path(folder)
    _check_whole(folder, "export", (JUDGMENTS, LABELS))
    survey = (folder / SUBMISSIONS).exists()
    if survey:
        _check_whole(folder, "export", (SUBMISSIONS,))
    return Export(
        judgments=tuple(read_records(folder / JUDGMENTS, Judgment)),
        labels=tuple(read_records(folder / LABELS, Label)),
        submissions=tuple(read_records(folder / SUBMISSIONS, Submission)) if survey else (),
    )


# ---------------------------------------------------------------- whole or not there


def _begin(folder: Path) -> Path:
    """Make the folder and take its old manifest away: until a new one is there, it is not finished."""
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: a file of that name is in the way; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    manifest_path(folder).unlink(missing_ok=True)
    return folder


def _check_whole(folder: Path, noun: str, names: Sequence[str]) -> None:
    """Each file is there and the one the manifest describes. A file cut off at a line's end looks whole."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such {noun} folder")
    if not manifest_path(folder).exists():
        raise DataError(f"{folder}: no manifest.json, so its writing was cut short; write the {noun} again")
    files = read_manifest(folder).files
    for name in names:
        if name not in files or not (folder / name).is_file():
            raise DataError(f"{folder / name}: missing; is {folder} a {noun} folder, and all of it?")
        if digest(folder / name) != files[name].get("sha256"):
            raise DataError(
                f"{folder / name}: not as manifest.json says (edited, damaged or cut off); "
                f"write the {noun} again"
            )


# ---------------------------------------------------------------- CSV

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def write_csv(path: Path, records: Iterable[R], kind: type[R]) -> int:
    """Write records for a spreadsheet; the number written. Lists and tables become JSON in their cell.

    Text a spreadsheet would run as a formula gets a leading apostrophe: participants write these cells.
    """
    count = 0
    # Excel takes UTF-8 for something else without a byte order mark, and Korean for rubbish.
    with atomic(Path(path)) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(field_names(kind))
        for count, record in enumerate(records, 1):
            try:
                writer.writerow([_cell(encode(getattr(record, name))) for name in field_names(kind)])
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
