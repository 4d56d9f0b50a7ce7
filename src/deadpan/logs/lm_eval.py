"""Samples of lm-eval (--log_samples): one JSON line per document, with its scores beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.rows import json_lines
from deadpan.logs.log import (
    LogOptions,
    ScoredItem,
    ScoreLog,
    averaged,
    choose_metric,
    cluster_of,
    fingerprint,
    number_of,
    repeated,
)
from deadpan.storage import read_json

PREFERRED = ("acc_norm", "acc", "exact_match", "em", "f1", "pass@1")
_NAME = re.compile(r"samples_(?P<task>.+?)_(?P<at>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl$")
_CURE = "run lm-eval with --log_samples"
_KEYS = {"doc_id": ("doc_id",), "doc": ("doc",)}
_NOT_SCORES = ("doc_id",)


class LmEvalFormat:
    """Files samples_TASK_TIME.jsonl, or the folder that holds them."""

    def recognises(self, path: Path) -> bool:
        """Return True for a samples file and for a folder with some."""
        return bool(_NAME.match(path.name)) if path.is_file() else bool(_files(path))

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read all tasks of a model as one log; of several runs of a task the newest."""
        files = [path] if path.is_file() else _files(path)
        newest: dict[tuple[str, str], Path] = {}
        for file in sorted(files, key=_time):
            newest[_model(file), _task(file)] = file
        older = len(files) - len(newest)
        notes = (f"{path}: {older} older runs of the same task are not read",) if older else ()
        by_model: dict[str, list[Path]] = {}
        for (model, _), file in newest.items():
            by_model.setdefault(model, []).append(file)
        return [_log(model, model_files, path, options, notes) for model, model_files in by_model.items()]


def _log(model: str, files: list[Path], path: Path, options: LogOptions, notes: tuple[str, ...]) -> ScoreLog:
    rows = [(_task(file), row) for file in files for row in _rows(file)]
    filters = {str(row.get("filter", "none")) for _, row in rows}
    named = [(task, row, dict(_scores(row, len(filters) > 1))) for task, row in rows]
    names = [name for _, _, scores in named for name in scores]
    preferred = [n for p in PREFERRED for n in dict.fromkeys(names) if n.partition(",")[0] == p]
    metric = choose_metric(options.metric, names, preferred, path)
    kept = [(task, row, scores) for task, row, scores in named if metric in scores]
    scored = [
        ScoredItem(
            f"{task}/{row['doc_id']}",
            number_of(scores[metric], f"{path}: document {row['doc_id']}"),
            cluster_of(row["doc"], options.cluster, f"{path}: document {row['doc_id']}"),
            str(row.get("doc_hash") or fingerprint(row["doc"], row.get("target"))),
        )
        for task, row, scores in kept
    ]
    items = averaged(scored, path)
    said = (*notes, *repeated(model, len(scored), len(items)))
    return ScoreLog(model, metric, items, path, tuple(dict.fromkeys(names)), said, tuple(files))


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    tally = Tally()
    yield from (row.fields for row in json_lines(file, _KEYS, tally, _CURE))
    if tally.drops["bad_row"]:
        raise DataError(f"{file.parent / tally.places['bad_row'][0]}: is the file complete? {_CURE}")


def _scores(row: Mapping[str, Any], several: bool) -> Iterator[tuple[str, float]]:
    """Yield the numeric scores of a document, as NAME or, where there are several filters, NAME,FILTER."""
    listed = row.get("metrics")
    names = listed if isinstance(listed, list) else [name for name in row if name not in _NOT_SCORES]
    for name in names:
        if isinstance(row.get(name), bool | int | float):
            yield f"{name},{row.get('filter', 'none')}" if several else str(name), float(row[name])


def _files(folder: Path) -> list[Path]:
    """Return the samples in a folder, or in its folders (one per model)."""
    if not folder.is_dir():
        return []
    return [file for place in ("*.jsonl", "*/*.jsonl") for file in folder.glob(place) if _NAME.match(file.name)]


def _task(file: Path) -> str:
    found = _NAME.match(file.name)
    return found["task"] if found else file.stem


def _time(file: Path) -> str:
    found = _NAME.match(file.name)
    return found["at"] if found else ""


def _model(file: Path) -> str:
    """Return the model's name: from the results of the same run or beside the samples, or the folder's name."""
    folder, same = file.parent, file.parent / f"results_{_time(file)}.json"
    for results in [same] * same.is_file() + sorted(folder.glob("results_*.json"), reverse=True):
        name = read_json(results).get("model_name")
        if name:
            return str(name)
    return folder.name
