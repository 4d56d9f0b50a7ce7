"""Train on one corpus, test on another: a matrix of scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deadpan.arguments import check_examples, check_flag, check_mapping, check_progress, check_settings, check_whole
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, Trial, divide, run_trial, write_study
from deadpan.draws import sample
from deadpan.duplicates import without_duplicates
from deadpan.errors import ConfigError, DataError
from deadpan.page import Table
from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.splits import Fold
from deadpan.stats import Interval, score_predictions
from deadpan.stats.scores import beats, metric_words, with_direction
from deadpan.stats.table import CONSTANT, NOTE, check_fits, constant_scores, score_named
from deadpan.storage import OutputPage

METRIC = "balanced_accuracy"
AUC = "auc"
"""A score of ranks, not of a table of answers; a constant answer has one half."""

TOGETHER = "train on all"

CHANCE = {"balanced_accuracy": 0.5, "auc": 0.5, "pair_accuracy": 0.5}
"""Scores that chance decides whatever the share of sarcasm: the colours of the matrix run from there."""


@dataclass(frozen=True, slots=True, repr=False)
class TransferMatrix(Result):
    """`cells[train][test]` is a score with its interval.

    A corpus is never tested on its own training data: on the diagonal stands the published test split, or
    cross-validation. `duplicates` counts the examples excluded from each corpus because an earlier corpus
    has their text. `together` are the scores of one model for all, where it was asked for.
    """

    system: str
    metric: str
    cells: Mapping[str, Mapping[str, Interval]]
    sizes: Mapping[str, int]
    duplicates: Mapping[str, int]
    designs: Mapping[str, str]
    baseline: Mapping[str, float]
    seed: int
    together: Mapping[str, Interval] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<TransferMatrix of {self.system!r}, {len(self.cells)} corpora>"

    def summary(self) -> Summary:
        """Return the matrix, a row per training corpus."""
        corpora = tuple(self.cells)
        rows: list[tuple[Cell, ...]] = [(f"train {a}", *(self.cells[a][b].value for b in corpora)) for a in corpora]
        intervals = [(f"{a} to {b}", self.cells[a][b]) for a in corpora for b in corpora]
        if self.together:
            rows.append((TOGETHER, *(self.together[b].value for b in corpora)))
            intervals += [(f"all to {b}", self.together[b]) for b in corpora]
        rows.append((CONSTANT, *(self.baseline.get(b) for b in corpora)))
        excluded = ", ".join(f"{name} {count:,}" for name, count in self.duplicates.items() if count)
        notes = (
            f"{with_direction(self.metric)} of {self.system}; on the diagonal: "
            + ", ".join(f"{name} {how}" for name, how in self.designs.items())
            + ".",
            f"Excluded because an earlier corpus has the text: {excluded or 'none'}.",
            f"{NOTE}.",
        )
        matrix = Table(("", *(f"test {name}" for name in corpora)), tuple(rows))
        return Summary((matrix, Table(("train to test", self.metric), tuple(intervals))), notes)

    def as_dict(self) -> dict[str, object]:
        """Return every cell with its interval, and what was excluded."""
        cells = {a: {b: cell.as_dict() for b, cell in row.items()} for a, row in self.cells.items()}
        return {
            "system": self.system, "metric": self.metric, "cells": cells, "n": dict(self.sizes),
            "duplicates_removed": dict(self.duplicates), "designs": dict(self.designs),
            "constant_answer": dict(self.baseline), "seed": self.seed,
            "together": {name: cell.as_dict() for name, cell in self.together.items()},
        }  # fmt: skip

    def about(self) -> OutputPage:
        """Return the finding: how often a corpus teaches something about another."""
        away = [(b, cell) for a, row in self.cells.items() for b, cell in row.items() if a != b]
        above = sum(
            cell.low is not None and b in self.baseline and beats(self.metric, cell, self.baseline[b])
            for b, cell in away
        )
        finding = (
            f"Trained on one corpus, {self.system} is significantly better than a constant answer on another "
            f"in {above} of {len(away)} cases."
        )
        unit = with_direction(self.metric, metric_words(self.metric))
        facts = (f"{len(self.cells)} corpora", unit, f"seed {self.seed}")
        return OutputPage("From one corpus to another", finding, facts)

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write transfer.json, transfer.svg, report.html and manifest.json."""
        from deadpan.figures import heat

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        corpora = list(self.cells)
        about = self.about()
        page = output_page(about)
        add_summary(page, self)
        rows = {**self.cells, "all": self.together} if self.together else self.cells
        matrix = [[row[b].value for b in corpora] for row in rows.values()]
        add_figure(page, out, "transfer", lambda: heat(
            "Trained on a row, tested on a column", matrix,
            rows=("trained on", list(rows)), columns=("tested on", corpora),
            unit=with_direction(self.metric, self.metric.replace("_", " ")), centre=CHANCE.get(self.metric),
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
            about=about,
        )


def transfer(
    corpora: Mapping[str, Sequence[Example]],
    system: str = "linear",
    *,
    metric: str = METRIC,
    k: int = FOLDS,
    pool: bool = False,
    at_most: int | None = None,
    together: bool = False,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> TransferMatrix:
    """Train on every corpus and test on every other, always on the same test examples per column.

    Texts that an earlier corpus has too, or nearly, are excluded from the later one, with the rest of their
    pair or sequence. A corpus with published splits is trained on train (and dev) and tested on test; any
    other is tested whole by the others and by k folds on the diagonal. `at_most` draws a random sample of
    larger corpora. With `together`, one model is also trained on the training parts of all corpora.
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
    for name, design in designs.items():
        if metric != AUC:
            check_fits(metric, design.tested, name)
    cells: dict[str, dict[str, Interval]] = {}
    one_for_all: dict[str, Interval] = {}
    if check_flag(together, "together"):
        every = _all_together(designs)
        trial = run_trial(system, every, seed=seed, settings=settings, progress=progress)
        one_for_all = _scores_apart(designs, trial, metric, seed)
    for place, (source, design) in enumerate(designs.items()):
        progress("training corpora", place, len(designs))
        own = run_trial(system, design, seed=seed, settings=settings, progress=progress)
        detector = Detector(system, **{"seed": seed, **settings})
        detector.fit(_training(design, kept[source]), progress=progress)
        cells[source] = {}
        for target, other in designs.items():
            answers = own.predictions if source == target else detector.predict(other.tested)
            scored = score_predictions(other.tested, answers, seed=seed)
            cells[source][target] = scored.score(metric)
    return TransferMatrix(
        system,
        metric,
        cells,
        {name: len(rows) for name, rows in kept.items()},
        duplicates,
        {name: design.describe() for name, design in designs.items()},
        {name: constant_scores(design.tested).get(metric, 0.5) for name, design in designs.items()},
        seed,
        one_for_all,
    )


def _all_together(designs: Mapping[str, Design]) -> Design:
    """Return one design over all corpora: its nth fold has the nth fold of each, or the only one it has.

    A corpus with a test split is trained on in every fold and tested in the first.
    """
    planned = []
    for number in range(max(len(design.folds) for design in designs.values())):
        train: list[Example] = []
        test: list[Example] = []
        for name, design in designs.items():
            fold = design.folds[number % len(design.folds)]
            train += _named(name, fold.train)
            test += _named(name, fold.test) if number < len(design.folds) else []
        planned.append(Fold(train, test))
    return Design(tuple(planned), [e for fold in planned for e in fold.test], published=False, duplicates=0)


def _scores_apart(designs: Mapping[str, Design], trial: Trial, metric: str, seed: int) -> dict[str, Interval]:
    """Return the score of each corpus from the predictions of all together."""
    said = {prediction.example_id: prediction for prediction in trial.predictions}
    scores = {}
    for name, design in designs.items():
        answers = [replace(said[_own_id(name, e)], example_id=e.id) for e in design.tested]
        scores[name] = score_predictions(design.tested, answers, seed=seed).score(metric)
    return scores


def _named(corpus: str, examples: Iterable[Example]) -> list[Example]:
    """Return examples whose ids, groups and sequences are those of no other corpus."""
    return [
        replace(
            e,
            id=_own_id(corpus, e),
            group=e.group and f"{corpus}/{e.group}",
            sequence=e.sequence and f"{corpus}/{e.sequence}",
        )
        for e in examples
    ]


def _own_id(corpus: str, example: Example) -> str:
    return f"{corpus}/{example.id}"


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
                "and the rest does not have both labels: a copy cannot be a test, leave it out"
            )
        earlier += rows
    return kept, duplicates
