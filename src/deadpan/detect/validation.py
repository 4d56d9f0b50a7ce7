"""Systems tried on examples they did not learn from: folds, seeds, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.detect.detector import Detector, at_threshold
from deadpan.detect.system import Progress, labelled, silent
from deadpan.detect.thresholds import choose_threshold
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.splits import folds, split

HELD_BACK = 0.15


@dataclass(frozen=True, slots=True)
class Trial:
    """What a system said of every example, each time by a model that did not learn from its fold."""

    system: str
    predictions: list[Prediction]
    thresholds: tuple[float, ...]
    fit_seconds: float
    predict_seconds: float

    def cost(self) -> dict[str, float]:
        """Seconds to train once (mean over folds), and to predict a thousand."""
        n = max(len(self.predictions), 1)
        return {
            "fit_seconds": self.fit_seconds / max(len(self.thresholds), 1),
            "predict_seconds_per_1000": 1000 * self.predict_seconds / n,
        }


def cross_validate(
    system: str,
    examples: Sequence[Example],
    *,
    k: int = 5,
    seed: int = 0,
    rule: str | float = 0.5,
    settings: Mapping[str, Any] | None = None,
    also: Sequence[Example] = (),
    progress: Progress = silent,
    clock: Callable[[], float] = time.perf_counter,
) -> Trial:
    """k folds that cross no group. The folds depend on seed 0 alone, so that seeds differ in the model only.

    With a rule, each fold's threshold is chosen on a part of its training data by a model that did not
    see that part; the model that is tested then learns from all of the training data. `also` are more
    examples to learn from in every fold; that none of them is in the corpus is the caller's duty.
    """
    kept = [example for example in examples if example.label is not None]
    said: dict[str, Prediction] = {}
    thresholds: list[float] = []
    spent = {"fit": 0.0, "predict": 0.0}

    def fit(rows: Sequence[Example]) -> Detector:
        started = clock()
        detector = Detector(system, **{"seed": seed, **(settings or {})}).fit([*rows, *also], progress)
        spent["fit"] += clock() - started
        return detector

    for number, fold in enumerate(folds(kept, k, seed=0)):
        progress(f"{system}: fold", number, k)
        threshold = rule if isinstance(rule, float) else _held_back_threshold(fit, fold.train, rule)
        detector = fit(fold.train)
        started = clock()
        answers = at_threshold(detector.predict(fold.test, progress), threshold)
        spent["predict"] += clock() - started
        said |= {answer.example_id: answer for answer in answers}
        thresholds.append(threshold)
    ordered = [said[example.id] for example in kept]
    return Trial(system, ordered, tuple(thresholds), spent["fit"], spent["predict"])


def _held_back_threshold(
    fit: Callable[[Sequence[Example]], Detector], train: Sequence[Example], rule: str
) -> float:
    parts = split(train, {"train": 1 - HELD_BACK, "dev": HELD_BACK}, seed=1)
    try:
        return choose_threshold(parts["dev"], fit(parts["train"]).predict(parts["dev"]), rule)
    except DataError as bad:
        raise DataError(f"too few examples to hold some back for a threshold ({bad}): use 0.5") from None


def train_with_threshold(
    detector: Detector, examples: Sequence[Example], rule: str | float, progress: Progress
) -> Detector:
    """A detector trained on all examples, its threshold chosen on a part by a model that did not see it.

    Where the examples come with a dev split, that part is it, and stays out of training altogether.
    """
    if isinstance(rule, float):
        detector.threshold = rule
        return detector.fit(examples, progress)
    dev = [example for example in examples if example.split == "dev"]
    rest = [example for example in examples if example.split != "dev"]
    if dev and rest:
        detector.fit(rest, progress)
        detector.threshold = choose_threshold(dev, detector.predict(dev), rule)
        return detector

    def fit(rows: Sequence[Example]) -> Detector:
        return Detector(detector.system, **detector.settings).fit(rows, progress)

    kept, _ = labelled(examples)  # one label only is said as such, before anything is held back
    detector.threshold = _held_back_threshold(fit, kept, rule)
    return detector.fit(examples, progress)


def parse_settings(pairs: Sequence[str], systems: Sequence[str]) -> dict[str, dict[str, Any]]:
    """`key=value` for all systems, `system.key=value` for one; values are JSON where they can be."""
    import json

    found: dict[str, dict[str, Any]] = {system: {} for system in systems}
    for pair in pairs:
        key, mark, word = pair.partition("=")
        if not mark or not key:
            raise ConfigError(f"--set {pair}: write KEY=VALUE, such as --set strength=2")
        try:
            value = json.loads(word)
        except ValueError:
            value = word
        owner, dot, rest = key.partition(".")
        if dot and owner not in found:
            raise ConfigError(f"--set {pair}: {owner!r} is not among the systems {', '.join(systems)}")
        for system in [owner] if dot else list(systems):
            found[system][rest if dot else key] = value
    return found
