"""Fourth stop: copies of training texts in a test set, and the score with and without them."""

from __future__ import annotations

from dataclasses import replace

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.studies.evaluation import evaluate
from deadpan.draws import sample
from deadpan.records import Example, Turn
from deadpan.splits import split
from deadpan.tour.guide import Guide

COPIED = 60
"""Training pairs that are slipped into the test set."""
_METRIC = "pair_accuracy"


def stop(guide: Guide) -> None:
    """Score a detector carelessly, then as the library does by default."""
    parts = split(read_dataset("starter-en").examples, {"train": 0.7, "test": 0.3}, seed=guide.seed)
    train, test = parts["train"], parts["test"]
    mixed = [*test, *_copies(train, guide.seed)]
    guide.page.text(
        f"Published corpora contain copies: reposts, quotes, the same joke twice. Here {COPIED} pairs of "
        "the training set were added to the test set on purpose, in capitals or with different punctuation, "
        "like reposts. The detector is scored twice: as a careless script would do it, and as deadpan does."
    )
    guide.step("training")
    detector = Detector("bigrams").fit(train)
    guide.step("scoring twice")
    careless = evaluate(detector, mixed, keep_seen=True, pool=True, source="the mixed test set")
    guarded = evaluate(detector, mixed, pool=True, source="the mixed test set")
    scores = {
        "careless: copies counted": careless.table.scores[_METRIC],
        "deadpan: copies excluded": guarded.table.scores[_METRIC],
    }
    high, low = (score.value or 0.0 for score in scores.values())
    guide.page.table(
        ("scored", "share of pairs"), [*scores.items(), ("chance", 0.5)],
        caption=f"The copies alone lift the score from {low:.2f} to {high:.2f}",
    )  # fmt: skip
    torn = f" {guarded.torn} more were left out because their pairs were incomplete." if guarded.torn else ""
    guide.page.text(
        f"{guarded.seen} texts were recognised as seen in training and left out.{torn} This needs no option: "
        "evaluate, compare and transfer do it by default, and report how many texts they left out."
    )
    guarded.write(guide.out / "leak")
    guide.artefact("The guarded evaluation", guide.out / "leak" / "report.html")
    guide.found(
        f"{guarded.seen} copied texts would have lifted a score from {low:.2f} to {high:.2f}; they were "
        "found and left out.",
        "deadpan datasets leaks mine.csv starter-en",
    )


def _copies(train: list[Example], seed: int) -> list[Example]:
    """Return training pairs as reposts: other ids, other case, other punctuation."""
    chosen = {e.sequence for e in sample(train, COPIED, seed=seed, key=lambda e: e.sequence if e.label else "~")}
    copies = []
    for example in train:
        if example.sequence in chosen:
            text = example.response.text
            said = text.upper() if len(text) % 2 else f"{text.rstrip('.!')} !!"
            copies.append(
                replace(example, id=f"copy-{example.id}", sequence=f"copy-{example.sequence}",
                        group=f"copy-{example.group}", response=Turn(example.response.speaker, said))
            )  # fmt: skip
    return copies
