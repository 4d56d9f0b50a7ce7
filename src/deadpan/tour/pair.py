"""Second stop: the same words in two scenes, and which systems can tell the scenes apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.bench.items.item import CHANCE
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.scores.score import minimal_pair_accuracy
from deadpan.datasets import read_dataset
from deadpan.detect.detector import BASE, ENCODER, Detector, encoder_is_ready
from deadpan.formats.labels import label_word
from deadpan.page.table import Cell
from deadpan.records import Example, Turn
from deadpan.tour.guide import Guide

_WORDS = Turn("Dana", "You've really outdone yourself.")
_SCENES = (
    (True, "a rebuke", "I said I'd bring the cake. I left it on the bus."),
    (False, "thanks", "I made the cake from scratch. Three layers; I was up until two."),
)
"""The scene in which the words are sarcastic, and the one in which they are meant."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a system to the two scenes, and whether it tells them apart."""

    system: str
    said: str
    apart: bool

    def row(self) -> tuple[Cell, ...]:
        """Return the row of the table."""
        return self.system, f"{'yes' if self.apart else 'no'}: {self.said}"


def stop(guide: Guide) -> None:
    """Show the pair, then every system's answer to both halves."""
    guide.page.text(
        "The same words, twice. In one scene they are a rebuke, in the other thanks; only the scene decides. "
        "SarcBench asks language models about such minimal pairs."
    )
    examples = [
        Example(f"pair-{n}", _WORDS, (Turn("Sam", before),), label, language="en")
        for n, (label, _, before) in enumerate(_SCENES)
    ]
    for example, (_, meaning, _) in zip(examples, _SCENES, strict=True):
        guide.page.conversation(example, label=example.label, note=meaning)
    guide.step("asking the detectors")
    rows = [_detector_row(*one, examples) for one in _detectors(guide)]
    guide.page.table(("detector", "does it tell the scenes apart?"), [row.row() for row in rows])
    _recorded_runs(guide)
    solving = [row.system.partition(",")[0] for row in rows if row.apart]
    told = f" {' and '.join(solving)} reads the scene and tells them apart." if solving else ""
    guide.found(
        f"“{_WORDS.text}” is a rebuke in one scene and thanks in another. A detector that reads only the words "
        f"gives both the same score.{told}",
        "deadpan bench run --llm embedded/smollm2-135m --limit 20",
    )


def _detectors(guide: Guide) -> list[tuple[str, Detector]]:
    """Return a detector of words, one that is trained to read the scene, and those in the package."""
    guide.step("training a detector of words, and one that reads the scene")
    examples = read_dataset("starter-en").examples
    names = (BASE, ENCODER) if encoder_is_ready() else (BASE,)
    return [
        ("bigrams, words only", Detector("bigrams", turns=0).fit(examples)),
        ("bigrams, words of the scene too", Detector("bigrams", turns=None).fit(examples)),
        *(_shipped(name) for name in names),
    ]


def _shipped(name: str) -> tuple[str, Detector]:
    detector = Detector.load(name)
    reads = "words only" if detector.predictor.context.turns == 0 else "words of the scene too"
    return f"{name}, {reads}", detector


def _detector_row(name: str, detector: Detector, examples: Sequence[Example]) -> Answered:
    first, second = detector.predict(list(examples))
    said = f"{label_word(first)}, {first.score:.2f}"
    if first.score == second.score:
        return Answered(name, f"{said} for both, since the words are the same", False)
    apart = [first.label, second.label] == [example.label for example in examples]
    return Answered(name, f"{said}, then {label_word(second)}, {second.score:.2f}", apart)


def _recorded_runs(guide: Guide) -> None:
    """Show how many pairs of SarcBench the systems solve whose runs come with the package."""
    runs = [run for run in find_runs([]) if run.complete and run.plan.whole_set]
    rows: list[tuple[Cell, ...]] = [
        (run.plan.model.removeprefix("embedded/"), minimal_pair_accuracy(run.rows, guide.seed)) for run in runs
    ]
    guide.page.table(
        ("system", "share of pairs"), [*rows, ("chance", CHANCE**2)],
        caption="SarcBench, recorded runs: both questions of a pair answered correctly",
    )  # fmt: skip
