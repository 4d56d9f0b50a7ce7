"""A stop of the tour: the shipped detector on a few lines, why it says so, and systems in one table."""

from __future__ import annotations

from deadpan.cli.detect.reasons import draw
from deadpan.cli.tour import Guide
from deadpan.datasets import read_dataset
from deadpan.detect.comparison import compare
from deadpan.detect.detector import Detector
from deadpan.detect.explanation import explain
from deadpan.page import Table
from deadpan.records import Example, Turn

LINES = (
    "Great, another Monday.",
    "Lovely, the bus drove right past me.",
    "Thank you, that was kind of you.",
    "The meeting is at noon in room four.",
    "와, 또 야근이네. 진짜 행복하다.",
)
SYSTEMS = ("linear", "bigrams", "cues", "majority")
FOLDS = 3


def stop(guide: Guide) -> None:
    """Judge, explain, compare."""
    guide.page.heading("Detectors")
    detector = Detector.load("default")
    guide.step("judging a few lines")
    examples = [Example(str(number), Turn("", line)) for number, line in enumerate(LINES)]
    said = detector.predict(examples)
    guide.page.text(
        "A detector comes with the package. Its scores are statistical guesses, and it sees no context."
    )
    guide.page.table(
        ("text", "called", "score"),
        [
            (line, "sarcastic" if answer.label else "sincere", answer.score)
            for line, answer in zip(LINES, said, strict=True)
        ],
    )
    guide.step("asking why")
    found = explain(detector.predict, examples[1])
    rows = tuple((word.text, word.push) for word in found.words)
    guide.page.figure(
        draw(list(found.words)), f"What pushed “{LINES[1]}”, in log odds", Table(("word", "push"), rows)
    )
    guide.step(f"comparing {len(SYSTEMS)} systems, {FOLDS} folds")
    table = compare({name: {} for name in SYSTEMS}, read_dataset("starter-en").examples, k=FOLDS)
    guide.page.heading("Systems on the same folds", 3)
    guide.page.table(
        ("system", *table.shown, "train, s", "compared with the best"),
        [
            (row.system, *(row.scores[name] for name in table.shown), row.cost["fit_seconds"], row.verdict)
            for row in table.rows
        ],
    )
    best = table.rows[0]
    guide.result(
        f"best of {len(SYSTEMS)} detectors on the English pairs: {best.system}",
        best.scores[table.by],
        best.scores[table.by].n,
    )
