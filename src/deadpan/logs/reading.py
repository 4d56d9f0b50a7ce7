"""Files and folders of results by what is in them: each format is one file of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from deadpan.arguments import check_path
from deadpan.errors import DataError
from deadpan.logs.log import LogOptions, ScoreLog
from deadpan.registry import Registry

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

CURE = (
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
        raise DataError(f"{path}: no such file or folder: {CURE}")
    for name in LOGS:
        log_format: LogFormat = LOGS.load(name)()
        if log_format.recognises(path):
            logs = log_format.read(path, LogOptions(metric, cluster))
            if not any(log.items for log in logs):
                raise DataError(f"{path}: no scored items: {CURE}")
            return logs
    raise DataError(f"{path}: not results that can be read: {CURE}")
