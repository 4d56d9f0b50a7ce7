"""Classify kinds of sarcasm: irony, satire, overstatement, ..."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, divide, folder_name, source_name, write_study
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold
from deadpan.errors import DataError
from deadpan.page import Table
from deadpan.page.results import add_summary, output_page
from deadpan.page.summary import Summary
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.stats.interval import Interval, totals_interval, unique_clusters
from deadpan.storage import OutputPage

NONE = "(none)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoryStudy(Result):
    """Truth, answers and scores of every tested example (rows) for every kind (columns).

    `exclusive` means that an example has exactly one kind, "(none)" being one of them.
    """

    system: str
    source: str
    names: tuple[str, ...]
    truth: NDArray[np.bool_]
    answers: NDArray[np.bool_]
    scores: NDArray[np.float64]
    exclusive: bool
    design: Design
    seed: int = 0
    detectors: Mapping[str, Detector] = field(default_factory=dict)
    """A detector per kind, trained on all training examples, if they were asked for."""

    def __repr__(self) -> str:
        return f"<CategoryStudy of {self.source!r}: {len(self.names)} categories, n = {len(self.truth):,}>"

    def f1(self) -> dict[str, float]:
        """Return the F1 of each kind; where kinds are exclusive, of "(none)" too."""
        hits = (self.truth & self.answers).sum(axis=0)
        size = self.truth.sum(axis=0) + self.answers.sum(axis=0)
        values = np.divide(2 * hits, size, out=np.zeros(len(self.names)), where=size > 0)
        return {name: float(value) for name, value in zip(self.names, values, strict=True)}

    def constant_f1(self) -> dict[str, float]:
        """Return the F1 of giving every example each kind; where exclusive, the most frequent kind only."""
        share = self.truth.mean(axis=0)
        given = share == share.max() if self.exclusive else np.ones(len(share), dtype=bool)
        values = np.where(given, 2 * share / (1 + share), 0.0)
        return {name: float(value) for name, value in zip(self.names, values, strict=True)}

    def macro_f1(self) -> float:
        """Return the mean over kinds: the measure of both shared tasks."""
        return float(np.mean(list(self.f1().values())))

    def interval(self) -> Interval:
        """Return macro F1 with its interval, by resampling examples."""
        columns = np.hstack([self.truth & self.answers, self.truth, self.answers]).astype(np.float64)
        sums_of, often = unique_clusters(columns, np.arange(len(columns)))
        width = len(self.names)

        def macro(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            hits, size = sums[..., :width], sums[..., width : 2 * width] + sums[..., 2 * width :]
            values = np.divide(2 * hits, size, out=np.zeros_like(hits), where=size > 0)
            mean: NDArray[np.float64] = values.mean(axis=-1)
            return mean

        return totals_interval(sums_of, often, macro, n=len(columns), seed=self.seed, limits=(0.0, 1.0))

    def summary(self) -> Summary:
        """Return F1 per kind beside that of a constant answer, and macro F1."""
        sizes, constant = self.truth.sum(axis=0), self.constant_f1()
        rows = tuple(
            (name, value, constant[name], int(size))
            for (name, value), size in zip(self.f1().items(), sizes, strict=True)
        )
        how = "one category per example" if self.exclusive else "several categories per example"
        notes = (
            f"Macro F1 {self.interval()}; constant answer {float(np.mean(list(constant.values()))):.3f}.",
            f"{self.system} on {self.source}, {self.design.describe()}, {how}.",
            *self.design.notes(),
        )
        return Summary((Table(("category", "F1", "constant answer", "n"), rows),), notes)

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write categories.json, report.html, and each detector to a folder of its own under models/."""
        out, inputs = Path(out), list(inputs)
        for name, detector in self.detectors.items():
            category = {"data": self.source, "category": name}
            detector.save(
                out / "models" / folder_name(name), command="detect categories", about=category, inputs=inputs
            )
        finding, facts = self.summary().notes[0], (self.system, self.design.describe())
        about = OutputPage(f"Categories of sarcasm in {self.source}", finding, facts)
        page = output_page(about)
        add_summary(page, self)
        write_study(
            out, "categories", self, page, command="detect categories", config={"data": self.source},
            seed=self.seed, inputs=inputs, about=about,
        )  # fmt: skip

    def as_dict(self) -> dict[str, object]:
        """Return F1 per kind and macro F1 with its interval."""
        sizes = {name: int(n) for name, n in zip(self.names, self.truth.sum(axis=0), strict=True)}
        return {
            "system": self.system, "data": self.source, **self.design.as_dict(), "exclusive": self.exclusive,
            "f1": self.f1(), "constant_answer": self.constant_f1(), "n": sizes,
            "macro_f1": self.interval().as_dict(),
            "models": {name: f"models/{folder_name(name)}" for name in self.detectors},
        }  # fmt: skip


def classify_categories(
    examples: Sequence[Example],
    system: str = "linear",
    *,
    k: int = FOLDS,
    pool: bool = False,
    settings: Mapping[str, Any] | None = None,
    source: str = "",
    seed: int = 0,
    keep: bool = False,
    progress: Progress = silent,
) -> CategoryStudy:
    """Train one detector per kind ("this kind or not") and test it on other examples; see `divide`.

    Where no example has two kinds and some have none (SemEval-2018 B), kinds and "(none)" are exclusive and
    the highest score wins. Otherwise (iSarcasmEval B) each kind has its own threshold, chosen for F1 from
    out-of-fold scores of the training part. With `keep`, a detector per kind is then trained on all examples
    but those of a published test split: `write` saves them, and each is used like any other.
    """
    design = divide(examples, k=k, pool=pool)
    everything = [e for fold in design.folds for e in (*fold.train, *fold.test)]
    kinds = tuple(sorted({name for example in everything for name in example.categories}))
    if len(kinds) < 2:
        raise DataError("no kinds to tell apart: this task needs examples with categories")
    exclusive = all(len(e.categories) < 2 for e in everything) and any(not e.categories for e in everything)
    names = (NONE, *kinds) if exclusive else kinds
    truth = np.array([[_is(e, name) for name in names] for e in design.tested])
    rows = {example.id: row for row, example in enumerate(design.tested)}
    scores, answers = np.zeros(truth.shape), np.zeros(truth.shape, dtype=bool)
    threshold: Threshold = DEFAULT_THRESHOLD if exclusive else "f1"
    own = {"seed": seed, **(settings or {})}
    for number, fold in enumerate(design.folds):
        tested = [rows[example.id] for example in fold.test]
        for column, name in enumerate(names):
            progress(f"{name}: fold", number, len(design.folds))
            detector, share = _one_category(name, fold.train, system, threshold, own)
            values = np.nan_to_num(detector.predict_proba(fold.test)[:, 1]) if detector else share
            scores[tested, column] = values
            answers[tested, column] = values > (detector.threshold_ if detector else DEFAULT_THRESHOLD)
    if exclusive:
        answers = scores == scores.max(axis=1, keepdims=True)
    final: dict[str, Detector] = {}
    training = design.folds[0].train if design.published else design.tested
    for name in names if keep else ():
        progress("training detectors to keep", len(final), len(names))
        if detector := _one_category(name, training, system, threshold, own)[0]:
            detector.category = name
            final[name] = detector
    return CategoryStudy(
        system, source or source_name(examples), names, truth, answers, scores, exclusive, design, seed, final
    )


def _one_category(
    name: str, train: Sequence[Example], system: str, threshold: Threshold, settings: Mapping[str, Any]
) -> tuple[Detector | None, float]:
    """Return a detector of one kind and the share of its examples; None if none has the kind, or all."""
    asked = [replace(example, label=_is(example, name)) for example in train]
    share = sum(bool(example.label) for example in asked) / len(asked)
    if share in (0.0, 1.0):
        return None, share
    try:
        return Detector(system, threshold=threshold, **settings).fit(asked), share
    except DataError:  # too few of this kind to choose a threshold
        return Detector(system, threshold=share, **settings).fit(asked), share


def _is(example: Example, name: str) -> bool:
    return not example.categories if name == NONE else name in example.categories
