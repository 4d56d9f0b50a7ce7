"""The folder of one model on one set: what was asked, the journal, the rows. Whole or plainly incomplete."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.bench.rows import Row
from deadpan.errors import ConfigError, DataError
from deadpan.fields import decode, encode
from deadpan.storage import manifest_path, read_json, read_records, write_json, write_manifest, write_records

PLAN, JOURNAL, ROWS = "run.json", "calls.jsonl", "rows.jsonl"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run asks. Two runs with one plan are one run; resuming needs the same plan."""

    model: str
    set: str
    set_hash: str
    visibility: str
    items: tuple[str, ...]
    set_size: int
    runs: int
    prompt: str
    prompt_texts: Mapping[str, str]
    temperature: float | None
    top_p: float | None
    limits: tuple[int, ...]
    seed: int
    shuffle: bool
    price: Mapping[str, Any] = field(default_factory=dict)
    inspect: str = ""
    base_url: str = ""
    expected: int | None = None
    """Rows, where not every item is answered in every run: people answer what they answer."""

    @property
    def total(self) -> int:
        return len(self.items) * self.runs if self.expected is None else self.expected

    @property
    def choices(self) -> bool:
        """Whether it chose among options, rather than explained or marked."""
        return self.prompt.startswith(("zero-shot", "the quiz"))

    @property
    def whole_set(self) -> bool:
        return len(self.items) == self.set_size


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run as it lies on the disk."""

    path: Path
    plan: Plan
    rows: tuple[Row, ...]
    complete: bool

    @property
    def public(self) -> bool:
        return self.plan.visibility == "public"


def slug(model: str) -> str:
    """A model's name as a folder's."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model"


FREE_TO_CHANGE = ("price", "inspect")
"""What may differ when a run is taken up again: prices move, and are not what was asked."""


def begin(path: Path, plan: Plan) -> None:
    """Write the plan, unless it is there already."""
    keep_close(path, plan.visibility)
    if not (path / PLAN).exists():
        write_json(path / PLAN, encode(plan))


def keep_close(path: Path, visibility: str) -> None:
    """Make a folder; what tells a set that is not public is for its owner's eyes."""
    path.mkdir(parents=True, exist_ok=True)
    if visibility != "public":
        path.chmod(0o700)


def check_free(path: Path, plan: Plan) -> None:
    """Nothing is there, or a run of the same plan: another plan's answers are not ours to go on with."""
    if not (path / PLAN).exists():
        if path.exists() and any(path.iterdir()):
            raise DataError(f"{path}: not empty and not a run; choose another --out")
        return
    earlier, now = encode(read_plan(path)), encode(plan)
    for name in now:
        if name not in FREE_TO_CHANGE and earlier[name] != now[name]:
            raise ConfigError(
                f"{path} was begun with another {name} ({_short(earlier[name])}, now {_short(now[name])}): "
                "give the same options to go on with it, or another --out"
            )


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def read_plan(path: Path) -> Plan:
    """What a run folder was to ask."""
    try:
        return decode(read_json(path / PLAN), Plan)
    except (TypeError, ValueError) as bad:
        raise DataError(
            f"{path / PLAN}: not the plan of a run ({bad}); give what `deadpan bench run` wrote"
        ) from None


def finish(path: Path, plan: Plan, rows: Sequence[Row]) -> bool:
    """Write the rows; the manifest, which makes a run complete, only if every row has its answer."""
    keep_close(path, plan.visibility)
    manifest_path(path).unlink(missing_ok=True)
    write_records(path / ROWS, rows, Row)
    complete = _whole(plan, rows)
    if complete:
        counts = {
            "rows": len(rows),
            "calls": sum(row.calls for row in rows),
            "retries": sum(row.retries for row in rows),
            "escalated": sum(row.escalated > 0 for row in rows),
            "truncated": sum(row.truncated for row in rows),
            "refused": sum(row.refused for row in rows),
            "unread": sum(row.unread for row in rows),
        }
        write_manifest(path, command="bench run", config=encode(plan), seed=plan.seed, counts=counts)
    return complete


def read_run(path: Path) -> RunFolder:
    """A run folder with its rows; it is complete only if every row of its plan is there and answered."""
    plan = read_plan(path)
    if not (path / ROWS).exists():
        return RunFolder(path, plan, (), False)
    rows = tuple(read_records(path / ROWS, Row))
    for row in rows:
        if (row.set, row.set_hash) != (plan.set, plan.set_hash):
            raise DataError(
                f"{path / ROWS}: a row of {row.set} ({row.set_hash[:12]}) in a run of {plan.set} "
                f"({plan.set_hash[:12]}): run it again on one set version"
            )
    return RunFolder(path, plan, rows, _whole(plan, rows) and manifest_path(path).exists())


def _whole(plan: Plan, rows: Sequence[Row]) -> bool:
    """Every item is there, every row once, and every row has its answer."""
    keys = {(row.item, row.run) for row in rows}
    every_item = {row.item for row in rows} == set(plan.items)
    return every_item and len(keys) == len(rows) == plan.total and not any(row.error for row in rows)


def find_runs(paths: Sequence[Path]) -> list[RunFolder]:
    """The runs in some folders, each a run or a folder of runs; one that is named twice counts once."""
    folders: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise DataError(f"{path}: no such folder; give what `deadpan bench run --out` wrote")
        plans = sorted(path.rglob(PLAN))
        if not plans:
            raise DataError(f"{path}: no run in it (no {PLAN}); give what `deadpan bench run --out` wrote")
        for plan in plans:
            folders.setdefault(plan.parent.resolve(), plan.parent)
    runs = [read_run(folder) for folder in folders.values()]
    found = [run for run in runs if run.plan.choices]
    if not found:
        raise DataError(f"{paths[0]}: explanations and marks only; give runs that `deadpan bench run` wrote")
    return found
