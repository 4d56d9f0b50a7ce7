"""Systems scored twice: on a corpus as it is, without guards, and on its cleaned splits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deadpan import __version__
from deadpan.arguments import check_examples, check_names, check_seed, check_whole
from deadpan.detect.studies.design import FOLDS, Design, divide, published_splits, run_trial
from deadpan.detect.system import split_variant
from deadpan.draws import sample as draw_sample
from deadpan.errors import ConfigError
from deadpan.journal import Journal
from deadpan.probes import clusters_of
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.splits import Fold
from deadpan.stats import Interval, score_predictions
from deadpan.stats.interval import undefined
from deadpan.stats.ranking import explained_share
from deadpan.validation import decode, encode

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

SCORES = ("balanced_accuracy", "f1", "auc")

MOST = 10_000
"""Corpora with more rows are scored on the first of five folds only."""

JOURNAL = ".rescored.sqlite"
"""Finished trainings, in the output folder: the same command repeats none of them."""

FEWEST = 100
"""With fewer examples that shortcuts scored, nothing is said about what shortcuts explain."""


@dataclass(frozen=True, slots=True, repr=False)
class Rescoring(Result):
    """The scores of each system before and after cleaning; `removed` is the number of rows that went.

    `explained` is the share of each system's AUC above chance, on the cleaned corpus, that disappears among
    examples which the shortcuts of an audit score alike; empty where no audit was given.
    """

    before: Mapping[str, Mapping[str, Interval]]
    after: Mapping[str, Mapping[str, Interval]]
    removed: int
    design: str
    explained: Mapping[str, Interval] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Rescoring({len(self.before)} systems, {self.removed:,} rows removed)"

    def as_dict(self) -> dict[str, object]:
        """Return every score, for `--json`."""
        return {
            "removed": self.removed,
            "design": self.design,
            "systems": {
                name: {
                    score: {"before": self.before[name][score].as_dict(), "after": self.after[name][score].as_dict()}
                    for score in SCORES
                }
                for name in self.before
            },
            "explained": {name: share.as_dict() for name, share in self.explained.items()},
        }

    def summary(self) -> Summary:
        """Return a row per system and score, and what shortcuts explain of it."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple(
            (name, score, self.before[name][score], self.after[name][score], _change(self, name, score))
            for name in self.before
            for score in SCORES
        )
        tables = [Table(("system", "score", "as it is", "cleaned", "change"), rows)]
        if self.explained:
            title = "Share of the AUC above chance that shortcuts explain, cleaned"
            tables.append(Table(("system", "explained", "n"),
                                tuple((name, share, share.n) for name, share in self.explained.items()),
                                title))  # fmt: skip
        return Summary(tuple(tables), (f"{self.removed:,} rows removed; {self.design}",))


def _change(result: Rescoring, name: str, score: str) -> str:
    one, other = result.before[name][score].value, result.after[name][score].value
    return "" if one is None or other is None else f"{other - one:+.3f}"


def rescore(
    before: Sequence[Example],
    after: Sequence[Example],
    systems: Sequence[str],
    *,
    shortcut: Mapping[str, float] | None = None,
    most: int = MOST,
    sample: int | None = None,
    journal: Journal | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Rescoring:
    """Score systems on a corpus as it is and on its cleaned splits.

    As it is: the published train and test splits, or folds of single rows, with whatever leaks there are.
    Cleaned: the same splits without the removed rows, or folds that cross no thread, pair or duplicate.
    Corpora with more than `most` rows are scored on the first fold. With `sample`, at most that many rows are
    drawn, whole threads and all copies of a text together: for systems that are expensive to train.
    `shortcut` holds held-out scores of an audit's shortcuts by id (`Shortcuts.scores`); with it, the share of
    each system's score that they explain is returned too. A `journal` keeps every finished fold.
    """
    check_seed(seed)
    names = check_names(systems, "systems")
    if not names:
        raise ConfigError("there are no systems to score: name some, such as bow,linear")
    raw = [example for example in check_examples(before) if example.label is not None]
    cleaned = check_examples(after)
    removed, whole = len(raw) - len(cleaned), len(raw)
    if sample is not None:
        raw = _drawn(raw, check_whole(sample, "the sample", 1), seed)
        ids = {example.id for example in raw}
        cleaned = [example for example in cleaned if example.id in ids]
    naive = published_splits(raw)
    one_fold = naive is None and len(raw) > check_whole(most, "the most rows that all folds are run on", 1)
    first = Design((Fold(*naive),), naive[1], True, 0) if naive else _loose(raw, seed)
    second = divide(cleaned, pool=naive is None)
    if one_fold:
        first, second = _first_fold(first), _first_fold(second)
    tables: list[dict[str, dict[str, Interval]]] = []
    explained: dict[str, Interval] = {}
    for design in (first, second):
        scores: dict[str, dict[str, Interval]] = {}
        for name in names:
            answers = _answers(name, design, seed, journal, progress)
            table = score_predictions(design.tested, answers, seed=seed).scores
            scores[name] = {score: table[score] for score in SCORES}
            if design is second and shortcut is not None:
                explained[name] = _explained(design, answers, shortcut, seed)
        tables.append(scores)
    folds = f"the first of {FOLDS} folds" if one_fold else f"{FOLDS} folds"
    how = "the test split" if naive else f"{folds}: of rows as it is, of whole threads cleaned"
    if len(raw) < whole:
        how += f"; a sample of {len(raw):,} of {whole:,} rows"
    return Rescoring(tables[0], tables[1], removed, how, explained)


Rescorer = Callable[[Sequence[Example], Sequence[Example], Mapping[str, float]], Rescoring]


def rescorer_for(systems: str, sample: int | None, keep: Path | None, seed: int) -> Rescorer | None:
    """Return the rescorer of systems written with commas, as the command line has them; None for none."""
    names = [name.strip() for name in systems.split(",") if name.strip()]
    return rescorer(names, sample=sample, keep=keep, seed=seed) if names else None


def rescorer(
    systems: Sequence[str],
    *,
    most: int = MOST,
    sample: int | None = None,
    keep: Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Rescorer:
    """Return `rescore` for these systems, as `audit_sources` takes it.

    `keep` is the folder of the output: finished trainings are kept there, and not repeated by the same call.
    """
    names = check_names(systems, "systems")
    for name in names:
        split_variant(name)

    def run(before: Sequence[Example], after: Sequence[Example], shortcut: Mapping[str, float]) -> Rescoring:
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
        with nullcontext() if keep is None else Journal(keep / JOURNAL) as journal:
            return rescore(before, after, names, shortcut=shortcut, most=most, sample=sample,
                           journal=journal, seed=seed, progress=progress)  # fmt: skip

    return run


def _drawn(examples: Sequence[Example], n: int, seed: int) -> list[Example]:
    """Return about `n` examples: whole threads and pairs, and a text with all its copies."""
    if len(examples) <= n:
        return list(examples)
    clusters = clusters_of(examples).tolist()
    sizes = np.bincount(clusters)
    kept: set[int] = set()
    rows = 0
    for cluster in draw_sample(range(len(sizes)), len(sizes), seed=seed, key=str):
        if rows + sizes[cluster] <= n:
            kept.add(cluster)
            rows += int(sizes[cluster])
    return [example for example, cluster in zip(examples, clusters, strict=True) if cluster in kept]


def _answers(system: str, design: Design, seed: int, journal: Journal | None, progress: Progress) -> list[Prediction]:
    """Return the predictions of a system; a fold that an earlier start finished is not trained again."""
    found: dict[str, Prediction] = {}
    for number, fold in enumerate(design.folds):
        progress(f"{system}: fold", number, len(design.folds))
        facts = [__version__, system, seed, _facts(fold.train), _facts(fold.test)]
        key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
        known = journal.find(key) if journal is not None else None
        if known is None:
            alone = replace(design, folds=(fold,), tested=list(fold.test))
            known = {"predictions": encode(run_trial(system, alone, seed=seed).predictions)}
            if journal is not None:
                journal.append(key, known)
        answers = [decode(row, Prediction) for row in known["predictions"]]
        found |= {answer.example_id: answer for answer in answers}
    return [found[example.id] for example in design.tested]


def _facts(examples: Sequence[Example]) -> str:
    """Return a hash of ids, labels and texts, in their order."""
    lines = [json.dumps([e.id, e.label, e.response.text, [t.text for t in e.context]]) for e in examples]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _explained(design: Design, answers: Sequence[Prediction], shortcut: Mapping[str, float], seed: int) -> Interval:
    """Return the share of a system's AUC that the shortcuts explain, on examples that both scored."""
    both = [(example, prediction.score) for example, prediction in zip(design.tested, answers, strict=True)
            if example.id in shortcut and prediction.score is not None]  # fmt: skip
    truth = np.array([bool(example.label) for example, _ in both], dtype=np.bool_)
    if len(both) < FEWEST or truth.all() or not truth.any():
        return undefined("too few examples with a score of the shortcuts", len(both))
    scores = np.array([score for _, score in both], dtype=np.float64)
    cues = np.array([shortcut[example.id] for example, _ in both], dtype=np.float64)
    clusters = clusters_of([example for example, _ in both])
    return explained_share(truth, scores, cues, clusters, resamples=100, seed=seed).share


def _first_fold(design: Design) -> Design:
    """Return a design with its first fold only."""
    return replace(design, folds=design.folds[:1], tested=list(design.folds[0].test))


def _loose(examples: Sequence[Example], seed: int) -> Design:
    """Return folds of single rows, as an evaluation without any guard would have."""
    fold = np.random.default_rng(seed).integers(0, FOLDS, len(examples))
    planned = []
    for number in range(FOLDS):
        parts: tuple[list[Example], list[Example]] = ([], [])
        for example, where in zip(examples, fold, strict=True):
            test = int(where) == number
            parts[test].append(replace(example, split="test" if test else "train"))
        planned.append(Fold(*parts))
    return Design(tuple(planned), list(examples), False, 0)
