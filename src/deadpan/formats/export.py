"""The folder of a study's answers: judgments, labels and, for surveys, submissions; CSV on request."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from deadpan.cards.markdown import HubConfig
from deadpan.drops import Tally
from deadpan.errors import DataError, DeadpanError
from deadpan.formats.folders import begin_folder, check_complete
from deadpan.records import Judgment, Label
from deadpan.storage import OutputPage, atomic, read_records, write_manifest, write_records, write_text
from deadpan.validation import encode, field_types

R = TypeVar("R")
JUDGMENTS, LABELS, SUBMISSIONS = "judgments.jsonl", "labels.jsonl", "submissions.jsonl"
QUALIFICATION = "qualification.jsonl"


@dataclass(frozen=True, slots=True)
class Submission:
    """One participant's answers to a survey, by question, including the texts they handed in."""

    id: str
    participant: str
    answers: Mapping[str, Any]
    seconds: float
    created_at: str


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
    _remove_stale(folder, keep=set(parts), csv=csv, parquet=parquet)
    for name, (records, kind) in parts.items():
        write_records(folder / name, records, kind)
        if csv:
            write_csv((folder / name).with_suffix(".csv"), records, kind)
        if parquet and name in (JUDGMENTS, LABELS):
            write_records((folder / name).with_suffix(".parquet"), records, kind)
    counts = {name.removesuffix(".jsonl"): len(records) for name, (records, _) in parts.items()}
    write_text(folder / "README.md", _card(counts))
    about = answers_about(judgments, config or {})
    write_manifest(
        folder, command=command, config=config, counts=counts, tally=tally, before=before, about=about
    )
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
    for name in (JUDGMENTS, LABELS, SUBMISSIONS, QUALIFICATION):
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


def write_csv(path: Path, records: Iterable[R], kind: type[R]) -> int:
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
