"""Predictions of a system on examples it was not trained on, and what they cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, divide
from deadpan.detect.thresholds import DEFAULT_THRESHOLD, Threshold
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction


@dataclass(frozen=True, slots=True, repr=False)
class Trial:
    """Predictions of one system for every tested example, none by a model trained on it."""

    system: str
    predictions: list[Prediction]
    thresholds: tuple[float, ...]
    fit_seconds: float
    predict_seconds: float

    def __repr__(self) -> str:
        return f"<Trial of {self.system!r}, {len(self.predictions):,} predictions>"

    def cost(self) -> dict[str, float]:
        """Return the seconds of one training (mean over folds) and of 1,000 predictions."""
        n = max(len(self.predictions), 1)
        return {
            "fit_seconds": self.fit_seconds / max(len(self.thresholds), 1),
            "predict_seconds_per_1000": 1000 * self.predict_seconds / n,
        }


def run_trial(
    system: str,
    design: Design,
    *,
    seed: int = 0,
    threshold: Threshold = DEFAULT_THRESHOLD,
    prevalence: float | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
    clock: Callable[[], float] = time.perf_counter,
) -> Trial:
    """Train and test a system on every fold of a design.

    A threshold rule is applied inside each training part: the threshold comes from out-of-fold scores of
    that part, never from the test part.
    """
    by_id: dict[str, Prediction] = {}
    thresholds: list[float] = []
    fit_seconds = predict_seconds = 0.0
    for number, fold in enumerate(design.folds):
        progress(f"{system}: fold", number, len(design.folds))
        own = {"seed": seed, **(settings or {})}
        detector = Detector(system, threshold=threshold, prevalence=prevalence, **own)
        started = clock()
        detector.fit(fold.train, progress=progress)
        trained = clock()
        by_id |= {p.example_id: p for p in detector.predict(fold.test, progress)}
        fit_seconds += trained - started
        predict_seconds += clock() - trained
        thresholds.append(detector.threshold_)
    ordered = [by_id[example.id] for example in design.tested]
    return Trial(system, ordered, tuple(thresholds), fit_seconds, predict_seconds)


def cross_validate(
    system: str,
    examples: Sequence[Example],
    *,
    k: int = FOLDS,
    seed: int = 0,
    threshold: Threshold = DEFAULT_THRESHOLD,
    settings: Mapping[str, Any] | None = None,
    also: Sequence[Example] = (),
    progress: Progress = silent,
) -> Trial:
    """Cross-validate a system over all labelled examples; see `divide` for the guards."""
    design = divide(examples, k=k, pool=True, also=also)
    return run_trial(system, design, seed=seed, threshold=threshold, settings=settings, progress=progress)
