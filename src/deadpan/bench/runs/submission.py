"""Runs as they come in: a submission is checked against its set, reruns are merged into one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from deadpan.bench.items.item import LETTERS, family
from deadpan.bench.items.prompts import render_prompt, template_texts
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set, shipped
from deadpan.bench.runs.answers import place_of, read_letter
from deadpan.bench.runs.folder import PLAN, AnswerRow, BenchRun, begin, find_runs, finish, read_run
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Item
from deadpan.results import Result
from deadpan.storage import manifest_path
from deadpan.validation import encode


@dataclass(frozen=True, slots=True)
class CheckedRun(Result):
    """A run folder that can go on the leaderboard."""

    path: Path
    model: str
    set: str
    rows: int
    runs: int

    def as_dict(self) -> dict[str, object]:
        """Return what was checked."""
        found = {"model": self.model, "set": self.set, "rows": self.rows, "runs": self.runs}
        return {"path": str(self.path), **found}

    def summary(self) -> Summary:
        """Return the verdict in a line."""
        checked = f"{self.rows:,} rows, {self.runs} runs of {self.set}"
        return Summary(notes=(f"{self.path}: {self.model}, {checked}: fit for the leaderboard.",))


def check_submission(
    folder: str | Path, items: str | Path | ItemSet | None = None, *, ask: AskPassphrase | None = None
) -> CheckedRun:
    """Check a run folder row by row; a DataError names the first thing that is wrong.

    The run must be complete, have its manifest, and answer the whole set; every row must have the item's own
    key, category and family, and the letter that its answer names. `items` is needed if the set does not come
    with the package.
    """
    path = Path(folder)
    if not path.is_dir():
        raise DataError(f"{path}: no such folder: give the folder of one run")
    if not (path / PLAN).is_file():
        raise DataError(f"{path}: no run in it (no {PLAN}): give the folder of one run, such as {path}/MODEL")
    run = read_run(path)
    asked = _asked(run, items, ask)
    _check_rows(run, {item.id: item for item in asked.items})
    if not manifest_path(path).exists():
        raise DataError(f"{path}: no manifest.json: send the whole folder of a finished run")
    if not run.complete:
        raise DataError(f"{path}: incomplete: repeat the run's command, which resumes it")
    if not run.plan.whole_set:
        raise DataError(f"{path}: {len(run.plan.items)} of {run.plan.set_size} items: ask the whole set")
    return CheckedRun(path, run.plan.model, run.plan.set, len(run.rows), run.plan.runs)


def _asked(run: BenchRun, items: str | Path | ItemSet | None, ask: AskPassphrase | None) -> ItemSet:
    """Return the set that the run claims to answer."""
    sets = [open_set(label) for label in shipped()] if items is None else [open_set(items, ask)]
    for each in sets:
        if each.hash == run.plan.set_hash:
            return each
    known = " or ".join(f"{each.label} ({each.hash[:12]})" for each in sets)
    raise DataError(
        f"{run.path}: answers {run.plan.set} ({run.plan.set_hash[:12]}), not {known}: name its set with --set"
    )


def _check_rows(run: BenchRun, items: dict[str, Item]) -> None:
    seen = set()
    texts = template_texts(run.plan.prompt) or run.plan.prompt_texts
    for row in run.rows:
        item = items.get(row.item)
        if item is None:
            raise DataError(f"{run.path}: item {row.item!r} is not in {run.plan.set}: remove the row")
        changed = _changed(row, item) or _misread(row, item, texts)
        if changed:
            raise DataError(f"{run.path}: item {row.item}, run {row.run}: {changed}: send the run as written")
        if (row.item, row.run) in seen:
            raise DataError(f"{run.path}: item {row.item}, run {row.run} is there twice: send it once")
        seen.add((row.item, row.run))
    missing = [(item, number) for item in items for number in range(1, run.plan.runs + 1)]
    missing = [each for each in missing if each not in seen]
    if missing and run.plan.expected is None:
        first, number = missing[0]
        raise DataError(
            f"{run.path}: {len(missing):,} rows are missing, first item {first}, run {number}: resume the run"
        )


def _changed(row: AnswerRow, item: Item) -> str:
    """Return what of a row differs from the item; empty if nothing does."""
    if row.answer != LETTERS[item.answer]:
        return f"its key is {row.answer}, the set's {LETTERS[item.answer]}"
    if row.category != item.category or row.family != family(item) or row.language != item.language:
        return "category, family or language are not the item's"
    if row.correct != (row.prediction == row.answer):
        return "it is marked right or wrong against its own letter"
    return ""


def _misread(row: AnswerRow, item: Item, texts: Mapping[str, str]) -> str:
    """Return how the letter of a row differs from the one in its answer; people's answers have no text."""
    if not texts:
        return ""
    order = tuple(LETTERS.find(letter) for letter in row.order)
    if sorted(order) != list(range(len(item.options))):
        return f"{row.order!r} is not an order of its options"
    shown = [item.options[at] for at in order]
    place = place_of(read_letter(row.text, shown, render_prompt(item, order, texts)), order)
    read = "" if place is None else LETTERS[place]
    return "" if row.prediction == read else f"its letter is {row.prediction!r}, but its text says {read!r}"


_SAME = ("model", "set", "set_hash", "items", "runs", "prompt", "temperature", "top_p", "seed", "shuffle")
"""Fields that merged runs must have in common. Token limits may differ: they are why people rerun."""


@dataclass(frozen=True, slots=True)
class MergedRun(Result):
    """A merged run, with the number of rows from each source."""

    out: Path
    complete: bool
    sources: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """Return the folder, whether it is complete, and rows per source."""
        return {"out": str(self.out), "complete": self.complete, "rows_from": dict(self.sources)}

    def summary(self) -> Summary:
        """Return one row per source."""
        table = Table(("rows from", "rows"), tuple(self.sources.items()))
        return Summary((table,), (f"{self.out}: {'complete' if self.complete else 'INCOMPLETE'}",))


def merge_runs(folders: Sequence[Path], out: Path, *, replace_by: Literal["row", "model"] = "row") -> MergedRun:
    """Write one run from several, earlier ones first.

    By row, each comes from the first run with a final answer: no error and not cut off. Where no run has one,
    the last answer counts. So nobody can repeat a run until they like its answers. By model, as the paper did
    with reruns at a larger token limit, the last run replaces the others whole.
    """
    runs, out = find_runs(folders), Path(out)
    _check_same_questions(runs)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
    kept: dict[tuple[str, int], AnswerRow] = {}
    for run in runs[-1:] if replace_by == "model" else runs:
        # The full path, since reruns of one model have folders of the same name.
        for row in run.rows:
            key, named = (row.item, row.run), replace(row, source=row.source or run.path.as_posix())
            if key not in kept or _openness(kept[key]) > _openness(named):
                kept[key] = named
    plan = runs[0].plan
    order = {item: place for place, item in enumerate(plan.items)}
    rows = sorted(kept.values(), key=lambda row: (order[row.item], row.run))
    limits = tuple(sorted({limit for run in runs for limit in run.plan.limits}))
    merged = replace(plan, limits=limits)
    begin(out, merged)
    complete = finish(out, merged, rows)
    return MergedRun(out, complete, dict(Counter(row.source for row in rows)))


def _openness(row: AnswerRow) -> int:
    """Return 0 for a final answer, 1 for one that was cut off, 2 for none."""
    return 2 if row.error else 1 if row.truncated else 0


def _check_same_questions(runs: Sequence[BenchRun]) -> None:
    if len(runs) < 2:
        raise DataError("a merge needs two runs or more: give the first run, then its rerun")
    first = encode(runs[0].plan)
    for run in runs[1:]:
        other = encode(run.plan)
        for name in _SAME:
            if first[name] != other[name]:
                raise DataError(
                    f"{run.path} differs from {runs[0].path} in {name}: only reruns of the same questions can be merged"
                )
