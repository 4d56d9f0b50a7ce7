"""Train a detector on a corpus and save it, with every guard on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.detect.detector import Detector, check_model_folder, clear_model_folder
from deadpan.detect.studies.design import additional, published_splits, source_name
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold
from deadpan.page import Table
from deadpan.page.summary import Summary
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result

FEWEST = 20
"""Examples below which a detector is warned of."""


@dataclass(frozen=True, slots=True, repr=False)
class TrainedDetector(Result):
    """A detector, what it was trained on, and where it was saved."""

    detector: Detector
    source: str
    splits: str
    sarcastic: int
    sincere: int
    also: int
    also_duplicates: int
    also_test: int
    folder: Path | None = None
    size: int = 0
    drops: Mapping[str, int] | None = None
    unlabelled: int = 0

    def __repr__(self) -> str:
        return f"<TrainedDetector {self.detector!r} on {self.source!r}>"

    @property
    def examples(self) -> int:
        """Labelled examples the detector was trained on."""
        return self.sarcastic + self.sincere

    def summary(self) -> Summary:
        """Return what was trained on, and where the model is."""
        facts = [
            ("system", self.detector.system),
            ("trained on", f"{self.source}, {self.splits}"),
            ("examples", f"{self.examples:,}"),
            ("sarcastic", f"{self.sarcastic:,}"),
            ("sincere", f"{self.sincere:,}"),
            ("threshold", f"{self.detector.threshold_:.3g}"),
        ]
        if self.also or self.also_duplicates or self.also_test:
            facts.append((
                "additional",
                f"{self.also:,} examples (excluded: {self.also_duplicates:,} duplicates, "
                f"{self.also_test:,} of a test split)",
            ))  # fmt: skip
        if self.drops:
            dropped = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.drops.items()))
            facts.append(("rows dropped", dropped))
        if self.unlabelled:
            facts.append(("without a label", f"{self.unlabelled:,} rows, not trained on"))
        notes = [f"Warning: {warning}" for warning in self.warnings()]
        if self.folder is not None:
            facts.append(("written to", f"{self.folder} ({self.size / 1e6:.1f} MB)"))
            notes.append(f'Try it: deadpan detect --detector {self.folder} "Great, another Monday."')
        return Summary((Table(("fact", "value"), tuple(facts)),), tuple(notes))

    def warnings(self) -> list[str]:
        """Return what makes the detector unreliable: too few examples to learn from."""
        if self.examples >= FEWEST:
            return []
        return [f"{self.examples} examples are too few to learn from: give at least {FEWEST}, better thousands."]

    def as_dict(self) -> dict[str, object]:
        """Return settings, counts and the folder."""
        return {
            "system": self.detector.system, "settings": self.detector.settings,
            "threshold": self.detector.threshold_, "data": self.source, "splits": self.splits,
            "out": str(self.folder or ""), "bytes": self.size, "examples": self.examples,
            "sarcastic": self.sarcastic, "sincere": self.sincere, "n_also": self.also,
            "duplicates_removed": self.also_duplicates, "also_test_excluded": self.also_test,
            "drops": dict(self.drops or {}), "unlabelled": self.unlabelled, "warnings": self.warnings(),
        }  # fmt: skip


def train_detector(
    examples: Sequence[Example],
    system: str = "linear",
    *,
    out: Path | str | None = None,
    overwrite: bool = False,
    settings: Mapping[str, Any] | None = None,
    threshold: Threshold = DEFAULT_THRESHOLD,
    prevalence: float | None = None,
    also: Sequence[Example] = (),
    pool: bool = False,
    source: str = "",
    drops: Mapping[str, int] | None = None,
    inputs: Iterable[Path] = (),
    progress: Progress = silent,
) -> TrainedDetector:
    """Train a system, and save it to `out` if given.

    Where the examples come with train and test splits, the test split is not trained on, unless `pool`.
    `also` is additional training data without its test split and without duplicates of `examples`. The
    folder must be new or empty, or hold a detector, which `overwrite` replaces.
    """
    detector = Detector(system, threshold=threshold, prevalence=prevalence, **(settings or {}))
    folder = None if out is None else Path(out)
    if folder is not None:
        check_model_folder(folder, overwrite=overwrite)
    published = None if pool else published_splits(examples)
    more, duplicates, from_test = additional(also, examples)
    chosen = [*(examples if published is None else published[0]), *more]
    detector.fit(chosen, progress=progress)
    sarcastic = sum(example.label is True for example in chosen)
    sincere = sum(example.label is False for example in chosen)
    source = source or source_name(examples)
    splits = "all examples" if published is None else "train split (and dev)"
    size = 0
    if folder is not None:
        clear_model_folder(folder)
        about = {"data": source, "split": splits, "examples": sarcastic + sincere, "sarcastic": sarcastic,
                 "sincere": sincere, "also": len(more)}  # fmt: skip
        detector.save(folder, command="detect train", about=about, inputs=inputs)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return TrainedDetector(
        detector, source, splits, sarcastic, sincere, len(more), duplicates, from_test, folder, size, drops,
        len(chosen) - sarcastic - sincere,
    )  # fmt: skip
