"""The scores of one system, one per item: what all formats share, and which format a file or folder has."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from deadpan.arguments import check_path
from deadpan.errors import ConfigError, DataError
from deadpan.registry import Registry, unknown

_SCORE_WORDS: Mapping[str, float] = {
    "c": 1.0, "correct": 1.0, "right": 1.0, "true": 1.0, "yes": 1.0, "pass": 1.0,
    "i": 0.0, "incorrect": 0.0, "wrong": 0.0, "false": 0.0, "no": 0.0, "fail": 0.0, "n": 0.0,
    "p": 0.5, "partial": 0.5,
}  # fmt: skip
"""Scores that are words; C, I, P and N are Inspect's."""

_NO_SCORE = ("", "none", "nan", "null", "na", "n/a")


@dataclass(frozen=True, slots=True)
class ScoredItem:
    """The score of one item; None was not scored, which is not the same as wrong.

    Items of one `cluster` are not independent. `question` is a hash of what was asked, if the log has it:
    the same id in two logs must mean the same question.
    """

    item: str
    score: float | None
    cluster: str = ""
    question: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class ScoreLog:
    """The items of one system by one metric, once each; `metrics` are all that the log has."""

    system: str
    metric: str
    items: Mapping[str, ScoredItem]
    path: Path
    metrics: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
    files: tuple[Path, ...] = field(default=())
    """The files that were read, for the manifest."""

    def __repr__(self) -> str:
        return f"ScoreLog({self.system!r}, {self.metric!r}, {len(self.items):,} items)"


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The score to read, and the field of an item that names its cluster; empty for the format's own."""

    metric: str = ""
    cluster: str = ""


def number_of(value: Any, where: str) -> float | None:
    """Return a score as a number: a number, True, "C" or "correct"; None if there is none."""
    if value is None or isinstance(value, bool | int | float):
        number = None if value is None else float(value)
        return None if number is None or math.isnan(number) else _finite(number, where)
    text = str(value).strip().lower() if isinstance(value, str) else "\0"
    if text in _NO_SCORE:
        return None
    if text in _SCORE_WORDS:
        return _SCORE_WORDS[text]
    try:
        return number_of(float(text), where)
    except ValueError:
        raise DataError(f"{where}: score {str(value)[:40]!r} is not a number, or correct or incorrect") from None


def _finite(number: float, where: str) -> float:
    if math.isinf(number):
        raise DataError(f"{where}: an infinite score cannot be averaged: choose another --metric")
    return number


def averaged(rows: Iterable[ScoredItem], where: Path) -> dict[str, ScoredItem]:
    """Return each item once: the mean over its epochs, trials or runs, without those that were not scored."""
    found: dict[str, list[ScoredItem]] = {}
    for row in rows:
        found.setdefault(row.item, []).append(row)
    return {item: _mean(same, where) for item, same in found.items()}


def repeated(system: str, rows: int, items: int) -> tuple[str, ...]:
    """Return a note where some items have several scores, which may be epochs or rows written twice."""
    if rows == items:
        return ()
    return (f"{system}: {rows:,} scores of {items:,} items; several scores of one item are averaged.",)


def _mean(same: list[ScoredItem], where: Path) -> ScoredItem:
    if len(same) == 1:
        return same[0]
    if len({row.cluster for row in same}) > 1:
        raise DataError(f"{where}: item {same[0].item!r} is in several clusters: give every item one")
    scores = [row.score for row in same if row.score is not None]
    questions = sorted({row.question for row in same})
    return ScoredItem(
        same[0].item,
        math.fsum(scores) / len(scores) if scores else None,
        same[0].cluster,
        questions[0] if len(questions) == 1 else fingerprint(*questions),
    )


def choose_metric(wanted: str, metrics: Iterable[str], preferred: Iterable[str], where: Path) -> str:
    """Return the metric that was asked for, or the first preferred one, or the only or first one."""
    known = list(dict.fromkeys(metrics))
    if not known:
        raise DataError(f"{where}: no scores: was the run scored, and did it finish?")
    if wanted:
        if wanted not in known:
            raise ConfigError(f"{where}: {unknown('metric', wanted, known)}")
        return wanted
    return next((name for name in preferred if name in known), known[0])


def cluster_of(fields: Any, key: str, where: str) -> str:
    """Return the cluster named by a field of the item; an empty key means none."""
    if not key:
        return ""
    if not isinstance(fields, Mapping) or key not in fields:
        has = ", ".join(map(str, fields)) if isinstance(fields, Mapping) and fields else "no fields"
        raise ConfigError(f"{where}: no field {key!r} to take clusters from (it has {has[:120]})")
    return str(fields[key])


def fingerprint(*parts: object) -> str:
    """Return a short hash of what was asked."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def only_objects(rows: Any, where: Path, what: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list; anything else means that the file is of another kind."""
    if not isinstance(rows, list):
        raise DataError(f"{where}: not a list of {what}: is the file complete?")
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"{where}: a {what} is not an object: is the file complete?")
        yield row


LOGS = Registry(
    "log format",
    {
        "inspect": "deadpan.logs.inspect_log:InspectFormat",
        "lm-eval": "deadpan.logs.lm_eval:LmEvalFormat",
        "helm": "deadpan.logs.helm:HelmFormat",
        "bench": "deadpan.logs.bench_run:BenchFormat",
        "table": "deadpan.logs.score_table:TableFormat",
    },
    group="deadpan.logs",
)
"""Tried in this order; a table is what no other format matches."""

_HINT = (
    "give an Inspect log (.eval, .json), lm-eval samples_*.jsonl or their folder, a HELM run folder, "
    "a folder of deadpan bench run, or a table with the columns item, system and score"
)


class LogFormat(Protocol):
    """A format of results: tell whether a path is one, and read it."""

    def recognises(self, path: Path) -> bool:
        """Return whether the path looks like this format, from its name or first bytes."""
        ...

    def read(self, path: Path, options: LogOptions) -> list[ScoreLog]:
        """Read the scores of one or more systems."""
        ...


def read_logs(path: Path | str, metric: str = "", cluster: str = "") -> list[ScoreLog]:
    """Read the results in a file or folder, one ScoreLog per system.

    `metric` is the score to read (by default what the format calls its main one), `cluster` the field of an
    item, its document or its metadata that names what it shares with others.
    """
    path = check_path(path, "a log")
    if not path.exists():
        raise DataError(f"{path}: no such file or folder: {_HINT}")
    for name in LOGS:
        log_format: LogFormat = LOGS.load(name)()
        if log_format.recognises(path):
            logs = log_format.read(path, LogOptions(metric, cluster))
            if not any(log.items for log in logs):
                raise DataError(f"{path}: no scored items: {_HINT}")
            return logs
    raise DataError(f"{path}: not results that can be read: {_HINT}")
