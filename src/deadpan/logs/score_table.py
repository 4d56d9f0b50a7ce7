"""Tables with one row per item and system, or one file per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import EVERYDAY, NO_LABEL, read_label
from deadpan.formats.tables import SUFFIXES, read_table
from deadpan.logs.log import LogOptions, ScoredItem, ScoreLog, averaged, number_of, repeated

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "id", "example_id", "doc_id", "instance_id", "question_id", "sample_id"),
    "system": ("system", "model", "method", "run"),
    "score": ("score", "correct", "value", "acc", "accuracy", "exact_match", "is_correct"),
    "cluster": ("cluster", "group", "thread", "family", "author"),
}
_CURE = "give it the columns item, score and, for several systems, system"
_PREDICTED = "predicted"
"""Prefix of the columns that `detect predict` adds to a table with a label or a score of its own."""


class TableFormat:
    """A table: .csv, .tsv, .jsonl, .json, .parquet or .xlsx."""

    def recognises(self, path: Path) -> bool:
        """Return True for a file with the ending of a table."""
        return path.is_file() and path.suffix.lower() in SUFFIXES

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read the scores of every system; a table without that column is of the system it is named by."""
        tally = Tally()
        found: dict[str, list[ScoredItem]] = {}
        names: dict[str, str | None] = {}
        labels: set[str] = set()
        for row in read_table(path, tally, _CURE):
            cells = row.fields
            if not names:
                names = _names(path, cells, options)
                label = _label_column(cells)
            labels.add(str(cells.get(label) or "").strip().lower())
            system = str(cells.get(names["system"] or "") or path.stem)
            cluster = cells.get(names["cluster"] or "")
            item = ScoredItem(
                str(cells.get(names["item"] or "", "")),
                number_of(cells.get(names["score"] or ""), str(path.parent / row.place)),
                "" if cluster is None else str(cluster),
            )
            if not item.item:
                raise DataError(f"{path.parent / row.place}: no item: give every row one")
            found.setdefault(system, []).append(item)
        if tally.drops["bad_row"]:
            raise DataError(f"{path.parent / tally.places['bad_row'][0]}: is the file complete? {_CURE}")
        metric = names.get("score") or "score"
        scores = [item.score for rows in found.values() for item in rows]
        if metric.strip().lower() == COLUMNS["score"][0] and _are_probabilities(labels, scores):
            raise DataError(_predictions(path))
        return [_log(system, metric, rows, path) for system, rows in found.items()]


def _log(system: str, metric: str, rows: list[ScoredItem], path: Path) -> ScoreLog:
    items = averaged(rows, path)
    return ScoreLog(system, metric, items, path, (metric,), repeated(system, len(rows), len(items)), (path,))


def _names(path: Path, fields: Mapping[str, object], options: LogOptions) -> dict[str, str | None]:
    """Return which column holds what."""
    has = {str(name).strip().lower(): str(name) for name in fields}
    wanted = dict(COLUMNS)
    for field, name in (("score", options.metric), ("cluster", options.cluster)):
        if name and name.lower() not in has:
            raise ConfigError(f"{path}: no column {name!r} (it has {', '.join(has)})")
        if name:
            wanted[field] = (name.lower(),)
    names = {field: next((has[s] for s in spellings if s in has), None) for field, spellings in wanted.items()}
    predicted = (names["score"] or "").strip().lower().startswith(_PREDICTED)
    if predicted or (names["score"] is None and _label_column(fields)):
        raise DataError(_predictions(path))
    for field in ("item", "score"):
        if names[field] is None:
            raise DataError(f"{path}: no column {field!r} (it has {', '.join(has)[:160]}): {_CURE}")
    return names


def _label_column(fields: Mapping[str, object]) -> str:
    """Return the column of predicted labels, or of labels; empty if there is none."""
    has = {str(name).strip().lower(): str(name) for name in fields}
    added = sorted(name for name in has if name.startswith(_PREDICTED) and name.endswith("_label"))
    return next((has[name] for name in (*added, "label") if name in has), "")


def _are_probabilities(labels: set[str], scores: Sequence[float | None]) -> bool:
    """Return whether scores beside such labels are probabilities of sarcasm, not right (1) or wrong (0)."""
    words = labels - {"", *NO_LABEL}
    are_labels = bool(words) and all(read_label(word, EVERYDAY) is not None for word in words)
    return are_labels and any(score not in (None, 0.0, 1.0) for score in scores)


def _predictions(path: Path) -> str:
    return (
        f"{path}: these are predictions: their score is a probability of sarcasm, not how right they are; "
        "compare them with deadpan score A.csv B.csv (deadpan score LABELS.csv A.csv B.csv if they hold no "
        "true labels), or call the column of how right they are correct"
    )
