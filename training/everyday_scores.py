"""Score a detector on the everyday test files: `python training/everyday_scores.py MODEL [MODEL ...]`.

everyday_pairs_first.tsv was written before the training lines of 2026-11-17, everyday_pairs_second.tsv before those
of 2026-11-18, and everyday_pairs_third.tsv apart from the plain answers to questions that were written last; the
authors of the last two had seen no line. They are no guide for training choices: score them once, when everything is
fixed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from deadpan.detect.detector import Detector
from deadpan.records import Example, Prediction, Turn

TESTS = Path(__file__).parents[1] / "tests" / "detect"
WRITTEN_APART = ("everyday_pairs_first", "everyday_pairs_second", "everyday_pairs_third")
Side = tuple[str, str]


def table(name: str) -> list[list[str]]:
    """Return the rows of a test file."""
    return [line.split("\t") for line in (TESTS / name).read_text(encoding="utf-8").splitlines()]


def written_apart(name: str, language: str, kind: str) -> Iterator[tuple[Side | None, Side | None]]:
    """Yield the sarcastic and the sincere side (what was said before, text) of the rows of one kind."""
    for own, bad, sarcastic, good, sincere in table(f"{name}.tsv")[1:]:
        sides = (bad, sarcastic) if sarcastic else None, (good, sincere) if sincere else None
        if own == language and kind == _kind(*sides):
            yield sides


def _kind(sarcastic: Side | None, sincere: Side | None) -> str:
    if sarcastic is None or sincere is None:
        return "alone"
    if not sarcastic[0]:
        return "no context"
    return "same context" if sarcastic[0] == sincere[0] else "other context"


def earlier() -> list[tuple[Side, Side]]:
    """Return the 60 pairs that were there before."""
    return [((before, a), (before, b)) for before, a, b in table("everyday_pairs.tsv")[1:]]


def plain(language: str) -> list[tuple[None, Side]]:
    """Return the plain sentences, all sincere."""
    return [(None, ("", text)) for own, text in table("everyday.tsv") if own == language]


def report(detector: Detector, rows: Sequence[tuple[Side | None, Side | None]]) -> str:
    """Return how many pairs are ranked right, and how the answers of both sides divide."""
    said: dict[tuple[int, int], Prediction] = {}
    examples = {
        (n, side): Example(f"{n}-{side}", Turn("", one[1]), tuple(Turn("", t) for t in (one[0],) if t))
        for n, row in enumerate(rows) for side, one in enumerate(row) if one
    }  # fmt: skip
    for key, prediction in zip(examples, detector.predict(list(examples.values())), strict=True):
        said[key] = prediction
    pairs = [n for n in range(len(rows)) if (n, 0) in said and (n, 1) in said]
    right = sum((said[n, 0].score or 0) > (said[n, 1].score or 0) for n in pairs)
    cells = [f"pairs ranked {right} of {len(pairs)}"] if pairs else []
    for side, name in enumerate(("sarcastic", "sincere")):
        labels = [p.label for (_, own), p in said.items() if own == side]
        if labels:
            counts = "/".join(str(sum(label is one for label in labels)) for one in (True, None, False))
            cells.append(f"{name} {counts} of {len(labels)}")
    return "; ".join(cells)


def main() -> None:
    write = sys.stdout.write
    write("answers are counted as: sarcastic / cannot tell / not sarcastic\n")
    for model in sys.argv[1:]:
        detector = Detector.load(model)
        write(f"{model}\n")
        for language in detector.bands.languages if detector.bands else ("en",):
            for name, kind in product(WRITTEN_APART, ("same context", "other context", "no context", "alone")):
                if rows := list(written_apart(name, language, kind)):
                    write(f"  {name} {language}, {kind}: {report(detector, rows)}\n")
            write(f"  plain {language}: {report(detector, plain(language))}\n")
        write(f"  60 earlier pairs: {report(detector, earlier())}\n")


if __name__ == "__main__":
    main()
