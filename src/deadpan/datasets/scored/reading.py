"""Scored tables read back: the labels that are true, and the answers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.datasets.reading import COLUMNS, Reading
from deadpan.datasets.scored.writing import ADDED
from deadpan.datasets.table import TableReader
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.labels import EVERYDAY, Words, kind_words
from deadpan.formats.predictions import prediction_from
from deadpan.formats.tables import is_table, read_table
from deadpan.records import Example, Prediction

_CURE = "write it with deadpan detect predict TABLE --out scored.csv"


@dataclass(frozen=True, slots=True)
class ScoredFile:
    """A scored table: its labelled rows, the answers in the same order, and the rows left out."""

    path: Path
    examples: list[Example]
    predictions: list[Prediction]
    tally: Tally


def scored_columns(path: Path) -> tuple[str, str]:
    """Return the names of the columns with predicted labels and scores, lower case; an error if none."""
    first = next(read_table(path, Tally(), _CURE), None)
    names = {str(name).strip().lower() for name in first.fields} if first else set()
    numbered = sorted(name for name in names if name.startswith("predicted") and name.endswith("_label"))
    if numbered:
        label = "predicted_label" if "predicted_label" in names else numbered[0]
        return label, label.removesuffix("label") + "score"
    if ADDED[0] in names and any(name in names for name in COLUMNS["label"] if name != ADDED[0]):
        return ADDED[0], ADDED[1]
    return "", ""


def are_scored(sources: Sequence[Path | str], reading: Reading | None = None) -> bool:
    """Return True if the sources are scored tables; a single source must be one."""
    asked = dict((reading or Reading()).columns).get("label", "").lower()
    own = asked and asked != ADDED[0]
    return len(sources) == 1 or all(
        is_table(one) and (own or scored_columns(Path(one))[0]) for one in sources
    )


def read_scored(path: Path | str, reading: Reading | None = None) -> ScoredFile:
    """Read a scored table that has the true labels too; rows without a true label are counted and left out.

    The true labels are in the column named by `reading`, or in one with a usual name.
    """
    path, reading = Path(path), reading or Reading()
    if path.suffix and not path.exists():  # without a suffix it may be the name of a corpus
        raise DataError(f"{path}: no such file: {_CURE}")
    if not is_table(path):
        raise DataError(
            f"{path}: not a scored table: {_CURE}, or name predictions for it, without --out: "
            f"deadpan score {path} predictions.jsonl"
        )
    label, score = scored_columns(path)
    asked = dict(reading.columns).get("label", "")
    if not label and asked and asked.lower() != ADDED[0]:
        label, score = ADDED[0], ADDED[1]
    if not label:
        raise DataError(
            f"{path}: no column of predictions beside the labels (label, or predicted_label): {_CURE}"
        )
    if not asked:
        reading = replace(reading, columns=(*reading.columns, ("label", _truth(path, label))))
    reader = TableReader("table", path, reading)
    examples: list[Example] = []
    predictions: list[Prediction] = []
    words = {**EVERYDAY, **kind_words(_labels_in(path, label))}
    for example in reader:
        answer = _answer(path, example, label, score, words)
        if example.label is None:
            reader.tally.drop("no_true_label")
            continue
        name = _place(example) if example.id.startswith("table/") else example.id
        examples.append(replace(example, id=name))
        predictions.append(replace(answer, example_id=name))
    if not examples:
        raise DataError(f"{path}: no row has a true label: name its column, --column label=NAME")
    return ScoredFile(path, examples, predictions, reader.tally)


def _truth(path: Path, label: str) -> str:
    """Return the column of the true labels: a usual name other than that of the predictions."""
    first = next(read_table(path, Tally(), _CURE))
    names = {str(name).strip().lower() for name in first.fields}
    found = next((name for name in COLUMNS["label"] if name in names and name != label), "")
    if not found:
        has = ", ".join(map(str, first.fields))[:200]
        raise DataError(f"{path}: no column of true labels (has {has}): name it, --column label=NAME")
    return found


def _labels_in(path: Path, label: str) -> set[str]:
    """Return the labels that were predicted."""
    rows = (
        {str(name).strip().lower(): v for name, v in row.fields.items()}
        for row in read_table(path, Tally(), _CURE)
    )
    return {str(row.get(label) or "") for row in rows}


def _answer(path: Path, example: Example, label: str, score: str, words: Words) -> Prediction:
    cells: Mapping[str, object] = {str(name).strip().lower(): v for name, v in example.meta.items()}
    found = {"id": example.id, "label": cells.get(label, ""), "score": cells.get(score, "")}
    return prediction_from(path, example.id, found, words)


def _place(example: Example) -> str:
    """Return the number of the row, by which two scored copies of one table are matched."""
    return f"row {example.id.rpartition('-')[2]}"


def check_same_rows(files: Sequence[ScoredFile]) -> list[Example]:
    """Return the examples of several scored copies of one table, which must have the same labels."""
    first = files[0]
    truth = {example.id: example for example in first.examples}
    for other in files[1:]:
        labels = {example.id: example for example in other.examples}
        if lone := sorted(labels.keys() ^ truth.keys()):
            has, lacks = (first, other) if lone[0] in truth else (other, first)
            raise DataError(
                f"{has.path} has a labelled row {lone[0].removeprefix('row ')!r} that {lacks.path} lacks "
                f"({len(truth):,} and {len(labels):,} labelled rows): they are not the same table"
            )
        for id, example in labels.items():
            if example.label != truth[id].label or example.response.text != truth[id].response.text:
                raise DataError(f"{other.path}: {id} has a different text or label than in {first.path}")
    return first.examples
