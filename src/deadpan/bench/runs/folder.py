"""The folder of a run: the plan (what is asked), the journal of calls and the rows; the recorded runs."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import OWN
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set, shipped
from deadpan.errors import ConfigError, DataError
from deadpan.journal import Journal
from deadpan.page.numbers import score
from deadpan.storage import (
    OutputPage,
    manifest_path,
    read_json,
    read_manifest,
    read_records,
    write_json,
    write_manifest,
    write_records,
)
from deadpan.validation import decode, encode

PLAN, JOURNAL, ROWS = "run.json", "calls.sqlite", "rows.jsonl"


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The plan of a run: what is asked. A run can only be resumed with the same plan."""

    model: str
    set: str
    set_hash: str
    visibility: str
    items: tuple[str, ...] = field(repr=False)
    set_size: int
    runs: int
    prompt: str
    prompt_texts: Mapping[str, str] = field(repr=False)
    temperature: float | None
    top_p: float | None
    limits: tuple[int, ...]
    seed: int
    shuffle: bool
    price: Mapping[str, Any] = field(default_factory=dict)
    base_url: str = ""
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    expected: int | None = None
    """The number of rows, where not every item is answered in every run (people)."""
    constrained: bool = False
    """True if the decoding was constrained to a letter, after an explanation if one was asked for."""

    @property
    def total(self) -> int:
        return len(self.items) * self.runs if self.expected is None else self.expected

    @property
    def choices(self) -> bool:
        """True for a run of multiple-choice answers, not of explanations or marks."""
        return self.prompt.startswith(("zero-shot", "reasoned", "the quiz", OWN))

    @property
    def system(self) -> str:
        """The model, and how it was asked if not by the paper's prompt: one system on a board each."""
        if self.own_prompt:
            return f"{self.model}+{self.own_prompt}"
        return self.model + ("+reasoning" if self.prompt.startswith("reasoned") else "")

    @property
    def own_prompt(self) -> str:
        """The name of a prompt of the user's own; empty for the prompts of the package."""
        return self.prompt.partition("/")[0] if self.prompt.startswith(OWN) else ""

    @property
    def whole_set(self) -> bool:
        return len(self.items) == self.set_size


@dataclass(frozen=True, slots=True)
class BenchRun:
    """A run as stored in its folder."""

    path: Path
    plan: RunPlan
    rows: tuple[AnswerRow, ...] = field(repr=False)
    complete: bool

    @property
    def public(self) -> bool:
        return self.plan.visibility == "public"


def model_slug(model: str) -> str:
    """Return the folder name of a model."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip("-.") or "model"


FREE_TO_CHANGE = ("price",)
"""Fields of a plan that may differ when a run is resumed."""


def begin(path: Path, plan: RunPlan) -> None:
    """Write the plan, unless the folder has one. Only its token limits may grow when a run is resumed."""
    make_folder(path, plan.visibility)
    earlier = read_plan(path) if (path / PLAN).exists() and has_answers(path) else None
    if earlier is None:
        write_json(path / PLAN, encode(plan))
    elif earlier.limits != plan.limits:
        write_json(path / PLAN, encode(replace(earlier, limits=plan.limits)))


def _grown(earlier: Sequence[int], now: Sequence[int]) -> bool:
    """Return whether limits were only added at the end: a cut-off answer is then requested once more."""
    return 1 < len(earlier) < len(now) and list(now[: len(earlier)]) == list(earlier)


def make_folder(path: Path, visibility: str) -> None:
    """Create a folder; for a set that is not public, only its owner can open it."""
    path.mkdir(parents=True, exist_ok=True)
    if visibility != "public":
        path.chmod(0o700)


def check_resumable(path: Path, plan: RunPlan) -> None:
    """Raise unless the folder is empty or holds a run of the same plan."""
    if (path / PLAN).exists() and not has_answers(path):
        return
    if not (path / PLAN).exists():
        if path.exists() and any(path.iterdir()):
            raise DataError(f"{path}: not empty and not a run: choose another --out")
        return
    earlier, now = encode(read_plan(path)), encode(plan)
    for name in now:
        if name == "limits" and _grown(earlier[name], now[name]):
            continue
        if name not in FREE_TO_CHANGE and earlier[name] != now[name]:
            raise ConfigError(
                f"{path} was started with another {name} ({_short(earlier[name])}, now {_short(now[name])}): "
                "give the same options to resume it, or another --out"
            )


def has_answers(path: Path) -> bool:
    """Return whether a run has an answer yet; without one it may start over with other settings."""
    if not (path / JOURNAL).is_file():
        return (path / ROWS).is_file()
    with Journal(path / JOURNAL) as journal:
        return len(journal) > 0


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def read_plan(path: Path) -> RunPlan:
    """Read the plan of a run folder."""
    try:
        return decode(read_json(path / PLAN), RunPlan)
    except (TypeError, ValueError) as bad:
        raise DataError(
            f"{path / PLAN}: not the plan of a run ({bad}): give a folder that `deadpan bench run` wrote"
        ) from None


def finish(path: Path, plan: RunPlan, rows: Sequence[AnswerRow]) -> bool:
    """Write the rows, and the manifest if every row has its answer; return whether the run is complete."""
    make_folder(path, plan.visibility)
    manifest_path(path).unlink(missing_ok=True)
    write_records(path / ROWS, rows, AnswerRow)
    complete = _is_complete(plan, rows)
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
        about = _about(BenchRun(path, plan, tuple(rows), complete))
        write_manifest(path, command="bench run", config=encode(plan), seed=plan.seed, counts=counts, about=about)
    return complete


def _about(run: BenchRun) -> OutputPage:
    from deadpan.bench.scores.score import score_run

    found = score_run(run)
    chance = f"chance is {found.chance:.3f}"
    finding = f"{found.model} has an accuracy of {score(found.avg)} on {found.set}; {chance}."
    if found.avg.low is None or found.avg.low <= found.chance:
        shown = f"{score(found.avg)}; {chance}"
        finding = f"{found.model} is not significantly above chance on {found.set}: {shown}."
    runs = "1 run" if found.runs == 1 else f"{found.runs} runs"
    return OutputPage(f"{found.model} on {found.set}", finding, (runs, f"{found.n:,} items"), file="")


def read_run(path: Path) -> BenchRun:
    """Read a run folder; it is complete only if every row of its plan has an answer."""
    if manifest_path(path).is_file():
        read_manifest(path)  # raises if another version wrote the run
    plan = read_plan(path)
    if not (path / ROWS).exists():
        return BenchRun(path, plan, (), False)
    rows = tuple(read_records(path / ROWS, AnswerRow))
    for row in rows:
        if (row.set, row.set_hash) != (plan.set, plan.set_hash):
            raise DataError(
                f"{path / ROWS}: a row of {row.set} ({row.set_hash[:12]}) in a run of {plan.set} "
                f"({plan.set_hash[:12]}): repeat the run on one version of the set"
            )
    return BenchRun(path, plan, rows, _is_complete(plan, rows) and manifest_path(path).exists())


def _is_complete(plan: RunPlan, rows: Sequence[AnswerRow]) -> bool:
    """Return whether every item has its rows, each once and with an answer."""
    keys = {(row.item, row.run) for row in rows}
    every_item = {row.item for row in rows} == set(plan.items)
    return every_item and len(keys) == len(rows) == plan.total and not any(row.error for row in rows)


def find_runs(paths: Sequence[Path]) -> list[BenchRun]:
    """Read the runs in some folders, each a run or a folder of runs; a run given twice counts once.

    Without a folder these are the recorded runs that come with the package.
    """
    if not paths:
        with TemporaryDirectory(prefix="deadpan-recorded-") as temporary:
            return find_runs([unpack_recorded(Path(temporary))])
    folders: dict[Path, Path] = {}
    for path in paths:
        if not path.is_dir():
            raise DataError(f"{path}: no such folder: give a folder that `deadpan bench run --out` wrote")
        plans = sorted(path.rglob(PLAN))
        if not plans:
            raise DataError(f"{path}: no run in it (no {PLAN}): give a folder that `deadpan bench run --out` wrote")
        for plan in plans:
            folders.setdefault(plan.parent.resolve(), plan.parent)
    runs = [read_run(folder) for folder in folders.values()]
    chosen = [run for run in runs if run.plan.choices]
    if not chosen:
        raise DataError(f"{paths[0]}: only explanations and marks: give runs that `deadpan bench run` wrote")
    return chosen


def set_of(run: BenchRun, items: str | Path | ItemSet | None, ask: AskPassphrase | None) -> ItemSet | None:
    """Return the set a run was asked: the given one, else one of the package, else None."""
    if items is None:
        return next((each for each in map(open_set, shipped()) if each.hash == run.plan.set_hash), None)
    opened = open_set(items, ask)
    if opened.hash != run.plan.set_hash:
        raise DataError(
            f"--set {opened.label} ({opened.hash[:12]}) is not what {run.path} was asked, {run.plan.set} "
            f"({run.plan.set_hash[:12]}): give that one"
        )
    return opened


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """The answer to one item in one run. Letters refer to the item's own order, whatever order was shown.

    `prediction` is empty for an unread answer. `stop_reason` is of the last call. Tokens and cost are sums
    over all calls of the row; `cost` is None if the price is unknown. `escalated` counts repetitions with a
    larger token limit, `retries` failed attempts. A row with an `error` has no answer: its run is incomplete.
    """

    model: str
    returned: str
    set: str
    set_hash: str
    item: str
    family: str
    category: str
    language: str
    run: int
    answer: str
    prediction: str
    correct: bool
    order: str
    stop_reason: str
    max_tokens: int
    escalated: int
    retries: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    seconds: float
    error: str
    text: str
    at: str
    source: str = ""
    in_form: bool | None = None
    """True if the answer has the form that was asked for; None for people and in older runs."""
    reasoning_tokens: int = 0
    """The part of the output that was reasoning."""

    @property
    def truncated(self) -> bool:
        """The last answer was cut off at the token limit."""
        return self.stop_reason == "max_tokens"

    @property
    def refused(self) -> bool:
        """The provider refused to answer."""
        return self.stop_reason == "content_filter"

    @property
    def unread(self) -> bool:
        """A complete answer without a readable letter; errors, refusals and cut-off answers do not count."""
        return not (self.prediction or self.error or self.refused or self.truncated)


def letters(order: Sequence[int]) -> str:
    """Return an order of options as the item's own letters: of the first option shown, the second, ..."""
    return "".join(LETTERS[place] for place in order)


def unpack_recorded(folder: Path) -> Path:
    """Write the recorded runs into a folder, one folder per run, and return it."""
    archive = files("deadpan.bench.runs").joinpath("recorded.zip")
    if not archive.is_file():
        raise DataError("no recorded runs in this installation: name a folder of runs")
    with archive.open("rb") as raw, zipfile.ZipFile(raw) as packed:
        packed.extractall(folder)
    return folder
