"""Run folders of deadpan bench: rows.jsonl has one answer per item and run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.rows import json_lines
from deadpan.logs.log import LogOptions, ScoredItem, ScoreLog, averaged
from deadpan.storage import read_json

PLAN, ROWS = "run.json", "rows.jsonl"
METRIC = "correct"
_KEYS = {name: (name,) for name in ("model", "item", "family", "set_hash", "correct", "error")}
_CURE = "give a folder of deadpan bench run"


class BenchFormat:
    """A folder that deadpan bench run wrote: one run, or a folder of runs."""

    def recognises(self, path: Path) -> bool:
        """Return True for a folder with a plan and rows, or one that holds such folders."""
        return bool(_runs(path))

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read the answers; those of several runs are averaged, items of one family are a cluster."""
        if options.metric not in ("", METRIC):
            raise ConfigError(f"{path}: a run has one score per item, {METRIC!r}: leave --metric out")
        return [log for folder in _runs(path) for log in _read_run(folder, options)]


def _runs(path: Path) -> list[Path]:
    folders = [path] if _is_run(path) or not path.is_dir() else sorted(path.iterdir())
    return [folder for folder in folders if _is_run(folder)]


def _is_run(path: Path) -> bool:
    return (path / PLAN).is_file() and (path / ROWS).is_file()


def _read_run(path: Path, options: LogOptions) -> list[ScoreLog]:
    found: dict[str, list[ScoredItem]] = {}
    reasoned = _reasoned(path)
    for model, row in _rows(path):
        found.setdefault(model + reasoned, []).append(row)
    notes = (f"{path}: clusters are families of items; --cluster is for other logs",)
    files = (path / PLAN, path / ROWS)
    return [
        ScoreLog(model, METRIC, averaged(rows, path), path, (METRIC,), notes if options.cluster else (), files)
        for model, rows in found.items()
    ]


def _reasoned(path: Path) -> str:
    """Return what tells a run with reasoning from the direct one of the same model, as on a leaderboard."""
    plan = read_json(path / PLAN)
    prompt = plan.get("prompt") if isinstance(plan, dict) else None
    return "+reasoning" if str(prompt).startswith("reasoned") else ""


def _rows(path: Path) -> Iterator[tuple[str, ScoredItem]]:
    tally = Tally()
    for row in json_lines(path / ROWS, _KEYS, tally, _CURE):
        cells = row.fields
        score = None if cells["error"] else float(bool(cells["correct"]))
        question = f"{cells['set_hash']}/{cells['item']}"
        yield str(cells["model"]), ScoredItem(str(cells["item"]), score, str(cells["family"] or ""), question)
    if tally.drops["bad_row"]:
        raise DataError(f"{path / tally.places['bad_row'][0]}: is the file complete? {_CURE}")
