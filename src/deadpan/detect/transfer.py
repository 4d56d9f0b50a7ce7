"""Train on one corpus, test on another: the matrix none of the papers has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.detect.detector import Detector
from deadpan.detect.system import Progress, silent
from deadpan.detect.validation import cross_validate
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.stats import Interval, score_predictions
from deadpan.stats.outcomes import score_named


@dataclass(frozen=True, slots=True)
class Transfer:
    """`cells[train][test]` is a score with its interval; on the diagonal, by cross-validation."""

    system: str
    score: str
    cells: Mapping[str, Mapping[str, Interval]]

    def as_dict(self) -> dict[str, object]:
        """For --json."""
        cells = {a: {b: cell.as_dict() for b, cell in row.items()} for a, row in self.cells.items()}
        return {"system": self.system, "score": self.score, "cells": cells}


def transfer(
    system: str,
    corpora: Mapping[str, Sequence[Example]],
    *,
    score: str = "balanced_accuracy",
    k: int = 5,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> Transfer:
    """Every corpus against every other, the same test examples in a column throughout."""
    if len(corpora) < 2:
        raise ConfigError("a transfer needs at least two corpora: one to train on, another to test on")
    score_named(score)
    kept = {name: [e for e in examples if e.label is not None] for name, examples in corpora.items()}
    cells: dict[str, dict[str, Interval]] = {}
    for place, (source, rows) in enumerate(kept.items()):
        progress("training corpora", place, len(kept))
        detector = Detector(system, **{"seed": seed, **(settings or {})}).fit(rows, progress)
        cells[source] = {}
        for target, tested in kept.items():
            said: list[Prediction]
            if source == target:
                said = cross_validate(
                    system, rows, k=k, seed=seed, settings=settings, progress=progress
                ).predictions
            else:
                said = detector.predict(tested)
            cells[source][target] = score_predictions(tested, said, seed=seed).scores[score]
    return Transfer(system, score, cells)
