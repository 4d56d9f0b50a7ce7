"""Inspect's logs: .eval archives and .json files, read without Inspect.

An archive holds header.json and summaries.json, which has every sample with its scores; a run that was
stopped has its summaries in pieces under _journal/. Recent versions compress with Zstandard.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deadpan.archives import ZSTD
from deadpan.errors import DataError, need
from deadpan.formats.rows import json_document
from deadpan.logs.log import (
    LogOptions,
    ScoredItem,
    ScoreLog,
    averaged,
    choose_metric,
    cluster_of,
    fingerprint,
    number_of,
    only_objects,
    repeated,
)

ZSTANDARD = 93
_CURE = "give a log of Inspect"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, RecursionError)


class InspectFormat:
    """Logs of inspect eval."""

    def recognises(self, path: Path) -> bool:
        """Return True for .eval files, folders with some, and .json files that begin as Inspect's do."""
        if path.is_dir():
            return bool(_logs_in(path))
        if path.suffix == ".eval":
            return True
        if path.suffix != ".json" or not path.is_file():
            return False
        with path.open("rb") as file:
            start = file.read(4_000)
        return b'"eval"' in start and b'"status"' in start

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read the scores of one run, or of every run in a folder; epochs of a sample are averaged."""
        if path.is_dir():
            return [log for file in _logs_in(path) for log in self.read(file, options)]
        header, samples = _archive(path) if path.suffix == ".eval" else _document(path)
        info = header.get("eval") if isinstance(header, Mapping) else None
        if not isinstance(info, Mapping):
            raise DataError(f"{path}: not a log of Inspect, or it was cut off: run it again")
        scored = [(sample, dict(_scores(sample))) for sample in samples]
        names = [name for _, scores in scored for name in scores]
        metric = choose_metric(options.metric, names, (), path)
        # A task of a package is "deadpan/sarcbench" in one version and "sarcbench" in another.
        task = str(info.get("task", "")).rpartition("/")[2]
        rows = [_item(task, sample, scores, metric, options, path) for sample, scores in scored]
        items = averaged(rows, path)
        status = str(header.get("status", "success"))
        notes = () if status == "success" else (f"{path.name}: the run has the status {status!r}",)
        model = str(info.get("model", path.stem))
        said = (*notes, *repeated(model, len(rows), len(items)))
        return [ScoreLog(model, metric, items, path, tuple(dict.fromkeys(names)), said, (path,))]


def _logs_in(folder: Path) -> list[Path]:
    """Return the logs in a folder, or in its folders."""
    return sorted(file for place in ("*.eval", "*/*.eval") for file in folder.glob(place))


def _item(
    task: str, sample: Mapping[str, Any], scores: Mapping[str, Any], metric: str, options: LogOptions, path: Path
) -> ScoredItem:
    name = f"{task}/{sample.get('id')}"
    return ScoredItem(
        name,
        number_of(scores.get(metric), f"{path}: sample {sample.get('id')!r}"),
        cluster_of(sample.get("metadata"), options.cluster, f"{path}: sample {sample.get('id')!r}"),
        fingerprint(json.dumps([sample.get("input"), sample.get("target")], sort_keys=True)),
    )


def _scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the scores of a sample; a scorer that returns several has a metric for each, scorer/name."""
    scores = sample.get("scores") or {}
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else score
        if isinstance(value, Mapping):
            yield from ((f"{scorer}/{part}", one) for part, one in value.items())
        elif not isinstance(value, list):
            yield scorer, value


def _document(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    whole = json_document(path, _CURE)
    return whole, list(only_objects(whole.get("samples") or [], path, "samples"))


def _archive(path: Path) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            pieces = sorted(name for name in names if name.startswith("_journal/summaries/"))
            header = _member(archive, "header.json" if "header.json" in names else "_journal/start.json")
            chosen = ["summaries.json"] if "summaries.json" in names else pieces
            samples = [sample for name in chosen for sample in only_objects(_member(archive, name), path, "samples")]
    except _DAMAGED as bad:
        raise DataError(f"{path}: damaged or not a log of Inspect ({bad}): copy it again") from None
    if "header.json" not in names:
        header = {**header, "status": "started"}
    return header, samples


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """Return a JSON member; the standard library does not decompress Zstandard before Python 3.14."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return json.loads(archive.read(name))
    zstd = need(ZSTD, "corpus")
    file = archive.fp
    assert file is not None
    file.seek(info.header_offset + 26)
    skip = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
    file.seek(skip, 1)
    raw = file.read(info.compress_size)
    try:
        return json.loads(zstd.decompress(raw))
    except zstd.ZstdError as bad:
        raise ValueError(str(bad)) from None
