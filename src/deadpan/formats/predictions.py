"""The one format of predictions: what `detect predict` writes and what scores, comparisons and pages read.

By the file's extension: .jsonl and .parquet hold Prediction records (`example_id`, `label`, `score`, `raw`);
.csv and .tsv have the columns `id`, `label` (sarcastic or sincere) and `score`. Reading accepts `id` and
`example_id` alike. An empty label is an answer that could not be parsed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import EVERYDAY, NO_LABEL, Words, label_word, read_label
from deadpan.formats.rows import csv_rows, json_lines
from deadpan.records import Prediction
from deadpan.storage import atomic, read_records, write_records
from deadpan.validation import decode

_SUFFIXES = (".jsonl", ".parquet", ".csv", ".tsv")
_CURE = (
    "predictions have the columns id, label and score; a scored table that holds the true labels too is "
    "scored by itself: deadpan score scored.csv"
)
_COLUMNS = {"id": ("id", "example_id"), "label": ("label",)}


def read_predictions(path: Path | str, tally: Tally | None = None) -> list[Prediction]:
    """Read predictions; lines that hold an error instead of one are counted in `tally`."""
    path = _checked(path)
    tally = tally if tally is not None else Tally()
    if not path.is_file():
        raise DataError(f"{path}: no such file: name a file of predictions")
    if path.suffix == ".parquet":
        return list(read_records(path, Prediction))
    if path.suffix == ".jsonl":
        predictions = list(_json_predictions(path, tally))
    else:
        rows = csv_rows(path, _COLUMNS, tally, _CURE, delimiter="\t" if path.suffix == ".tsv" else ",")
        predictions = [prediction_from(path, row.place, row.fields) for row in rows]
    if tally.drops["bad_row"]:
        raise DataError(f"{path.parent / tally.places['bad_row'][0]}: is the file complete?")
    return predictions


def read_systems(paths: Iterable[Path | str]) -> dict[str, list[Prediction]]:
    """Read a file of predictions per system; a system has the name of its file."""
    systems: dict[str, list[Prediction]] = {}
    for path in paths:
        name = Path(path).stem
        if name in systems:
            raise ConfigError(f"two files of predictions are called {name!r}: rename one to tell them apart")
        systems[name] = read_predictions(path)
    return systems


def write_predictions(path: Path | str, predictions: Iterable[Prediction]) -> int:
    """Write predictions in the format of the file's extension; return how many."""
    path = _checked(path)
    if path.suffix not in (".csv", ".tsv"):
        return write_records(path, predictions, Prediction)
    count = 0
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",", lineterminator="\n")
        writer.writerow(("id", "label", "score"))
        for one in predictions:
            count += 1
            writer.writerow((one.example_id, label_word(one), "" if one.score is None else one.score))
    return count


def prediction_line(prediction: Prediction) -> str:
    """Return a prediction as one JSON line without its newline, as `write_predictions` does but faster."""
    label = "null" if prediction.label is None else "true" if prediction.label else "false"
    score = "null" if prediction.score is None else f"{prediction.score:.6g}"
    id, raw = (json.dumps(text, ensure_ascii=False) for text in (prediction.example_id, prediction.raw))
    return f'{{"example_id": {id}, "label": {label}, "score": {score}, "raw": {raw}}}'


def _checked(path: Path | str) -> Path:
    path = Path(path)
    if path.suffix not in _SUFFIXES:
        raise ConfigError(f"{path}: predictions are {', '.join(_SUFFIXES)} files: use one of these endings")
    return path


def _json_predictions(path: Path, tally: Tally) -> Iterator[Prediction]:
    for row in json_lines(path, {}, tally, _CURE):
        fields = dict(row.fields)
        if "error" in fields and "label" not in fields:
            tally.drop("no_prediction", row.place, str(fields["error"]))
            continue
        if "id" in fields:
            fields["example_id"] = str(fields.pop("id"))
        try:
            yield decode(fields, Prediction)
        except (TypeError, ValueError) as bad:
            raise DataError(f"{path.parent / row.place}: not a prediction ({bad}): {_CURE}") from None


def _score_cell(cells: Mapping[str, Any]) -> Any:
    value = cells.get("predicted_score", cells.get("score", ""))
    return "" if value is None else value


def prediction_from(path: Path, place: str, cells: Mapping[str, Any], words: Words = EVERYDAY) -> Prediction:
    """Return a row of a table as a prediction; a label that is not one of the words is an error.

    The label is in `predicted_label` where the table has such a column, since `label` is then the truth.
    """
    word, number = str(cells.get("predicted_label", cells["label"])).strip(), str(_score_cell(cells)).strip()
    label = read_label(word, words) if word else None
    if word and label is None and word.lower() not in NO_LABEL:
        raise DataError(f"{path.parent / place}: label {word!r} is not known: write sarcastic or sincere")
    try:
        score = float(number) if number and number.lower() != "nan" else None
    except ValueError:
        raise DataError(f"{path.parent / place}: score {number!r} is not a number") from None
    return Prediction(str(cells["id"]), label, score, str(cells.get("raw", "") or ""))
