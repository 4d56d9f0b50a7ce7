"""HELM's run folders: per_instance_stats.json has the statistics of every instance and trial."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.formats.rows import json_document
from deadpan.logs.log import (
    LogOptions,
    ScoredItem,
    ScoreLog,
    averaged,
    choose_metric,
    number_of,
    only_objects,
    repeated,
)

STATS, SPEC = "per_instance_stats.json", "run_spec.json"
PREFERRED = (
    "exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match",
    "exact_match@5", "f1_score", "rouge_l", "bleu_4",
)  # fmt: skip
_MODEL = re.compile(r",?model(?:_deployment)?=[^,]*")
_CURE = "give a folder of helm-run that holds per_instance_stats.json"


class HelmFormat:
    """A run folder of helm-run, or a folder of them."""

    def recognises(self, path: Path) -> bool:
        """Return True for the file of statistics, its folder, and a folder of such folders."""
        return path.name == STATS or bool(_runs(path))

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read every run below the path; runs of one model are one log."""
        folders = [path.parent] if path.is_file() else _runs(path)
        models: dict[str, list[Path]] = {}
        for folder in folders:
            models.setdefault(_model(folder), []).append(folder)
        return [_log(model, runs, path, options) for model, runs in models.items()]


def _log(model: str, folders: list[Path], path: Path, options: LogOptions) -> ScoreLog:
    rows = [(folder, *row) for folder in folders for row in _rows(folder)]
    names = [name for _, _, scores in rows for name in scores]
    metric = choose_metric(options.metric, names, PREFERRED, path)
    scored = [
        ScoredItem(f"{_scenario(folder)}/{instance}", number_of(scores[metric], f"{path}: {instance}"))
        for folder, instance, scores in rows
        if metric in scores
    ]
    items = averaged(scored, path)
    notes = (f"{path}: HELM's files have no field for --cluster",) if options.cluster else ()
    known = dict.fromkeys([*(name for name in PREFERRED if name in names), *names])
    said = (*notes, *repeated(model, len(scored), len(items)))
    files = tuple(folder / name for folder in folders for name in (STATS, SPEC) if (folder / name).is_file())
    return ScoreLog(model, metric, items, path, tuple(known), said, files)


def _rows(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id and the statistics of each instance, without perturbed copies."""
    file = folder / STATS
    for row in only_objects(json_document(file, _CURE), file, "instances"):
        if row.get("perturbation"):
            continue
        if "instance_id" not in row or not isinstance(row.get("stats"), list):
            raise DataError(f"{file}: an instance has no id or no stats: {_CURE}")
        yield str(row["instance_id"]), dict(_stats(row["stats"]))


def _stats(stats: list[Any]) -> Iterator[tuple[str, Any]]:
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if isinstance(name, Mapping) and not name.get("perturbation") and stat.get("count"):
            yield str(name.get("name")), stat.get("mean", stat.get("sum"))


def _runs(path: Path) -> list[Path]:
    if not path.is_dir():
        return []
    return [path] if (path / STATS).is_file() else sorted(file.parent for file in path.glob(f"*/{STATS}"))


def _spec(folder: Path) -> Mapping[str, Any]:
    file = folder / SPEC
    spec = json_document(file, _CURE) if file.is_file() else {}
    return spec if isinstance(spec, Mapping) else {}


def _model(folder: Path) -> str:
    adapter = _spec(folder).get("adapter_spec")
    model = adapter.get("model") or adapter.get("model_deployment") if isinstance(adapter, Mapping) else None
    found = re.search(r"model(?:_deployment)?=([^,]*)", folder.name)
    return str(model or (found[1] if found else folder.name))


def _scenario(folder: Path) -> str:
    """Return the name of a run without its model, which two runs of one scenario share."""
    return _MODEL.sub("", str(_spec(folder).get("name") or folder.name)).rstrip(":,")
