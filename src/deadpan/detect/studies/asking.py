"""A language model asked about generated and about organic sarcasm: is it worse at one of them?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deadpan.detect.settings import make
from deadpan.page.numbers import score
from deadpan.page.table import Cell, Table
from deadpan.probes import clusters_of
from deadpan.progress import Progress, silent
from deadpan.records import Example, Predictor
from deadpan.stats.explained import Explained, explained_share
from deadpan.stats.interval import FloatArray, Interval
from deadpan.stats.ranking import auc_interval

PROMPTED = {"probabilities": True}
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class ModelAnswers:
    """The AUC of a language model on each corpus, and how much of it the probe of origins explains.

    Nothing is trained. `fall` is its mean AUC on generated less that on organic corpora; `unread` counts
    the answers that could not be read, which are left out.
    """

    model: str
    aucs: Mapping[str, Interval]
    explained: Mapping[str, Explained]
    fall: Interval
    unread: int

    def as_dict(self) -> dict[str, object]:
        """Return every number, for `--json`."""
        return {
            "model": self.model, "unread": self.unread, "fall": self.fall.as_dict(),
            "auc": {name: auc.as_dict() for name, auc in self.aucs.items()},
            "explained": {name: one.share.as_dict() for name, one in self.explained.items()},
        }  # fmt: skip

    @property
    def verdict(self) -> str:
        """One sentence: does the model fall on organic speech?"""
        low, high = self.fall.low, self.fall.high
        shown = f"mean AUC {score(self.fall)} higher on generated text than on organic speech"
        if low is None or high is None or low <= 0 <= high:
            return f"{self.model}: no significant difference between the two kinds of text ({shown})."
        return f"{self.model} is {'better' if low > 0 else 'worse'} on generated text ({shown})."

    def table(self, generated: Sequence[str]) -> Table:
        """Return a row per corpus."""
        rows: list[tuple[Cell, ...]] = [
            (name, "generated" if name in generated else "organic", auc, self.explained[name].share)
            for name, auc in self.aucs.items()
        ]
        return Table(("corpus", "kind", "AUC", "explained"), tuple(rows), f"{self.model}, asked")


def ask_model(
    model: str | Predictor,
    corpora: Mapping[str, Sequence[Example]],
    generated: Sequence[str],
    origin: Mapping[str, float],
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> ModelAnswers:
    """Ask a model about every example, without training; `origin` is the score of the probe by example id.

    `model` is an embedded model or one behind an endpoint, as for the system `prompted`, or any Predictor.
    """
    asker = make("prompted", {**PROMPTED, "model": model}) if isinstance(model, str) else model
    aucs: dict[str, Interval] = {}
    explained: dict[str, Explained] = {}
    unread = 0
    for done, (name, rows) in enumerate(corpora.items()):
        progress("asking the model", done, len(corpora))
        answers = {p.example_id: p.score for p in asker.predict(rows)}
        known = [example for example in rows if answers.get(example.id) is not None]
        unread += len(rows) - len(known)
        truth = np.array([bool(example.label) for example in known], dtype=np.bool_)
        scores: FloatArray = np.array([answers[example.id] for example in known], dtype=np.float64)
        probe: FloatArray = np.array([origin[example.id] for example in known], dtype=np.float64)
        clusters = clusters_of(known)
        aucs[name] = auc_interval(truth, scores, clusters, seed=seed)
        explained[name] = explained_share(truth, scores, probe, clusters, seed=seed)
    name = model if isinstance(model, str) else type(model).__name__
    return ModelAnswers(name, aucs, explained, _fall(aucs, generated), unread)


def _fall(aucs: Mapping[str, Interval], generated: Sequence[str]) -> Interval:
    """Return the mean over generated less that over organic corpora; corpora are independent samples."""
    means, variances, n = [], [], 0
    for kind in (True, False):
        mine = [auc for name, auc in aucs.items() if (name in generated) is kind and auc.value is not None]
        if not mine:
            return Interval(None, None, None, 0.95, n, "no corpus of one of the two kinds")
        n += sum(auc.n for auc in mine)
        means.append(sum(auc.value or 0.0 for auc in mine) / len(mine))
        half = [((auc.high or 1.0) - (auc.low or 0.0)) / 2 for auc in mine]
        variances.append(sum((each / Z) ** 2 for each in half) / len(mine) ** 2)
    value, width = means[0] - means[1], Z * math.sqrt(sum(variances))
    return Interval(value, value - width, value + width, 0.95, n)
