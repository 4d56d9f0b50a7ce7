"""Which generated items a detector finds too easy: right from the response alone, and sure of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from deadpan.generate.draft import as_examples
from deadpan.generate.folder import RunFolder
from deadpan.records import Example, Prediction
from deadpan.stats import Interval, wilson
from deadpan.storage import manifest_path, write_manifest, write_records

FOLDER = "backcheck"
CHUNK = 512
SURE = 0.8


class Predicts(Protocol):
    """A trained detector, whichever."""

    def predict(self, texts: Sequence[Example]) -> list[Prediction]: ...


@dataclass(frozen=True, slots=True)
class Checked:
    """What a detector said of one item, with and without its context. `easy`: right and sure without it."""

    id: str
    label: bool
    alone: bool | None
    alone_score: float | None
    with_context: bool | None
    with_context_score: float | None
    easy: bool


@dataclass(frozen=True, slots=True)
class BackCheck:
    """Shares of items with their intervals."""

    n: int
    easy: Interval
    right_alone: Interval
    right_with_context: Interval


def back_check(run: RunFolder, detector: Predicts, name: str, language: str, sure: float = SURE) -> BackCheck:
    """Ask the detector about everything the last step kept; write backcheck/ and say how much is easy."""
    step = run.last()
    examples = (e for draft in run.drafts(step) for e in as_examples(draft, language))
    out = run.root / FOLDER
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    counts = {"n": 0, "easy": 0, "alone": 0, "context": 0}

    def counted() -> Iterator[Checked]:
        for checked in _checked(examples, detector, sure):
            counts["n"] += 1
            counts["easy"] += checked.easy
            counts["alone"] += checked.alone is checked.label
            counts["context"] += checked.with_context is checked.label
            yield checked

    write_records(out / "items.jsonl", counted(), Checked)
    write_manifest(
        out,
        command="generate backcheck",
        config={"detector": name, "sure": sure},
        inputs=[run.kept(step)],
        counts=counts,
    )
    return BackCheck(counts["n"], *(wilson(counts[key], counts["n"]) for key in ("easy", "alone", "context")))


def _checked(examples: Iterable[Example], detector: Predicts, sure: float) -> Iterator[Checked]:
    source = iter(examples)
    while chunk := list(islice(source, CHUNK)):
        alone = detector.predict([replace(example, context=()) for example in chunk])
        whole = detector.predict(chunk)
        for example, one, other in zip(chunk, alone, whole, strict=True):
            label = bool(example.label)
            right = one.label is label
            yield Checked(
                example.id, label, one.label, one.score, other.label, other.score,
                easy=right and _is_sure(one, sure),
            )  # fmt: skip


def _is_sure(prediction: Prediction, sure: float) -> bool:
    """Scores run from 0 sincere to 1 sarcastic; a detector that gives none is taken at its word."""
    if prediction.score is None:
        return True
    return max(prediction.score, 1 - prediction.score) >= sure
