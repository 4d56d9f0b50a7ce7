"""The text alone and with the author's history, on the same folds; authors unseen in training apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.detect.studies.comparison import Systems, suitable_metrics, system_settings
from deadpan.detect.studies.design import FOLDS, Design, divide
from deadpan.detect.studies.output import source_name
from deadpan.detect.studies.validation import run_trial
from deadpan.detect.systems.blend import blend_scores
from deadpan.detect.systems.history import AUTHOR, Habits, add_history, roles, who
from deadpan.errors import DataError
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import Comparison, Interval, compare_predictions, score_predictions
from deadpan.stats.outcomes import check_fits

TEXT, WITH = "text only", "with history"
PARTS = ("all", "author known", "author unknown")
Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class HistoryStudy(Result):
    """`cells[row][part]` for the rows "text only" and "with history": annotators saw no history."""

    source: str
    system: str
    metric: str
    by: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Interval]]
    pair: Comparison
    design: Design
    predictions: Mapping[str, list[Prediction]]

    def __repr__(self) -> str:
        return f"<HistoryStudy of {self.system!r} on {self.source!r}>"

    def summary(self) -> Summary:
        """Return a row per part of the test examples, a column per kind of system."""
        rows = tuple(
            (part, self.cells[TEXT][part], self.cells[WITH][part], self.cells[TEXT][part].n)
            for part in self.cells[TEXT]
        )
        notes = (
            f"{self.metric} of {self.system} on {self.source}, {self.design.describe()}. "
            f"History by {' and '.join(self.by)}, from the training part only.",
            "Annotators see no history: compare them with the text alone.",
            _gain(self.pair),
            *self.design.notes(),
        )
        return Summary((Table(("tested", TEXT, WITH, "n"), rows),), notes)

    def as_dict(self) -> dict[str, object]:
        """Return every score with its interval."""
        return {
            "data": self.source, "system": self.system, "metric": self.metric, "by": list(self.by),
            **self.design.as_dict(),
            "scores": {
                row: {part: value.as_dict() for part, value in parts.items()}
                for row, parts in self.cells.items()
            },
            "comparison": self.pair.as_dict(),
        }  # fmt: skip


def _gain(pair: Comparison) -> str:
    """Return how much better the system is with history than without it."""
    value, low, high = pair.difference.value, pair.difference.low, pair.difference.high
    if value is None or pair.p is None:
        return f"The gain of history is undefined ({pair.difference.why})."
    interval = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return f"Gain of history on all: {value:+.3f}{interval}, p {pair.p:.3f}."


def compare_history(
    examples: Sequence[Example],
    systems: str | Systems = "linear",
    *,
    by: Sequence[str] = (AUTHOR,),
    metric: str | None = None,
    k: int = FOLDS,
    pool: bool = False,
    seed: int = 0,
    source: str = "",
    progress: Progress = silent,
) -> HistoryStudy:
    """Test a system without and with the history of `by`, on the same folds or published splits.

    Several systems are blended, as by `compare_systems(..., blend=True)`. On folds, the history is added to
    their out-of-fold scores, so that nothing is trained twice.
    """
    rows = system_settings([systems] if isinstance(systems, str) else systems)
    design = divide(examples, k=k, pool=pool)
    if not any(who(example, name) for example in design.tested for name in by):
        raise DataError(f"no example has a known {' or '.join(by)}: history needs one, as in sarc-pol")
    if AUTHOR in by and (names := roles(design.tested)):
        raise DataError(
            f"the corpus has no authors: its speakers ({', '.join(names)}) are roles in a dialogue; history "
            "needs authors who occur in several threads, as in sarc-pol"
        )
    metric = metric or suitable_metrics(design.tested)[0]
    check_fits(metric, design.tested)
    run = _published if design.published else _on_folds
    said = run(rows, design, by, seed, progress)
    cells = {
        row: {
            part: score_predictions(chosen, _of(chosen, answers), seed=seed).scores[metric]
            for part, chosen in _parts(design, by).items()
        }
        for row, answers in said.items()
    }
    (pair,) = compare_predictions(design.tested, {row: said[row] for row in (WITH, TEXT)}, metric=metric)
    name = " + ".join(rows)
    return HistoryStudy(source or source_name(examples), name, metric, tuple(by), cells, pair, design, said)


def _published(
    rows: Rows, design: Design, by: Sequence[str], seed: int, progress: Progress
) -> dict[str, list[Prediction]]:
    """Weigh text and history inside the training part."""
    (system, settings), *others = ((str(row["system"]), _own(row)) for row in rows.values())
    if others:
        system, settings = "blend", {"systems": [dict(row) for row in rows.values()]}
    alone = run_trial(system, design, seed=seed, settings=settings, progress=progress)
    own = {"text": system, "by": list(by), "options": settings}
    both = run_trial("history", design, seed=seed, settings=own, progress=progress)
    return {TEXT: alone.predictions, WITH: both.predictions}


def _on_folds(
    rows: Rows, design: Design, by: Sequence[str], seed: int, progress: Progress
) -> dict[str, list[Prediction]]:
    """Add the history of each training part to out-of-fold scores."""
    trials = [
        run_trial(str(row["system"]), design, seed=seed, settings=_own(row), progress=progress).predictions
        for row in rows.values()
    ]
    text = trials[0] if len(trials) == 1 else blend_scores(trials, design.tested, len(design.folds))[0]
    score_of = {p.example_id: p for p in text}
    added = {p.example_id: p for fold in design.folds for p in add_history(score_of, fold, by, seed=seed)}
    return {TEXT: text, WITH: [added[example.id] for example in design.tested]}


def _own(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "system"}


def _parts(design: Design, by: Sequence[str]) -> dict[str, list[Example]]:
    """Return all tested examples, those whose pair has a known author, and the rest; whole pairs only."""
    known: set[str] = set()
    for fold in design.folds:
        habits = [Habits.of([e for e in fold.train if e.label is not None], name) for name in by]
        known |= {e.sequence or e.id for e in fold.test if any(h.knows(e) for h in habits)}
    split = {
        PARTS[0]: list(design.tested),
        PARTS[1]: [e for e in design.tested if (e.sequence or e.id) in known],
        PARTS[2]: [e for e in design.tested if (e.sequence or e.id) not in known],
    }
    return {part: rows for part, rows in split.items() if rows}


def _of(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Prediction]:
    by_id = {prediction.example_id: prediction for prediction in predictions}
    return [by_id[example.id] for example in examples]
