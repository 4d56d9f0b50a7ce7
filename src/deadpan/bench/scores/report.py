"""Reports of scores: the tables of one or more runs, their comparison, and what they say about items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

from deadpan.arguments import check_list, check_path, check_text
from deadpan.bench.items.item import ORGANIC
from deadpan.bench.runs.folder import BenchRun, find_runs
from deadpan.bench.scores.comparison import BenchComparison, check_same, compare_bench, names_of
from deadpan.bench.scores.difficulty import ItemReport, item_report
from deadpan.bench.scores.prompt_range import PromptRange, headlines, prompt_ranges, prompt_tables
from deadpan.bench.scores.score import LANGUAGES, MAJORITY, RunScores, in_language, score_run
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.validation import encode

_SHOWN_PAIRS = 10


@dataclass(frozen=True, slots=True)
class BenchScores(Result):
    """Scores of some runs on one set, best first."""

    names: tuple[str, ...]
    """A name per run: its model, or its folder where a model was run more than once."""
    scores: tuple[RunScores, ...] = field(repr=False)
    comparison: BenchComparison | None = field(default=None, repr=False)
    """All pairs of runs; None for one run, or if two runs have no item in common."""
    items: ItemReport | None = field(default=None, repr=False)
    months: tuple[MonthGap, ...] = field(default=(), repr=False)
    """Models that answered an earlier and a later organic set."""
    prompts: tuple[PromptRange, ...] = field(default=(), repr=False)
    """Models that were asked by several prompts; `scores` has the paper's."""

    def as_dict(self) -> dict[str, object]:
        """Return the scores of every run, all comparisons, and the items if they were asked for."""
        first = self.scores[0]
        compared = self.comparison.as_dict() if self.comparison else {"comparisons": []}
        found = {"set": first.set, "set_hash": first.set_hash, "scores": [s.as_dict() for s in self.scores]}
        months = {"months": [encode(gap) for gap in self.months]} if self.months else {}
        months |= {"prompts": [each.as_dict() for each in self.prompts]} if self.prompts else {}
        return {**found, **compared, **months, **({"items": self.items.as_dict()} if self.items else {})}

    def summary(self) -> Summary:
        """Return accuracy, pairs, outcomes and categories, then the comparisons and the items."""
        tables = score_tables(self.names, self.scores)
        tables += (category_table(self.names, self.scores), *language_tables(self.names, self.scores))
        tables += prompt_tables(self.prompts)
        notes = (set_note(self.scores[0]), *reading_notes(self.names, self.scores))
        for part in (self._compared(), _month_summary(self.months), self.items.summary() if self.items else Summary()):
            tables, notes = tables + part.tables, notes + part.notes
        return Summary(tables, notes)

    def _compared(self) -> Summary:
        """Return the comparisons; of many runs, those with the best one only."""
        if self.comparison is None:
            return Summary()
        pairs, shown = self.comparison.pairs, self.comparison.summary()
        if len(pairs) <= _SHOWN_PAIRS:
            return shown
        best, (table, *_) = self.names[0], shown.tables
        rows = zip(pairs, table.rows, strict=True)
        kept = tuple(row for pair, row in rows if best in (pair.first, pair.second))
        note = f"Compared with {best} only; --json has all {len(pairs)} pairs."
        return Summary((replace(table, rows=kept),), (*shown.notes, note))


def score_bench(
    folders: str | Path | Sequence[str | Path] = (), *, language: str | None = None, items: bool = False, seed: int = 0
) -> BenchScores:
    """Score runs of one set and compare them in pairs, with 95 % confidence intervals.

    `folders` are runs, or folders of runs, that `run_bench` or `score_people` wrote; without them, the
    recorded runs of the package. With `language` (en, ko) only the items of that language count. With
    `items`, every item across the models is reported too, which is refused for a private set.
    """
    paths = [folders] if isinstance(folders, str | Path) else check_list(folders, "folders")
    runs = find_runs([check_path(path, "a folder of runs") for path in paths])
    months = month_gaps(runs, seed)
    if not months:
        check_same(runs)
    if language is not None:
        check_text(language, "language")
        runs = [in_language(run, language) for run in runs]
    prompts = prompt_ranges(runs, seed)
    runs = headlines(runs)
    report = item_report(runs) if items else None
    named = best_first(names_of(runs), [score_run(run, seed) for run in runs])
    names, scores = tuple(name for name, _ in named), tuple(scores for _, scores in named)
    # Runs on different parts of a set have scores, but nothing to compare.
    asked = [{row.item for row in run.rows if not row.error} for run in runs]
    comparable = len(runs) > 1 and all(one & other for one, other in combinations(asked, 2))
    return BenchScores(
        names, scores, compare_bench(runs) if comparable and not months else None, report, months, prompts
    )


@dataclass(frozen=True, slots=True)
class MonthGap:
    """The accuracy of a model on a later set of real replies minus that on an earlier one."""

    model: str
    earlier: str
    later: str
    difference: Interval


def month_gaps(runs: Sequence[BenchRun], seed: int = 0) -> tuple[MonthGap, ...]:
    """Compare each model's first and last organic set; none unless there are several such sets.

    The sets have no item in common, so the interval joins those of the two scores (Newcombe's square-and-add).
    """
    organic = all(row.category == ORGANIC for run in runs for row in run.rows[:1])
    if not organic or len({run.plan.set_hash for run in runs}) < 2:
        return ()
    by_model: dict[str, list[BenchRun]] = {}
    for run in runs:
        by_model.setdefault(run.plan.system, []).append(run)
    gaps = []
    for model, own in by_model.items():
        own.sort(key=lambda run: [int(part) for part in run.plan.set.rpartition("@")[2].split(".")])
        first, last = own[0], own[-1]
        if first.plan.set_hash != last.plan.set_hash:
            gap = _difference(score_run(last, seed).avg, score_run(first, seed).avg)
            gaps.append(MonthGap(model, first.plan.set, last.plan.set, gap))
    return tuple(gaps)


def _difference(one: Interval, other: Interval) -> Interval:
    value = (one.value or 0.0) - (other.value or 0.0)
    if None in (one.low, one.high, other.low, other.high):
        return Interval(value, None, None, one.level, one.n)
    (a, low, high), (b, under, over) = ((e.value or 0.0, e.low or 0.0, e.high or 0.0) for e in (one, other))
    return Interval(
        value, value - math.hypot(a - low, over - b), value + math.hypot(high - a, b - under), one.level, one.n
    )


def _month_summary(gaps: Sequence[MonthGap]) -> Summary:
    """Return whether scores fell on fresh text."""
    if not gaps:
        return Summary()
    rows: list[tuple[Cell, ...]] = []
    for gap in gaps:
        low, high = gap.difference.low, gap.difference.high
        clear = low is not None and high is not None and not low <= 0 <= high
        word = "not significantly different" if not clear else "lower" if (high or 0.0) < 0 else "higher"
        rows.append((gap.model, f"{gap.earlier} to {gap.later}", gap.difference, word))
    return Summary((Table(("model", "sets", "difference", "on fresh text"), tuple(rows), "Later minus earlier"),))


def best_first(names: Sequence[str], scores: Sequence[RunScores]) -> list[tuple[str, RunScores]]:
    """Sort runs by accuracy, highest first; runs of equal accuracy by name."""
    return sorted(zip(names, scores, strict=True), key=lambda named: (-(named[1].avg.value or 0.0), named[0]))


def score_tables(names: Sequence[str], scores: Sequence[RunScores]) -> tuple[Table, ...]:
    """Return three tables with one row per run: accuracy, pairs and consistency, outcomes."""
    runs = {each.runs for each in scores}
    k = runs.pop() if len(runs) == 1 else "k"
    accuracy: list[tuple[Cell, ...]] = []
    pairs: list[tuple[Cell, ...]] = []
    outcomes: list[tuple[Cell, ...]] = []
    for name, each in zip(names, scores, strict=True):
        accuracy.append((name, each.avg, each.maj, each.ties, each.n))
        pairs.append((name, each.pairs, each.consistency, each.letter_consistency))
        rates = (f"{100 * rate:.1f} %" for rate in (each.unread, each.truncated, each.refused))
        state = "INCOMPLETE" if not each.complete else "not ranked" if each.not_ranked else "complete"
        form = None if each.in_form is None else f"{100 * each.in_form:.1f} %"
        outcomes.append((name, state, _cost(each), form, *rates))
    return (
        Table(("model", f"Avg@{k}", f"Maj@{k}", "ties", "n"), tuple(accuracy), "Accuracy"),
        Table(("model", "both of a pair", "consistency", "same letter"), tuple(pairs), "Pairs and consistency"),
        Table(("model", "run", "cost", "in form", "unread", "cut off", "refused"), tuple(outcomes), "Answers"),
    )


def category_table(names: Sequence[str], scores: Sequence[RunScores]) -> Table:
    """Return accuracy per category, one row per category and one column per run."""
    rows: list[tuple[Cell, ...]] = [
        (name.replace("_", " "), value.n, *(each.categories[name] for each in scores))
        for name, value in scores[0].categories.items()
        if value.n
    ]
    return Table(("category", "n", *names), tuple(rows), "Accuracy by category")


def language_tables(names: Sequence[str], scores: Sequence[RunScores]) -> tuple[Table, ...]:
    """Return accuracy per language, one row per language; no table for a set in one language."""
    found = sorted({name for each in scores for name in each.languages})
    if len(found) < 2:
        return ()
    rows: list[tuple[Cell, ...]] = []
    for name in found:
        values = [each.languages.get(name) for each in scores]
        rows.append((LANGUAGES.get(name, name), max(value.n for value in values if value), *values))
    return (Table(("language", "n", *names), tuple(rows), "Accuracy by language"),)


def set_note(scores: RunScores) -> str:
    """Return the set and what chance gives."""
    chance, pair = scores.chance, scores.chance**2
    return f"{scores.set} ({scores.set_hash[:12]}); chance {chance:.3f}, for both of a pair {pair:.3f}."


def reading_notes(names: Sequence[str], scores: Sequence[RunScores]) -> list[str]:
    """Return why runs are not ranked, what a tie is, and what reasoning took."""
    notes = [
        f"{name} is not ranked: {each.not_ranked}." for name, each in zip(names, scores, strict=True) if each.not_ranked
    ]
    notes += [MAJORITY, "consistency: items that are right in all runs or wrong in all runs, as in the paper."]
    if any(each.in_form is not None and each.in_form < 1 for each in scores):
        notes.append("in form: answers in exactly the form asked for; others count if they can be read.")
    notes += [
        f"{name}: {each.reasoning_tokens:,} of {each.output_tokens:,} output tokens were reasoning."
        for name, each in zip(names, scores, strict=True)
        if each.reasoning_tokens
    ]
    return notes


def _cost(scores: RunScores) -> str | None:
    if scores.kind == "human":
        return None
    return "unknown" if scores.cost is None else f"${scores.cost:.4f}"
