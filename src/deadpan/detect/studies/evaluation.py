"""Score a trained detector on examples it was not trained on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_examples, check_path, check_progress
from deadpan.detect.detector import Detector
from deadpan.detect.inputs import SeenTexts
from deadpan.detect.studies.design import published_splits, source_name, write_study
from deadpan.detect.verdicts import Threshold, at_threshold, check_prevalence, check_threshold, choose_threshold
from deadpan.errors import ConfigError
from deadpan.page import Table
from deadpan.page.numbers import score
from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.page.summary import Summary
from deadpan.probes import column_warnings
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.splits import split
from deadpan.stats import ScoreTable, score_predictions
from deadpan.stats.scores import MAIN_SCORES, beats, metric_words, rows_by_sequence
from deadpan.stats.table import NOTE, constant_scores
from deadpan.storage import OutputPage

HELD_OUT = 0.2
"""Share of the examples a threshold is chosen on where there is no dev split; they are not scored."""
WILD = 3.0
"""A share of sarcastic answers that differs from the expected one by this factor is warned of."""


@dataclass(frozen=True, slots=True, repr=False)
class Evaluation(Result):
    """Scores of one detector, the scores of a constant answer beside them, and what was excluded."""

    model: str
    system: str
    source: str
    threshold: float
    table: ScoreTable
    baseline: Mapping[str, float]
    predictions: list[Prediction]
    seen: int
    torn: int
    training_texts_known: bool
    near_known: bool
    design: str
    ranking: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    coverage: tuple[float, float | None] | None = None
    prevalence: float | None = None
    """The share of sarcastic texts that the scores hold for, where one was asked for."""
    unlabelled: int = 0
    kept_seen: bool = False
    tested: Sequence[Example] = ()

    def __repr__(self) -> str:
        return f"<Evaluation of {self.model!r} on {self.source!r}, n = {self.table.n:,}>"

    def summary(self) -> Summary:
        """Return the scores beside those of a constant answer, and what was excluded."""
        rows = tuple((name, value, self.baseline.get(name), value.n) for name, value in self.table.scores.items())
        rate = "" if self.prevalence is None else f", scores for a prevalence of {self.prevalence:.3g}"
        notes = [
            f"{self.system} on {self.source} ({self.design}), threshold {self.threshold:.3g}{rate}.",
            f"n {self.table.n:,} in {self.table.n_clusters:,} clusters; without an answer "
            f"{self.table.n_unread:,}; excluded as seen in training, or nearly, {self.seen:,}"
            + (f", and {self.torn:,} more of the same pairs or sequences." if self.torn else "."),
        ]
        if self.unlabelled:
            notes.append(f"{self.unlabelled:,} of {self.unlabelled + self.table.n:,} rows have no label: not scored.")
        if self.table.n_copies:
            notes.append(f"{self.table.n_copies:,} rows are copies of others, and in one cluster with them.")
        if self.ranking:
            notes.append(
                f"Average precision {self.ranking['average_precision']:.3f}; best F1 at any threshold, in "
                f"hindsight, {self.ranking['best_f1']:.3f}."
            )
        if self.coverage is not None:
            notes.append(f"{_coverage_words(*self.coverage)}; the scores above are of all texts.")
        notes += [f"Warning: {warning}" for warning in self.warnings]
        if not self.training_texts_known:
            notes.append("The model does not record its training texts, so none could be excluded.")
        elif not self.near_known:
            notes.append("The model was trained on too many texts to recognise near copies: exact ones were excluded.")
        if self.table.calibration.ece_width is not None:
            notes.append(f"Expected calibration error: {self.table.calibration.ece_width:.3f}.")
        return Summary((Table(("score", "value", "constant answer", "n"), rows),), (*notes, f"{NOTE}."))

    def as_dict(self) -> dict[str, object]:
        """Return the scores and everything that was excluded."""
        return {
            "model": self.model, "system": self.system, "data": self.source, "design": self.design,
            "threshold": self.threshold, "prevalence": self.prevalence, "seen_in_training": self.seen,
            "excluded_with_their_sequence": self.torn, "training_texts_known": self.training_texts_known,
            "near_copies_known": self.near_known,
            "constant_answer": dict(self.baseline), "ranking": dict(self.ranking),
            "warnings": list(self.warnings), "unlabelled": self.unlabelled, "kept_seen": self.kept_seen,
            "coverage": None if self.coverage is None else self.coverage[0],
            "balanced_accuracy_decided": None if self.coverage is None else self.coverage[1],
            **self.table.as_dict(),
        }  # fmt: skip

    def about(self) -> OutputPage:
        """Return the finding: the main score, and whether it is better than a constant answer."""
        scores, what = self.table.scores, f"{self.system} on {self.source}"
        defined = [name for name in MAIN_SCORES if name in scores and scores[name].value is not None]
        main = defined[0] if defined else next(iter(scores))
        found = f"{metric_words(main)} {score(scores[main])}."
        better = scores[main].low is not None and beats(main, scores[main], self.baseline.get(main))
        worse = "" if better else " is not significantly better than a constant answer"
        return OutputPage(what, f"{what}{worse}: {found}", (f"n = {self.table.n:,}", f"threshold {self.threshold:.3g}"))

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write tested.csv, predictions.jsonl, scores.json, calibration.svg, report.html and manifest.json."""
        from deadpan.figures import reliability

        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        about = self.about()
        page = output_page(about)
        add_summary(page, self)
        bins, error = self.table.calibration.reliability, self.table.calibration.ece_width or 0.0
        if bins:
            page.heading("Calibration")
            title = f"Expected calibration error {error:.2f}"
            add_figure(page, out, "calibration", lambda: reliability(title, bins))
        config = {"model": self.model, "data": self.source, "threshold": self.threshold,
                  "prevalence": self.prevalence}  # fmt: skip
        write_study(
            out, "scores", self, page, command="detect evaluate", config=config,
            predictions={"predictions": self.predictions}, tested=self.tested, inputs=inputs,
            counts={"scored": self.table.n}, about=about,
        )  # fmt: skip


def evaluate(
    detector: Detector | Path | str,
    examples: Sequence[Example],
    *,
    threshold: Threshold | None = None,
    prevalence: float | None = None,
    pairs: bool = False,
    keep_seen: bool = False,
    pool: bool = False,
    source: str = "",
    seed: int = 0,
    progress: Progress = silent,
) -> Evaluation:
    """Score a detector, or the one saved in a folder.

    Where the examples come with train and test splits, the test split is scored, unless `pool` asks for
    all. Texts the detector was trained on are excluded, together with the other responses of their pair or
    sequence, unless `keep_seen`; so are near copies of them. A threshold rule ("f1", "balanced") is applied to
    the dev split, or to a fifth of the examples, which are then not scored. With `pairs`, exactly one response
    of each sequence is labelled sarcastic. `prevalence` is the share of sarcastic texts to expect: the scores of
    a detector with bands hold for it, as those of `detect predict` do, a rule chooses a threshold for it, and a
    share of sarcastic answers that is far from it, or from that of the training data, is warned of.
    """
    examples = check_examples(examples)
    if not isinstance(detector, Detector):
        check_path(detector, "a model")
    model = str(detector) if not isinstance(detector, Detector) else detector.system
    loaded = detector if isinstance(detector, Detector) else Detector.load(detector)
    if prevalence is not None and check_prevalence(prevalence) and loaded.bands is not None:
        loaded = loaded.at(prevalence)
    rule = None if threshold is None else check_threshold(threshold)
    published = None if pool else published_splits(examples)
    candidates = list(examples) if published is None else published[1]
    tested, seen, torn = (candidates, 0, 0) if keep_seen else without_seen(loaded.seen_, candidates)
    cut = loaded.threshold_
    if rule is not None:
        tested, cut = _with_threshold(loaded, examples, tested, rule, keep_seen, seed, prevalence)
    _check_scorable(source or source_name(examples), examples, tested, pairs)
    answers = loaded.predict(tested, check_progress(progress))
    predictions = at_threshold(answers, cut)
    if pairs:
        predictions = pick_one(tested, predictions)
    return Evaluation(
        model,
        loaded.system,
        source or source_name(examples),
        cut,
        score_predictions(tested, predictions, seed=seed),
        constant_scores(tested),
        predictions,
        seen,
        torn,
        loaded.seen_ is not None,
        loaded.seen_ is not None and loaded.seen_.near is not None,
        "all examples" if published is None else "test split",
        ranking_scores(tested, predictions),
        (*rate_warnings(predictions, loaded.rate_ if prevalence is None else prevalence), *column_warnings(tested)),
        None if loaded.bands is None else _coverage(tested, answers),
        None if loaded.bands is None else prevalence,
        sum(example.label is None for example in tested),
        keep_seen,
        tested,
    )


def _check_scorable(source: str, examples: Sequence[Example], tested: Sequence[Example], pairs: bool) -> None:
    """Refuse what has no label, nothing that is new to the model, or no pairs where they are asked for."""
    if not any(example.label is not None for example in examples):
        raise ConfigError(f"nothing to score in {source}: no row has a label: name the column of labels")
    if not any(example.label is not None for example in tested):
        raise ConfigError(
            f"nothing to score in {source}: no labelled example that the model has not seen in training; "
            "give other examples"
        )
    if pairs and all(len(rows) < 2 for rows in rows_by_sequence([e.sequence for e in tested]).values()):
        raise ConfigError(
            "pairs: no two examples are of one pair or sequence: leave it out, or name the column `sequence` that "
            "joins them"
        )


def _coverage_words(share: float, accuracy: float | None) -> str:
    if not share:
        return "Answers other than 'cannot tell': none"
    told = f"Answers other than 'cannot tell': {share:.0%}, balanced accuracy there"
    return f"{told} undefined (only one class in the truth)" if accuracy is None else f"{told} {accuracy:.3f}"


def _coverage(examples: Sequence[Example], answers: Sequence[Prediction]) -> tuple[float, float | None]:
    """Return the share of texts that are decided, and the balanced accuracy of those answers if it exists."""
    pairs = [(e, p) for e, p in zip(examples, answers, strict=True) if e.label is not None]
    kept = [(e, p) for e, p in pairs if p.label is not None]
    if not kept:
        return 0.0, None
    scored = score_predictions([e for e, _ in kept], [p for _, p in kept], resamples=1)
    return len(kept) / len(pairs), scored.scores["balanced_accuracy"].value


def without_seen(seen: SeenTexts | None, examples: Sequence[Example]) -> tuple[list[Example], int, int]:
    """Exclude the texts a model was trained on, and with them the rest of their sequence.

    Return the remaining examples, how many texts were seen, and how many more went with their sequence.
    """
    if seen is None:
        return list(examples), 0, 0
    known = seen.contain(examples)
    torn = {e.sequence for e, is_seen in zip(examples, known, strict=True) if is_seen and e.sequence}
    kept = [e for e, is_seen in zip(examples, known, strict=True) if not is_seen and e.sequence not in torn]
    n_seen = int(np.sum(known))
    return kept, n_seen, len(examples) - len(kept) - n_seen


def _with_threshold(
    detector: Detector,
    examples: Sequence[Example],
    tested: list[Example],
    rule: Threshold,
    keep_seen: bool,
    seed: int,
    prevalence: float | None,
) -> tuple[list[Example], float]:
    """Return the examples left to score and the threshold, chosen on others that the model has not seen."""
    if not isinstance(rule, str):
        return tested, float(rule)
    dev = [example for example in examples if example.split == "dev" and example.label is not None]
    dev = dev if keep_seen else without_seen(detector.seen_, dev)[0]
    rest = [example for example in tested if example.split != "dev"]
    if not dev or not rest:
        parts = split(tested, {"dev": HELD_OUT, "test": 1 - HELD_OUT}, seed=seed)
        dev, rest = parts["dev"], parts["test"]
    return rest, choose_threshold(dev, detector.predict(dev), rule, prevalence)


def pick_one(examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Prediction]:
    """Label only the highest-scoring response of each sequence sarcastic; of equal scores the first.

    An example without a sequence keeps its label.
    """
    picked = list(predictions)
    for rows in rows_by_sequence([example.sequence for example in examples]).values():
        if len(rows) < 2 or any(predictions[row].score is None for row in rows):
            continue
        best = max(rows, key=lambda row: predictions[row].score or 0.0)
        for row in rows:
            picked[row] = replace(predictions[row], label=row == best)
    return picked


def average_precision(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the mean precision at every sarcastic example, ranked by score; ties count as one step."""
    hits, calls = _steps(truth, scores)
    gained = np.diff(np.concatenate([[0.0], hits]))
    return float((gained * hits / calls).sum() / max(hits[-1], 1))


def best_f1(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the best F1 of any threshold: what a perfect choice would reach, never a result."""
    hits, calls = _steps(truth, scores)
    return float((2 * hits / (calls + truth.sum())).max())


def _steps(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the hits and the calls after every distinct score, from the highest."""
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    return np.cumsum(truth[order]).astype(np.float64)[ends], (ends + 1).astype(np.float64)


def ranking_scores(examples: Sequence[Example], predictions: Sequence[Prediction]) -> dict[str, float]:
    """Return average precision and the best F1 in hindsight; empty without scores or without both labels."""
    score_of = {p.example_id: p.score for p in predictions}
    rows = [(bool(e.label), score_of.get(e.id)) for e in examples if e.label is not None]
    scored = [(label, score) for label, score in rows if score is not None]
    truth = np.array([label for label, _ in scored], dtype=bool)
    scores = np.array([score for _, score in scored], dtype=np.float64)
    if not truth.any() or truth.all():
        return {}
    return {"average_precision": average_precision(truth, scores), "best_f1": best_f1(truth, scores)}


def rate_warnings(predictions: Sequence[Prediction], expected: float | None) -> tuple[str, ...]:
    """Return a warning of a constant answer, or of a share of sarcastic answers far from the expected one."""
    labels = [p.label for p in predictions if p.label is not None]
    if len(labels) < 2:
        return ()
    rate = sum(labels) / len(labels)
    if rate in (0.0, 1.0):
        word = "sarcastic" if rate else "sincere"
        return (f"a constant answer: all {len(labels):,} texts are called {word}.",)
    if expected and not expected / WILD <= rate <= min(expected * WILD, 1 - (1 - expected) / WILD):
        return (
            f"{rate:.0%} are called sarcastic where {expected:.0%} would be expected: the threshold does not "
            "fit these texts; choose another one (threshold f1), and if you know their share of sarcastic "
            "texts, give it too (prevalence).",
        )
    return ()
