"""The stops about detectors: your own sentence, a pair, SARC's Table 2, and a leak."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from deadpan.bench.items.item import CHANCE
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.scores.score import minimal_pair_accuracy
from deadpan.datasets import read_dataset
from deadpan.detect.chart import influence_chart
from deadpan.detect.detector import BASE, ENCODER, Detector, best_detector, encoder_is_ready
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import evaluate
from deadpan.draws import sample
from deadpan.errors import MissingExtra, ModelError, need
from deadpan.formats.labels import label_word
from deadpan.page import Table
from deadpan.page.numbers import score
from deadpan.page.table import Cell
from deadpan.records import Example, Turn
from deadpan.serve.catalogue import Batches, ServedModel
from deadpan.splits import split
from deadpan.stats import Interval
from deadpan.tour.guide import Guide

SENTENCE = "Oh great, another meeting that could have been an email."
_ABOUT = {
    True: "The detector `encoder` in the package reads English with weights that were pulled separately.",
    False: "A detector comes with the package.",
}
# Characters of a text that is repeated in a command.
_LONGEST = 200


def sentence_stop(guide: Guide) -> None:
    """Judge one sentence with the detector that `deadpan detect TEXT` uses, and say what the score depends on."""
    text = guide.text.strip() or SENTENCE
    name = best_detector(text)
    detector = Detector.load(name)
    guide.step("judging")
    explanation = detector.explain(text, model=name)
    first, *why = explanation.in_words()
    if explanation.score is None:
        raise ModelError(f"{first}: give deadpan tour a text in one of these")
    guide.page.text(f"{_ABOUT[name == ENCODER]} Leaving out phrases shows what its score depends on.")
    guide.page.conversation(explanation.example, explanation.label, note=first)
    for line in why:
        guide.page.note(line)
    if rows := tuple((piece.text, piece.push) for piece in explanation.words):
        title = "What each word pushes towards, in log odds"
        guide.page.figure(influence_chart(rows), title, Table(("word", "push, log odds"), rows))
    guide.page.heading("What it cannot know", 3)
    guide.page.bullets(ServedModel(name, detector, Batches(1)).limits())
    explanation.write_page(guide.out / "sentence.html")
    guide.artefact("Your sentence, word by word", guide.out / "sentence.html")
    shown = text if len(text) <= 60 else f"{text[:59]}…"
    guide.found(f"“{shown}”: {first.rstrip('.')}, judged by its words alone.", f"deadpan detect {_quoted(text)}")


def _quoted(text: str) -> str:
    """Return a text as a shell takes it for one word; a long one is left to the reader to fill in."""
    if len(text) > _LONGEST:
        return '"..."'
    return shlex.quote(text) if set(text) & set('"\\$`!') else f'"{text}"'


_WORDS = Turn("Dana", "You've really outdone yourself.")
# The scene in which the words are sarcastic, and the one in which they are meant.
_SCENES = (
    (True, "a rebuke", "I said I'd bring the cake. I left it on the bus."),
    (False, "thanks", "I made the cake from scratch. Three layers; I was up until two."),
)


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a system to the two scenes, and whether it tells them apart."""

    system: str
    said: str
    apart: bool

    def row(self) -> tuple[Cell, ...]:
        """Return the row of the table."""
        return self.system, f"{'yes' if self.apart else 'no'}: {self.said}"


def pair_stop(guide: Guide) -> None:
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


# Khodak et al. (2018), Table 2, politics, balanced: percent of pairs.
_PAPER = {"bow": 75.9, "bigrams": 76.5, "embedding": 76.0}
# docs/results.md, 2026-11-17: 5-fold cross-validation over the 6,834 training pairs of pol.
_RECORDED = {"bow": (74.7, 73.7, 75.7), "bigrams": (76.2, 75.2, 77.2), "embedding": (65.3, 64.2, 66.4)}
_PAIRS = 6_834
_NAMES = {"bow": "bag of words", "bigrams": "bag of bigrams", "embedding": "sentence embedding"}
_PEOPLE = 83.0
_FOLDS = 3


def table_two_stop(guide: Guide) -> None:
    """Show the published numbers, the recorded ones, and a live run on the starter pairs."""
    guide.page.text(
        "SARC asks which of two answers to one comment is sarcastic. The paper's systems count words or add "
        "up their vectors. Ours were measured on the same corpus with the same procedure. The corpus does "
        "not come with deadpan, so our numbers are recorded (docs/results.md). The second table is computed "
        "now, on pairs of the starter set, in which both answers share most of their words."
    )
    need("sklearn", "train")
    live, absent = _live(guide)
    ours = {
        system: Interval(value / 100, low / 100, high / 100, 0.95, _PAIRS, "")
        for system, (value, low, high) in _RECORDED.items()
    }
    recorded: list[tuple[Cell, ...]] = [(_NAMES[name], _PAPER[name] / 100, ours[name]) for name in _NAMES]
    guide.page.table(
        ("system", "paper", "ours"), [*recorded, ("people", _PEOPLE / 100, None)],
        caption="SARC politics, balanced, share of pairs: the paper's and ours (recorded)",
    )  # fmt: skip
    rows = [(name, live[system]) for system, name in _NAMES.items() if system in live]
    guide.page.table(("system", "share of pairs"), [*rows, ("chance", 0.5)], caption="Starter pairs: computed now")
    for note in absent:
        guide.page.note(note)
    guide.page.note(
        "Our embedding differs from the paper's because the vectors differ: ours have 256 numbers per word, "
        "theirs 1,600, trained on Amazon reviews."
    )
    now = live["bigrams"]
    share = score(now)
    guide.page.text(
        "Counting words gets three of four pairs right on Reddit, where some words are habitually "
        "sarcastic. Where both answers share most of their words, it gets "
        f"{share} of them right; chance is 0.5."
    )
    guide.found(
        f"Counting pairs of words finds the sarcastic answer in {score(ours['bigrams'])} of SARC's pairs "
        f"(paper: {_PAPER['bigrams'] / 100:.3f}); where both answers share most of their words, in {share}.",
        "deadpan reproduce sarc --data-dir corpora --quick",
    )


def _live(guide: Guide) -> tuple[dict[str, Interval], list[str]]:
    """Return the pair accuracy of each system that can run here, and what the others need."""
    examples = read_dataset("starter-en").examples
    found, absent = {}, []
    for system, name in _NAMES.items():
        guide.step(f"{name}, {_FOLDS} folds")
        try:
            table = compare_systems(examples, [system], k=_FOLDS, metric="pair_accuracy")
        except (MissingExtra, ModelError) as missing:
            absent.append(f"Left out, {name}: {missing}")
            continue
        found[system] = table.rows[0].scores["pair_accuracy"]
    return found, absent


COPIED = 60
"""Training pairs that are slipped into the test set."""
_METRIC = "pair_accuracy"


def leak_stop(guide: Guide) -> None:
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
