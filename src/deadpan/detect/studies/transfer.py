"""Train on one corpus, test on another: a matrix of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.arguments import check_examples, check_mapping, check_progress, check_settings, check_whole
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, divide
from deadpan.detect.studies.output import add_figure, add_summary, write_study
from deadpan.detect.studies.validation import run_trial
from deadpan.draws import sample
from deadpan.duplicates import without_duplicates
from deadpan.errors import ConfigError, DataError
from deadpan.page import Page, Table
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.stats import Interval, score_predictions
from deadpan.stats.constant import CONSTANT, NOTE, constant_scores
from deadpan.stats.outcomes import score_named

METRIC = "balanced_accuracy"
AUC = "auc"
"""A score of ranks, not of a table of answers; a constant answer has one half."""

CHANCE = {"balanced_accuracy": 0.5, "auc": 0.5, "pair_accuracy": 0.5}
"""Scores that chance decides whatever the share of sarcasm: the colours of the matrix run from there."""


@dataclass(frozen=True, slots=True, repr=False)
class TransferMatrix(Result):
    """`cells[train][test]` is a score with its interval.

    A corpus is never tested on its own training data: on the diagonal stands the published test split, or
    cross-validation. `duplicates` counts the examples excluded from each corpus because an earlier corpus
    has their text.
    """

    system: str
    metric: str
    cells: Mapping[str, Mapping[str, Interval]]
    sizes: Mapping[str, int]
    duplicates: Mapping[str, int]
    designs: Mapping[str, str]
    baseline: Mapping[str, float]
    seed: int

    def __repr__(self) -> str:
        return f"<TransferMatrix of {self.system!r}, {len(self.cells)} corpora>"

    def summary(self) -> Summary:
        """Return the matrix, a row per training corpus."""
        corpora = tuple(self.cells)
        rows: list[tuple[Cell, ...]] = [
            (f"train {a}", *(self.cells[a][b].value for b in corpora)) for a in corpora
        ]
        rows.append((CONSTANT, *(self.baseline.get(b) for b in corpora)))
        intervals = tuple((f"{a} to {b}", self.cells[a][b]) for a in corpora for b in corpora)
        excluded = ", ".join(f"{name} {count:,}" for name, count in self.duplicates.items() if count)
        notes = (
            f"{self.metric} of {self.system}; on the diagonal: "
            + ", ".join(f"{name} {how}" for name, how in self.designs.items())
            + ".",
            f"Excluded because an earlier corpus has the text: {excluded or 'none'}.",
            f"{NOTE}.",
        )
        matrix = Table(("", *(f"test {name}" for name in corpora)), tuple(rows))
        return Summary((matrix, Table(("train to test", self.metric), intervals)), notes)

    def as_dict(self) -> dict[str, object]:
        """Return every cell with its interval, and what was excluded."""
        cells = {a: {b: cell.as_dict() for b, cell in row.items()} for a, row in self.cells.items()}
        return {
            "system": self.system, "metric": self.metric, "cells": cells, "n": dict(self.sizes),
            "duplicates_removed": dict(self.duplicates), "designs": dict(self.designs),
            "constant_answer": dict(self.baseline), "seed": self.seed,
        }  # fmt: skip

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write transfer.json, transfer.svg, report.html and manifest.json."""
        from deadpan.figures import heat

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        corpora = list(self.cells)
        page = Page("Trained on one corpus, tested on another", f"{self.metric} of {self.system}.")
        add_summary(page, self)
        matrix = [[self.cells[a][b].value for b in corpora] for a in corpora]
        add_figure(page, out, "transfer", lambda: heat(
            "Trained on a row, tested on a column", matrix,
            rows=("trained on", corpora), columns=("tested on", corpora), unit=self.metric.replace("_", " "),
            centre=CHANCE.get(self.metric),
        ))  # fmt: skip
        write_study(
            out,
            "transfer",
            self,
            page,
            command="detect transfer",
            config={"data": corpora},
            seed=self.seed,
            inputs=inputs,
        )


def transfer(
    corpora: Mapping[str, Sequence[Example]],
    system: str = "linear",
    *,
    metric: str = METRIC,
    k: int = FOLDS,
    pool: bool = False,
    at_most: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> TransferMatrix:
    """Train on every corpus and test on every other, always on the same test examples per column.

    Texts that an earlier corpus has too, or nearly, are excluded from the later one, with the rest of their
    pair or sequence. A corpus with published splits is trained on train (and dev) and tested on test; any
    other is tested whole by the others and by k folds on the diagonal. `at_most` draws a random sample of
    larger corpora.
    """
    check_mapping(corpora, "corpora", "pass {name: examples}")
    corpora = {name: check_examples(rows) for name, rows in corpora.items()}
    settings, progress = check_settings(settings), check_progress(progress)
    if at_most is not None:
        check_whole(at_most, "at_most", 2)
    if len(corpora) < 2:
        raise ConfigError("a transfer needs at least two corpora: one to train on, another to test on")
    if metric != AUC:
        score_named(metric)
    kept, duplicates = _apart({name: _drawn(rows, at_most, seed) for name, rows in corpora.items()})
    designs = {name: divide(rows, k=k, pool=pool) for name, rows in kept.items()}
    cells: dict[str, dict[str, Interval]] = {}
    for place, (source, design) in enumerate(designs.items()):
        progress("training corpora", place, len(designs))
        own = run_trial(system, design, seed=seed, settings=settings, progress=progress)
        detector = Detector(system, **{"seed": seed, **settings})
        detector.fit(_training(design, kept[source]), progress=progress)
        cells[source] = {}
        for target, other in designs.items():
            answers = own.predictions if source == target else detector.predict(other.tested)
            scored = score_predictions(other.tested, answers, seed=seed)
            cells[source][target] = scored.scores[metric]
    return TransferMatrix(
        system,
        metric,
        cells,
        {name: len(rows) for name, rows in kept.items()},
        duplicates,
        {name: design.describe() for name, design in designs.items()},
        {name: constant_scores(design.tested).get(metric, 0.5) for name, design in designs.items()},
        seed,
    )


def _training(design: Design, examples: Sequence[Example]) -> Sequence[Example]:
    """Return what a corpus trains on when it is tested elsewhere: its train split, or all of it."""
    return design.folds[0].train if design.published else examples


def _drawn(examples: Sequence[Example], at_most: int | None, seed: int) -> list[Example]:
    rows = [example for example in check_examples(examples) if example.label is not None]
    if at_most is None or len(rows) <= at_most:
        return rows
    return sample(rows, at_most, seed=seed, key=lambda example: example.sequence or example.id)


def _apart(corpora: Mapping[str, list[Example]]) -> tuple[dict[str, list[Example]], dict[str, int]]:
    """Exclude from each corpus the texts of the earlier ones; return the corpora and the numbers excluded."""
    kept: dict[str, list[Example]] = {}
    duplicates: dict[str, int] = {}
    earlier: list[Example] = []
    for name, rows in corpora.items():
        kept[name] = list(without_duplicates(rows, earlier).examples)
        duplicates[name] = len(rows) - len(kept[name])
        if len({example.label for example in kept[name]}) < 2:
            raise DataError(
                f"{name}: {duplicates[name]:,} of its {len(rows):,} examples are in an earlier corpus too, "
                "and the rest has no two labels: a copy cannot be a test, leave it out"
            )
        earlier += rows
    return kept, duplicates
