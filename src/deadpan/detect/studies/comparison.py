"""Several systems on the same folds, and which of them are significantly different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, overload

from deadpan.arguments import check_examples, check_list, check_progress
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, Trial, divide, run_trial, source_name, write_study
from deadpan.detect.studies.evaluation import ranking_scores, rate_warnings
from deadpan.detect.system import split_variant
from deadpan.detect.systems.ensembles import AUTHOR, Habits, add_history, blend_scores, roles, who
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold, check_threshold
from deadpan.errors import ConfigError, DataError
from deadpan.page import Table
from deadpan.page.numbers import PValue
from deadpan.page.results import add_figure, add_summary, output_page, rank_finding, rank_headline
from deadpan.page.summary import Summary
from deadpan.page.table import Cell
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import Comparisons, Interval, PairedDifference, ScoreTable, compare_predictions, score_predictions
from deadpan.stats.scores import beats, is_loss, rank_value, with_direction
from deadpan.stats.table import CONSTANT, NOTE, check_fits, constant_scores
from deadpan.storage import OutputPage

BLENDED = "all, blended"
BEST = "best"
HIGHEST, LOWEST = "highest", "lowest"
"""The first row where it is not significantly the best: lowest by a score of errors, such as brier."""
Systems = Sequence[str | Detector] | Mapping[str, Mapping[str, Any]]
"""Names of systems or Detectors (only their settings are used); or names of rows, each with its settings,
`system` among them if it is not the name."""
Answers = Mapping[str, Sequence[Prediction]]
"""Predictions of several systems by name."""
TEXT, WITH = "text only", "with history"
PARTS = ("all", "author known", "author unknown")
Rows = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow:
    """One system: its scores with the first seed, mean and spread over all seeds, cost and verdict."""

    system: str
    scores: Mapping[str, Interval]
    over_seeds: Mapping[str, tuple[float, float]]
    cost: Mapping[str, float]
    n_unread: int
    verdict: str
    predictions: list[Prediction]
    ranking: Mapping[str, float]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonTable(Result):
    """Systems ordered by a metric, best first, beside the scores of a constant answer.

    The first row is called the best only where it is significantly better than every other row and than a
    constant answer.
    """

    source: str
    metric: str
    shown: tuple[str, ...]
    seeds: tuple[int, ...]
    rows: tuple[ComparisonRow, ...]
    pairs: tuple[PairedDifference, ...]
    baseline: Mapping[str, float]
    design: Design

    def __repr__(self) -> str:
        return f"<ComparisonTable of {len(self.rows)} systems on {self.source!r}, n = {self.n:,}>"

    @property
    def n(self) -> int:
        """Examples every system was tested on."""
        return len(self.design.tested)

    def headline(self) -> str:
        """Return the finding in one line; a winner only where it is significant."""
        return rank_headline(self.source, self.metric, self._scores(), self.pairs, self._constant())

    def about(self) -> OutputPage:
        """Return the finding with the score of the first row."""
        finding = rank_finding(self.source, self.metric, self._scores(), self.pairs, self._constant())
        order, seed = f"{_first_word(self.metric)} {self.metric} first", f"seed {self.seeds[0]}"
        facts = (f"{len(self.rows)} systems", f"n = {self.n:,}", self.design.describe(), order, seed)
        return OutputPage(f"Systems on {self.source}", finding, facts)

    def _scores(self) -> dict[str, Interval]:
        return {row.system: row.scores[self.metric] for row in self.rows}

    def _constant(self) -> float | None:
        return self.baseline.get(self.metric)

    def summary(self) -> Summary:
        """Return the scores with verdicts, then what each system costs."""
        metric, others = self.metric, [name for name in self.shown if name != self.metric]
        rows: list[tuple[Cell, ...]] = [(row.system, row.scores[metric], row.verdict) for row in self.rows]
        rows.append((CONSTANT, self.baseline.get(metric), ""))
        details: list[tuple[Cell, ...]] = [
            (row.system, *(row.scores[name].value for name in others),
             row.ranking.get("average_precision"), row.ranking.get("best_f1"), row.cost["fit_seconds"],
             row.cost["predict_seconds_per_1000"])
            for row in self.rows
        ]  # fmt: skip
        details.append((CONSTANT, *(self.baseline.get(name) for name in others), None, None, None, None))
        columns = ["system", *others, "avg. precision", "best F1", "train, s", "1,000 texts, s"]
        if len(self.seeds) > 1:
            columns.append(f"{metric}, {len(self.seeds)} seeds")
            spreads = ["{:.3f} ± {:.3f}".format(*row.over_seeds[metric]) for row in self.rows]
            details = [(*row, spread) for row, spread in zip(details, [*spreads, ""], strict=True)]
        tables = (
            Table(("system", with_direction(metric), "verdict"), tuple(rows)),
            Table(tuple(columns), tuple(details)),
        )
        notes = [
            f"{self.headline()}.",
            f"{self.source}, {self.design.describe()}, n = {self.n:,}. {Comparisons(self.pairs).method()}",
            *self.design.notes(),
            *(f"Warning, {row.system}: {warning}" for row in self.rows for warning in row.warnings),
            "Best F1 is that of the best threshold in hindsight: a limit, not a result.",
            f"{NOTE}.",
        ]
        return Summary(tables, tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return every score, cost, verdict and pairwise comparison."""
        return {
            "data": self.source,
            "metric": self.metric,
            "seeds": list(self.seeds),
            **self.design.as_dict(),
            "systems": {
                row.system: {
                    "scores": {name: value.as_dict() for name, value in row.scores.items()},
                    "over_seeds": {name: list(pair) for name, pair in row.over_seeds.items()},
                    "cost": dict(row.cost),
                    "n_unread": row.n_unread,
                    "ranking": dict(row.ranking),
                    "warnings": list(row.warnings),
                    "verdict": row.verdict,
                }
                for row in self.rows
            },
            "constant_answer": dict(self.baseline),
            "comparisons": [pair.as_dict() for pair in self.pairs],
        }

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write tested.csv, each system's predictions, compare.json, compare.svg, report.html and manifest.json."""
        from deadpan.figures import whiskers

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        about, scores, constant = self.about(), self._scores(), self._constant()
        page = output_page(about)
        add_summary(page, self)
        mark = None if constant is None else (CONSTANT, constant)
        unit = with_direction(self.metric)
        add_figure(page, out, "compare", lambda: whiskers(self.headline(), scores, unit=unit, mark=mark))
        write_study(
            out, "compare", self, page, command="detect compare",
            predictions={row.system: row.predictions for row in self.rows}, tested=self.design.tested,
            config={"data": self.source, "design": self.design.describe()}, seed=self.seeds[0], inputs=inputs,
            about=about,
        )  # fmt: skip


def suitable_metrics(examples: Sequence[Example]) -> list[str]:
    """Return the scores usually reported on such data, the main one first."""
    labels: dict[str, list[bool]] = {}
    for example in examples:
        if example.label is not None and example.sequence:
            labels.setdefault(example.sequence, []).append(example.label)
    if labels and all(sorted(pair) == [False, True] for pair in labels.values()):
        return ["pair_accuracy", "accuracy"]
    truths = [example.label for example in examples if example.label is not None]
    share = sum(truths) / max(len(truths), 1)
    even = 0.35 <= share <= 0.65
    return ["balanced_accuracy", "f1"] if even else ["f1", "balanced_accuracy"]


@overload
def compare_systems(examples: Sequence[Example], systems: Answers, *, metric: str | None = None) -> Comparisons: ...


@overload
def compare_systems(
    examples: Sequence[Example],
    systems: Systems,
    *,
    metric: str | None = None,
    k: int = FOLDS,
    pool: bool = False,
    seeds: Sequence[int] = (0,),
    threshold: Threshold = DEFAULT_THRESHOLD,
    prevalence: float | None = None,
    blend: bool = False,
    also: Sequence[Example] = (),
    source: str = "",
    progress: Progress = silent,
) -> ComparisonTable: ...


def compare_systems(
    examples: Sequence[Example],
    systems: Systems | Answers,
    *,
    metric: str | None = None,
    k: int = FOLDS,
    pool: bool = False,
    seeds: Sequence[int] = (0,),
    threshold: Threshold = DEFAULT_THRESHOLD,
    prevalence: float | None = None,
    blend: bool = False,
    also: Sequence[Example] = (),
    source: str = "",
    progress: Progress = silent,
) -> ComparisonTable | Comparisons:
    """Test several systems on the same examples: on the published test split, or in the same k folds.

    `systems` are names, Detectors, or a mapping from a name to settings. `divide` describes how copies are
    kept out of training, and what happens to `also`, additional training data. A threshold rule is applied
    inside each training part. `blend` adds a row that combines all systems by their out-of-fold scores.

    If `systems` maps names to lists of Predictions, nothing is trained: they are compared as by
    `compare_predictions`.

    compare_systems(read_dataset("starter-en").examples, ["bow", "linear"])
    """
    examples = check_examples(examples)
    if isinstance(systems, Mapping) and any(not isinstance(own, Mapping) for own in systems.values()):
        answers: Any = systems
        metric = suitable_metrics(examples)[0] if metric is None else metric
        return compare_predictions(examples, answers, metric=metric)
    settings, progress = system_settings(systems), check_progress(progress)
    seeds, also = check_list(seeds, "seeds"), check_examples(also)
    if not settings or not seeds:
        raise ConfigError("a comparison needs at least one system and one seed: name some")
    check_threshold(threshold)
    design = divide(examples, k=k, pool=pool, also=also)
    shown = suitable_metrics(design.tested)
    metric = shown[0] if metric is None else metric
    check_fits(metric, design.tested)
    shown = list(dict.fromkeys([metric, *shown, "auc"]))
    first: dict[str, Trial] = {}
    tables: dict[str, list[ScoreTable]] = {}
    for name, own in settings.items():
        trials = [
            run_trial(
                str(own["system"]), design, seed=seed, threshold=threshold, prevalence=prevalence,
                progress=progress,
                settings={key: value for key, value in own.items() if key != "system"},
            )
            for seed in seeds
        ]  # fmt: skip
        first[name] = trials[0]
        tables[name] = [score_predictions(design.tested, trial.predictions, seed=0) for trial in trials]
    if blend:
        first[BLENDED] = _blended(first, settings, design, threshold, prevalence, progress)
        tables[BLENDED] = [score_predictions(design.tested, first[BLENDED].predictions, seed=0)]
    return _table(source or source_name(examples), metric, shown, seeds, first, tables, design)


def system_settings(systems: Any) -> dict[str, dict[str, Any]]:
    """Return the settings of each row, `system` among them."""
    if isinstance(systems, Mapping):
        return {name: {"system": name, **own} for name, own in systems.items()}
    if isinstance(systems, str | bytes) or not isinstance(systems, Iterable):
        raise ConfigError(f"systems is {systems!r}: pass a list of names, such as ['linear', 'majority']")
    rows: dict[str, dict[str, Any]] = {}
    for system in systems:
        detector = isinstance(system, Detector)
        name = system.system if detector else str(system)
        split_variant(name)
        number = sum(row["system"] == name for row in rows.values())
        rows[f"{name} {number + 1}" if number else name] = {**(system.settings if detector else {}), "system": name}
    return rows


def _table(
    source: str,
    metric: str,
    shown: Sequence[str],
    seeds: Sequence[int],
    trials: Mapping[str, Trial],
    tables: Mapping[str, Sequence[ScoreTable]],
    design: Design,
) -> ComparisonTable:
    answers = {name: trial.predictions for name, trial in trials.items()}
    pairs = compare_predictions(design.tested, answers, metric=metric) if len(trials) > 1 else []
    order = sorted(trials, key=lambda name: -rank_value(metric, tables[name][0].score(metric).value))
    usable = [name for name in shown if name == metric or all(name in tables[system][0].scores for system in trials)]
    rate = sum(bool(e.label) for fold in design.folds for e in fold.train) / max(
        sum(len(fold.train) for fold in design.folds), 1
    )
    baseline = constant_scores(design.tested)
    useful = beats(metric, tables[order[0]][0].score(metric), baseline.get(metric))
    rows = tuple(
        ComparisonRow(
            name,
            {**tables[name][0].scores, metric: tables[name][0].score(metric)},
            {score: _over_seeds(tables[name], score) for score in usable},
            trials[name].cost(),
            tables[name][0].n_unread,
            _verdict(name, order[0], pairs, useful, _first_word(metric)),
            trials[name].predictions,
            ranking_scores(design.tested, trials[name].predictions),
            rate_warnings(trials[name].predictions, rate),
        )
        for name in order
    )
    return ComparisonTable(source, metric, tuple(usable), tuple(seeds), rows, tuple(pairs), baseline, design)


def _blended(
    trials: Mapping[str, Trial],
    settings: Mapping[str, Mapping[str, Any]],
    design: Design,
    threshold: Threshold,
    prevalence: float | None,
    progress: Progress,
) -> Trial:
    """Return the blend of all systems; a published test split has no say in its weights and threshold."""
    if design.published:
        own = {"systems": [dict(row) for row in settings.values()]}
        return run_trial("blend", design, threshold=threshold, prevalence=prevalence, settings=own, progress=progress)
    predictions, thresholds = blend_scores(
        [trial.predictions for trial in trials.values()], design.tested, len(design.folds),
        threshold=threshold, prevalence=prevalence,
    )  # fmt: skip
    fit, predict = (
        sum(getattr(trial, name) for trial in trials.values()) for name in ("fit_seconds", "predict_seconds")
    )
    return Trial(BLENDED, predictions, thresholds, fit, predict)


def _over_seeds(tables: Sequence[ScoreTable], score: str) -> tuple[float, float]:
    values = [table.score(score).value or 0.0 for table in tables]
    return fmean(values), stdev(values) if len(values) > 1 else 0.0


def _first_word(metric: str) -> str:
    """Return what the first row's value is among all."""
    return LOWEST if is_loss(metric) else HIGHEST


def _verdict(name: str, first: str, pairs: Sequence[PairedDifference], useful: bool, otherwise: str) -> str:
    """Return how a row stands to the first one, which is best if it is useful and all others are worse."""
    if name == first:
        against = [pair for pair in pairs if first in (pair.first, pair.second)]
        return BEST if useful and against and all(pair.significant for pair in against) else otherwise
    for pair in pairs:
        if {pair.first, pair.second} == {name, first}:
            if pair.p_holm is None:
                return "cannot be compared"
            if pair.few_clusters:
                return f"not settled ({pair.few_clusters})"
            word = "significantly worse" if pair.significant else "not significantly different"
            return f"{word}, {PValue(pair.p_holm).equation()}"
    return ""


@dataclass(frozen=True, slots=True, repr=False)
class HistoryStudy(Result):
    """`cells[row][part]` for the rows "text only" and "with history": annotators saw no history."""

    source: str
    system: str
    metric: str
    by: tuple[str, ...]
    cells: Mapping[str, Mapping[str, Interval]]
    pair: PairedDifference
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


def _gain(pair: PairedDifference) -> str:
    """Return how much better the system is with history than without it."""
    value, low, high = pair.difference.value, pair.difference.low, pair.difference.high
    if value is None or pair.p is None:
        return f"The gain of history is undefined ({pair.difference.why})."
    interval = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return f"Gain of history on all: {value:+.3f}{interval}, {PValue(pair.p).equation()}."


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
