"""SARC's official procedure on pol, five folds over the training pairs, against the paper's figures."""

from __future__ import annotations

import time
from pathlib import Path

from deadpan.datasets import read_dataset
from deadpan.detect.ngrams import BagOfBigrams, BagOfWords
from deadpan.records import Prediction
from deadpan.splits import folds
from deadpan.stats import score_predictions

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"
PAPER = {BagOfWords: 75.9, BagOfBigrams: 76.5}


def main() -> None:
    """Pair accuracy of both baselines, with intervals that resample whole posts."""
    if not (SHARED / "sarc_pol").is_dir():
        print("sarc: skipped, no ../shared/data/sarc_pol")
        return
    examples = read_dataset("sarc-pol", SHARED).examples
    for system, published in PAPER.items():
        began = time.perf_counter()
        predictions: list[Prediction] = []
        for fold in folds(examples, k=5, seed=0):
            predictions += system(seed=0).fit(fold.train).predict(fold.test)
        score = score_predictions(examples, predictions, seed=0).scores["pair_accuracy"]
        print(
            f"{system.__name__} on pol, 5 folds: {100 * score.value:.1f} "
            f"[{100 * score.low:.1f}, {100 * score.high:.1f}] against {published} in the paper, "
            f"n {score.n:,} pairs, {time.perf_counter() - began:.0f} s"
        )


if __name__ == "__main__":
    main()
