"""Second stop: the same words in two scenes, and which systems can tell the scenes apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.bench.items.item import CHANCE
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.folder import BenchRun, find_runs
from deadpan.bench.scores.score import minimal_pair_accuracy, system_kind
from deadpan.datasets import read_dataset
from deadpan.detect.detector import BASE, ENCODER, Detector, encoder_is_ready
from deadpan.formats.labels import label_word
from deadpan.page.table import Cell
from deadpan.records import Example, Item, Turn
from deadpan.tour.guide import Guide
from deadpan.tour.recorded import Recorded, read_recorded

PAIR = "en-dialup-1998"
"""A short pair of SarcBench: first sarcastic, then sincere."""
_LABELS = (True, False)


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
    recorded, items = read_recorded(), open_set("public").items
    pair = [item for item in items if item.pair_id == PAIR]
    guide.page.text(
        "The same words, twice. In one scene they are a rebuke, in the other thanks; only the scene decides. "
        "This is one of SarcBench's minimal pairs."
    )
    examples = [_example(item, label) for item, label in zip(pair, _LABELS, strict=True)]
    for item, example in zip(pair, examples, strict=True):
        guide.page.conversation(example, label=example.label, note=item.options[item.answer])
    guide.step("asking the detectors")
    rows = [_detector_row(*one, examples) for one in _detectors(guide)]
    whole = [run for run in find_runs([]) if run.complete and run.plan.whole_set]
    runs = [run for run in whole if system_kind(run.plan.model) == "model"]
    rows += [_run_row(run, pair) for run in runs]
    rows += _recorded_rows(recorded, pair, {run.plan.model for run in runs})
    guide.page.table(
        ("system", "does it tell the scenes apart?"), [row.row() for row in rows],
        caption="Detectors run now; answers of language models were recorded",
    )  # fmt: skip
    total = len({item.pair_id for item in items if item.pair_id})
    _all_pairs(guide, recorded, runs, total)
    solving = [row.system.partition(",")[0] for row in rows if row.apart]
    guide.found(_finding(pair[0].utterance, solving, recorded, total), "deadpan bench check")


def _finding(words: str, solving: Sequence[str], recorded: Recorded, total: int) -> str:
    others = [name for name in solving if name != recorded.reader]
    too = f" Here {' and '.join(others)} tells them apart too." if others else ""
    return (
        f"“{words}” is a rebuke in one scene and thanks in another. A detector that reads only the words "
        f"gives both the same score; {recorded.reader}, which reads the scene, solved "
        f"{recorded.solved(total)} of {total} such pairs.{too}"
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


def _example(item: Item, label: bool) -> Example:
    return Example(item.id, Turn(item.speaker, item.utterance), item.context, label, language=item.language)


def _detector_row(name: str, detector: Detector, examples: Sequence[Example]) -> Answered:
    first, second = detector.predict(list(examples))
    said = f"{label_word(first)}, {first.score:.2f}"
    if first.score == second.score:
        return Answered(name, f"{said} for both, since the words are the same", False)
    apart = [first.label, second.label] == [example.label for example in examples]
    return Answered(name, f"{said}, then {label_word(second)}, {second.score:.2f}", apart)


def _run_row(run: BenchRun, pair: Sequence[Item]) -> Answered:
    """Return the answers of a recorded run; the pair is solved if all of them are right."""
    hits = [[row.correct for row in run.rows if row.item == item.id] for item in pair]
    return _choices(run.plan.model, [sum(each) for each in hits], min(map(len, hits)))


def _recorded_rows(recorded: Recorded, pair: Sequence[Item], known: set[str]) -> list[Answered]:
    """Return the model that was asked about this pair only, and the reader of the whole set."""
    found = []
    if recorded.model not in known and all(item.id in recorded.answers for item in pair):
        answers = [recorded.answers[item.id] for item in pair]
        hits = [sum(one == item.answer for one in each) for each, item in zip(answers, pair, strict=True)]
        found.append(_choices(recorded.model, hits, min(map(len, answers))))
    if not {item.id for item in pair} & set(recorded.missed):
        found.append(Answered(f"{recorded.reader}, reads the scene", "chose the right meaning in each scene", True))
    return found


def _choices(model: str, hits: Sequence[int], asked: int) -> Answered:
    said = " and ".join(f"{n} of {asked}" for n in hits)
    name = f"{model.removeprefix('embedded/')}, reads the scene"
    return Answered(name, f"right in {said} tries", all(n == asked > 0 for n in hits))


def _all_pairs(guide: Guide, recorded: Recorded, runs: Sequence[BenchRun], total: int) -> None:
    """Show who solves how many of all pairs, and what a detector of words can reach."""
    rows: list[tuple[Cell, ...]] = [(recorded.reader, recorded.solved(total) / total)]
    rows += [(run.plan.model.removeprefix("embedded/"), minimal_pair_accuracy(run.rows, guide.seed)) for run in runs]
    guide.page.table(
        ("language model", "share of pairs"), [*rows, ("chance", CHANCE**2)],
        caption=f"Both questions answered correctly, of all {total} pairs of SarcBench",
    )  # fmt: skip
    guide.page.note(
        f"{recorded.reader} is a language model, not a person. It read the set with the keys hidden, "
        f"{recorded.conditions} ({recorded.where})."
    )
