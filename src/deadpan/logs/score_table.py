"""Tables with one row per item and system, or one file per system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.tables import SUFFIXES, read_table
from deadpan.logs.log import LogOptions, ScoredItem, ScoreLog, averaged, number_of, repeated

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "item": ("item", "item_id", "id", "example_id", "doc_id", "instance_id", "question_id", "sample_id"),
    "system": ("system", "model", "method", "run"),
    "score": ("score", "correct", "value", "acc", "accuracy", "exact_match", "is_correct"),
    "cluster": ("cluster", "group", "thread", "family", "author"),
}
_CURE = "give it the columns item, score and, for several systems, system"


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
        for row in read_table(path, tally, _CURE):
            if not names:
                names = _names(path, row.fields, options)
            cells = row.fields
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
    names = {
        field: next((has[s] for s in spellings if s in has), None) for field, spellings in wanted.items()
    }
    if names["score"] is None and "label" in has and names["item"]:
        raise DataError(f"{path}: predictions, not scores: score them with deadpan score SOURCE {path.name}")
    for field in ("item", "score"):
        if names[field] is None:
            raise DataError(f"{path}: no column {field!r} (it has {', '.join(has)[:160]}): {_CURE}")
    return names
