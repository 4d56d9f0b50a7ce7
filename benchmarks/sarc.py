"""SARC's official procedure on pol, five times five folds over the training pairs, against the paper."""

from __future__ import annotations

import os
import time
from pathlib import Path

from deadpan.datasets import read_dataset
from deadpan.detect.systems.baselines import BagOfBigrams, BagOfWords
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats import Interval, score_predictions

DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
SPLITS = 5
PAPER = {BagOfWords: 75.9, BagOfBigrams: 76.5}


def main() -> None:
    """Both baselines, one line each."""
    if not (DATA / "sarc_pol").is_dir():
        print("sarc: skipped, DEADPAN_DATA names no folder with sarc_pol")
        return
    examples = read_dataset("sarc-pol", DATA).examples
    for system, published in PAPER.items():
        began = time.perf_counter()
        scores = [pair_accuracy(system, examples, seed) for seed in range(SPLITS)]
        values = [100 * score.value for score in scores]
        first = scores[0]
        print(
            f"{system.__name__} on pol: {sum(values) / SPLITS:.1f} on average over {SPLITS} times 5 folds "
            f"({min(values):.1f} to {max(values):.1f}; the first {values[0]:.1f} "
            f"[{100 * first.low:.1f}, {100 * first.high:.1f}]), {published} in the paper; "
            f"n {first.n:,} pairs, {time.perf_counter() - began:.0f} s"
        )


def pair_accuracy(system: type, examples: list[Example], seed: int) -> Interval:
    """Out-of-fold, with an interval that resamples whole posts."""
    predictions: list[Prediction] = []
    for fold in folds(examples, k=5, seed=seed):
        predictions += system(seed=0).fit(fold.train).predict(fold.test)
    return score_predictions(examples, predictions, seed=0).scores["pair_accuracy"]


if __name__ == "__main__":
    main()
