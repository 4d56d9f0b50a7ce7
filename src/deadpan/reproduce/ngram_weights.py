"""SARC's Table 3: the weights of n-grams, with an interval over models trained on parts of the corpus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from deadpan.detect.detector import Detector
from deadpan.detect.systems.baselines import NGrams
from deadpan.errors import DataError
from deadpan.reproduce.jobs import Job
from deadpan.reproduce.published import read_paper
from deadpan.reproduce.verdicts import Measured
from deadpan.reproduce.workshop import Workshop
from deadpan.splits import folds
from deadpan.stats import Interval
from deadpan.stats.interval import LEVEL

PARTS = 5
QUICK_PARTS = 3
STUDENT = {QUICK_PARTS: 4.303, PARTS: 2.776}
"""The 97.5 % quantile of Student's t with one degree of freedom less than there are models."""
TOP = 10


def weight_job(exhibit: str, source: str, least: int) -> Job:
    """Return the job of a table of weights: bag of bigrams, n-grams that occur `least` times."""
    cells = [cell for cell in read_paper("sarc").cells() if cell.exhibit == exhibit]
    grams = [cell.row for cell in cells]

    def work(workshop: Workshop) -> dict[str, Measured]:
        found = workshop.once(
            f"weights {source}", {"least": least, "grams": grams},
            lambda: _weights(workshop, source, least, grams), sources=(source,),
        )  # fmt: skip
        n, k = found["pairs"], len(found["models"])
        how = f"{k} models, each without one part of {n:,} training pairs; jackknife interval"
        return {
            cell.id: _measured(cell.row, [model.get(cell.row) for model in found["models"]], how, found)
            for cell in cells
        }

    return Job(f"{exhibit} weights", tuple(cell.id for cell in cells), work)


def _weights(workshop: Workshop, source: str, least: int, grams: Sequence[str]) -> dict[str, Any]:
    rows = [e for e in workshop.corpus(source).examples if e.label is not None and e.split != "test"]
    models: list[dict[str, float]] = []
    top: tuple[list[str], list[str]] = ([], [])
    for fold in folds(rows, QUICK_PARTS if workshop.options.quick else PARTS):
        system = Detector("bigrams", min_count=least).fit(fold.train).predictor
        if not isinstance(system, NGrams):
            raise DataError("bigrams is replaced by a plug-in that has no weights: remove it")
        known = {gram: float(system.weights_[at]) for gram, at in system.vocabulary_.items() if gram in grams}
        models.append(known)
        high, low = system.telling(TOP)
        top = top if top[0] else ([gram for gram, _ in high], [gram for gram, _ in low])
    return {"models": models, "pairs": len(rows) // 2, "top": list(top)}


def _measured(gram: str, values: Sequence[float | None], how: str, found: Mapping[str, Any]) -> Measured:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return Measured(text="too rare to have a weight", how=how, agrees=False,
                        reason="occurs fewer than 5 times in the pairs that are here")  # fmt: skip
    k = len(known)
    mean = math.fsum(known) / k
    error = math.sqrt((k - 1) / k * math.fsum((value - mean) ** 2 for value in known))
    half = STUDENT[k] * error
    listed = gram in found["top"][mean < 0]
    place = "among our ten strongest too" if listed else "not among our ten strongest"
    reason = f"{place}; our training part is a part of the published one, and C was chosen on it"
    return Measured(Interval(mean, mean - half, mean + half, LEVEL, k), how=f"{how}; {place}", reason=reason)
