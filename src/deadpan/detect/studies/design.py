"""Division of examples into training and test parts: their own splits, or folds; copies are kept apart."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deadpan.arguments import check_examples, check_flag
from deadpan.detect.detector import Detector
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold
from deadpan.drops import Tally
from deadpan.duplicates import copy_clusters, copy_key, without_duplicates
from deadpan.errors import DataError
from deadpan.formats.predictions import write_predictions
from deadpan.formats.rows import csv_rows
from deadpan.formats.tables import write_table
from deadpan.page import Page
from deadpan.probes import column_warnings
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction, Turn
from deadpan.results import Result
from deadpan.splits import Fold, folds
from deadpan.stats.interval import cluster_codes
from deadpan.storage import OutputPage, prepare_output, write_json, write_manifest

FOLDS = 5
MOST_LOST = 0.5
"""Share of a training part that may be copies of tested texts; beyond it, copies stay in one fold."""
_CLEAN = "remove the copies with deadpan datasets clean, or give other texts"
_UNFIT = re.compile(r"[^\w.+-]+")
"""Characters that do not belong in a file name: a system may be called blend:linear+frozen:mpnet-base."""


@dataclass(frozen=True, slots=True, repr=False)
class Design:
    """The folds of a study: every example of `tested` is in the test part of exactly one of them.

    Where the examples come with splits, or in two files, there is one fold, theirs. `duplicates` counts the
    training rows that were excluded because their text, or a near copy, is in the test part; `also` and the
    counts beside it describe the additional training data. `copies` counts the rows that repeat a text, where
    they are so many that all copies of a text were kept in one fold.
    """

    folds: tuple[Fold, ...]
    tested: list[Example]
    published: bool
    duplicates: int
    also: int = 0
    also_duplicates: int = 0
    also_test: int = 0
    copies: int = 0
    unlabelled: int = 0

    def __repr__(self) -> str:
        return f"<Design {self.describe()}, {len(self.tested):,} tested>"

    def describe(self) -> str:
        """Return how the examples were divided, in a few words."""
        return "test split" if self.published else f"{len(self.folds)} folds"

    def notes(self) -> list[str]:
        """Return what was done to the data, one sentence each."""
        lines = []
        if self.published:
            lines.append("Trained on the training part (and dev, if any), tested on the test part.")
        if self.unlabelled:
            lines.append(f"{self.unlabelled:,} rows have no label: neither trained on nor tested.")
        lines += [f"Warning: {warning}" for warning in column_warnings(self.tested)]
        if self.copies:
            lines.append(
                f"Warning: {self.copies:,} of {len(self.tested):,} rows are copies of others, kept in one "
                "fold with them: remove them with deadpan datasets clean."
            )
        if self.duplicates:
            lines.append(f"Excluded from training because their text, or a near copy, is tested: {self.duplicates:,}.")
        if self.also or self.also_duplicates or self.also_test:
            lines.append(
                f"Additional training data: {self.also:,} examples; excluded from it: "
                f"{self.also_duplicates:,} duplicates, {self.also_test:,} of a test split."
            )
        return lines

    def as_dict(self) -> dict[str, object]:
        """Return the facts for --json."""
        return {
            "design": self.describe(), "folds": len(self.folds), "n_tested": len(self.tested),
            "training_duplicates_excluded": self.duplicates, "n_also": self.also,
            "duplicates_removed": self.also_duplicates, "also_test_excluded": self.also_test,
            "copies": self.copies, "unlabelled": self.unlabelled,
        }  # fmt: skip


def published_splits(examples: Sequence[Example]) -> tuple[list[Example], list[Example]] | None:
    """Return the train (with dev) and test parts of a corpus that comes with both, otherwise None."""
    train = [example for example in examples if example.split in ("train", "dev")]
    test = [example for example in examples if example.split == "test"]
    return (train, test) if any(e.split == "train" for e in train) and test else None


def divide(examples: Sequence[Example], *, k: int = FOLDS, pool: bool = False, also: Sequence[Example] = ()) -> Design:
    """Divide labelled examples into training and test parts.

    Published train and test splits are used as they are, unless `pool` asks for folds over all examples.
    Folds cross no group and no sequence, and depend on the ids alone. A training row whose text, or a near copy
    of it, is also in the test part is excluded; if that would exclude most of a training part, folds cross no
    copies of a text either. `also` is additional training data: its test split is not read, and copies of each other
    and copies or near-copies of the corpus are excluded from it.
    """
    rows = check_examples(examples)
    kept = [example for example in rows if example.label is not None]
    if not kept:
        raise DataError("no example has a label: a study needs labelled examples")
    parts = None if check_flag(pool, "pool") else published_splits(kept)
    planned = folds(kept, k, seed=0) if parts is None else [Fold(*parts)]
    codes = copy_clusters(example.response.text for example in kept).tolist()
    cluster_of = {example.id: code for example, code in zip(kept, codes, strict=True)}
    clean, copies = [_clean(fold, cluster_of) for fold in planned], 0
    if parts is None and any(map(_mostly_lost, planned, clean)):
        planned, copies = _folds_of_texts(kept, k, codes), len(codes) - len(set(codes))
        clean = [_clean(fold, cluster_of) for fold in planned]
    more, duplicates, from_test = additional(also, kept)
    excluded = sum(len(before.train) - len(after.train) for before, after in zip(planned, clean, strict=True))
    for before, after in zip(planned, clean, strict=True):
        if before.train and not after.train and not more:
            raise DataError(
                f"nothing to train on: each of the {len(before.train):,} training texts is also tested: {_CLEAN}"
            )
    final = tuple(Fold([*fold.train, *more], fold.test) for fold in clean)
    tested = kept if parts is None else parts[1]
    return Design(
        final, tested, parts is not None, excluded, len(more), duplicates, from_test, copies, len(rows) - len(kept)
    )


def _clean(fold: Fold, cluster_of: Mapping[str, int]) -> Fold:
    tested = {cluster_of[example.id] for example in fold.test}
    return Fold([example for example in fold.train if cluster_of[example.id] not in tested], fold.test)


def _mostly_lost(before: Fold, after: Fold) -> bool:
    return len(after.train) < (1 - MOST_LOST) * len(before.train)


def _folds_of_texts(examples: Sequence[Example], k: int, codes: Sequence[int]) -> list[Fold]:
    """Return folds that cross no group, no sequence and no copies of a text."""
    own = {example.id: example for example in examples}
    clusters = cluster_codes([e.group for e in examples], [e.sequence for e in examples], list(map(str, codes)))
    if (distinct := len(set(clusters.tolist()))) < k:
        raise DataError(
            f"{k} folds need at least {k} different texts, but there are {distinct} (copies of a text, and "
            f"texts of one group or sequence, stay together): {_CLEAN}"
        )
    joined = [replace(e, group=f"{code}") for e, code in zip(examples, clusters.tolist(), strict=True)]
    return [
        Fold(*([replace(own[e.id], split=e.split) for e in part] for part in (fold.train, fold.test)))
        for fold in folds(joined, k, seed=0)
    ]


def additional(also: Sequence[Example], examples: Sequence[Example]) -> tuple[list[Example], int, int]:
    """Return additional training data without duplicates of `examples` and without its own test split.

    Of copies in the additional data, which may name a corpus twice, one is kept. The two numbers count the
    duplicates and the test rows that were excluded.
    """
    candidates = [example for example in also if example.label is not None]
    readable = [example for example in candidates if example.split != "test"]
    kept = without_duplicates(_once(readable), examples).examples
    return _renamed(kept, examples), len(readable) - len(kept), len(candidates) - len(readable)


def _once(examples: Iterable[Example]) -> list[Example]:
    """Return examples without copies: the first of those with the same text, context and label."""
    first: dict[tuple[str, bool | None], Example] = {}
    for example in examples:
        first.setdefault((copy_key(example) or example.id, example.label), example)
    return list(first.values())


def _renamed(more: Iterable[Example], examples: Iterable[Example]) -> list[Example]:
    """Return examples with ids of their own: two files may both number their rows from 0."""
    taken = {example.id for example in examples}
    renamed = []
    for example in more:
        name, number = example.id, 1
        while name in taken:
            number += 1
            name = f"{example.id}~{number}"
        taken.add(name)
        renamed.append(example if name == example.id else replace(example, id=name))
    return renamed


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


def folder_name(name: str) -> str:
    """Return a name as a file or folder may be called."""
    return _UNFIT.sub("-", name).strip("-") or "unnamed"


def source_name(examples: Sequence[Example]) -> str:
    """Return the name of the corpora the examples come from."""
    names = sorted({example.source for example in examples if example.source})
    return ", ".join(names) or "the examples"


def write_study(
    folder: Path,
    name: str,
    result: Result,
    page: Page,
    *,
    command: str,
    predictions: Mapping[str, Sequence[Prediction]] | None = None,
    tested: Sequence[Example] = (),
    config: Mapping[str, Any],
    seed: int | None = None,
    inputs: Iterable[Path] = (),
    counts: Mapping[str, int] | None = None,
    about: OutputPage,
) -> None:
    """Write NAME.json, what was tested, the predictions of each system, report.html and manifest.json."""
    before = prepare_output(folder)
    if tested:
        write_tested(folder / TESTED, tested)
    for system, rows in (predictions or {}).items():
        write_predictions(folder / f"{folder_name(system)}.jsonl", rows)
    write_json(folder / f"{name}.json", result.as_dict())
    page.write(folder / "report.html")
    write_manifest(
        folder, command=command, config=config, seed=seed, inputs=inputs, counts=counts, before=before,
        about=about,
    )  # fmt: skip


TESTED = "tested.csv"


def write_tested(path: Path, examples: Sequence[Example]) -> None:
    """Write what was tested without its texts: enough to pair results, and to see that they are of the same texts.

    `copy` is a number that copies and near copies of a text share; groups and sequences are hashed names.
    """
    labelled = [example for example in examples if example.label is not None]
    copies = copy_clusters(example.response.text for example in labelled).tolist()
    rows = [
        {"id": e.id, "label": int(bool(e.label)), "group": _hashed(e.group), "sequence": _hashed(e.sequence),
         "copy": copy, "sha256": _hashed(e.response.text, 64)}
        for e, copy in zip(labelled, copies, strict=True)
    ]  # fmt: skip
    write_table(path, list(rows[0]), rows)


def _hashed(text: str, digits: int = 16) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:digits] if text else ""


def read_tested(path: Path) -> tuple[list[Example], int]:
    """Return what was tested, each with the hash of its text as its text, and how many rows are copies of others."""
    hint = "it is written by deadpan detect compare and evaluate with --out"
    keys = {name: (name,) for name in ("id", "label", "group", "sequence", "copy", "sha256")}
    tally = Tally()
    rows = [row.fields for row in csv_rows(path, keys, tally, hint)]
    if tally.drops["bad_row"] or any(row["label"] not in ("0", "1") for row in rows):
        raise DataError(f"{path}: changed since it was written, or cut short: {hint}")
    examples = [
        Example(r["id"], Turn("", r["sha256"]), label=r["label"] == "1", group=r["group"], sequence=r["sequence"])
        for r in rows
    ]
    return examples, len(rows) - len({row["copy"] for row in rows})
