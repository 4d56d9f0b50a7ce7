"""Back-check: the generated items that a detector finds too easy, from the response alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from deadpan.generate.folder import GenerationFolder, as_examples
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats import Interval, wilson
from deadpan.storage import manifest_path, write_manifest, write_records
from deadpan.validation import encode

BACKCHECK_FOLDER, _ITEMS = "backcheck", "items.jsonl"
_CHUNK = 512
_CONFIDENT = 0.8


class PredictsLabels(Protocol):
    """A trained detector of any kind."""

    def predict(self, texts: Sequence[Example]) -> list[Prediction]: ...


@dataclass(frozen=True, slots=True)
class BackCheckedItem:
    """A detector's predictions for one item, with and without its context.

    `easy`: correct and confident without the context.
    """

    id: str
    label: bool
    alone: bool | None
    alone_score: float | None
    with_context: bool | None
    with_context_score: float | None
    easy: bool


@dataclass(frozen=True, slots=True)
class BackCheck(Result):
    """Shares of items, with 95 % confidence intervals."""

    folder: Path
    n: int
    easy: Interval
    right_alone: Interval
    right_with_context: Interval

    def summary(self) -> Summary:
        rows = (
            ("too easy: correct and confident without context", self.easy),
            ("correct without context", self.right_alone),
            ("correct with context", self.right_with_context),
        )
        return Summary((Table(("items", "share"), rows),), (f"item by item: {self.folder / _ITEMS}",))

    def as_dict(self) -> dict[str, object]:
        return {name: value for name, value in encode(self).items() if name != "folder"}


def back_check(
    plan: GenerationPlan | Path | str,
    detector: PredictsLabels,
    *,
    name: str,
    run: Path | str | None = None,
    confident: float = _CONFIDENT,
) -> BackCheck:
    """Predict everything the last step kept, write backcheck/, and return the share that is too easy.

    `name` names the detector in the manifest; it is confident from a score of `confident`.
    """
    plan = open_plan(plan, run)
    folder = GenerationFolder(plan.out)
    step = folder.last()
    examples = (e for draft in folder.drafts(step) for e in as_examples(draft, plan.language))
    out = folder.root / BACKCHECK_FOLDER
    out.mkdir(parents=True, exist_ok=True)
    manifest_path(out).unlink(missing_ok=True)
    counts = Counter(n=0, easy=0, alone=0, context=0)

    def counted() -> Iterator[BackCheckedItem]:
        for item in _checked(examples, detector, confident):
            counts["n"] += 1
            counts["easy"] += item.easy
            counts["alone"] += item.alone is item.label
            counts["context"] += item.with_context is item.label
            yield item

    write_records(out / _ITEMS, counted(), BackCheckedItem)
    write_manifest(
        out,
        command="generate backcheck",
        config={"detector": name, "sure": confident},
        inputs=[folder.kept(step)],
        counts=counts,
    )
    shares = [wilson(counts[key], counts["n"]) for key in ("easy", "alone", "context")]
    return BackCheck(out, counts["n"], *shares)


def _checked(examples: Iterable[Example], detector: PredictsLabels, confident: float) -> Iterator[BackCheckedItem]:
    source = iter(examples)
    while chunk := list(islice(source, _CHUNK)):
        alone = detector.predict([replace(example, context=()) for example in chunk])
        whole = detector.predict(chunk)
        for example, one, other in zip(chunk, alone, whole, strict=True):
            label = bool(example.label)
            # A score far from 0.5 is confident, and so is an answer without a score.
            sure = one.score is None or max(one.score, 1 - one.score) >= confident
            easy = one.label is label and sure
            yield BackCheckedItem(example.id, label, one.label, one.score, other.label, other.score, easy)
