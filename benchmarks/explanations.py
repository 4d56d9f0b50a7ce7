"""Explanations: how far a score moves when the named phrase is deleted (AOPC), against three alternatives.

    python benchmarks/explanations.py [--texts 300] [--detector base]

The alternatives are a random phrase of the same length (the mean over all of them), the single word that moves the score
most (leave-one-out, which names a function word as readily as any), and as many such words as the phrase has, wherever
they stand. Moves are in log odds and in the direction of the answer; the texts are every n-th of the starter set, or of
the corpora that DEADPAN_DATA names.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.explanation import FUNCTION_WORDS, bare_word, explain, log_odds
from deadpan.records import Example, Turn

DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
CORPORA = ("sarc-pol", "isarcasm", "semeval2018-a", "starter-en")
LEAST_WORDS, MOST_WORDS = 6, 40


def moves(detector: Detector, example: Example) -> tuple[float, float, float, float, bool] | None:
    """Return the moves of the phrase, a random one, one word and as many words; None where no phrase is named."""
    found = explain(detector, example)
    if not found.phrases or found.score is None or found.label is None:
        return None
    sign = 1 if found.label else -1
    first = max(found.phrases, key=lambda phrase: sign * phrase.push)
    words = example.response.text.split()
    size = len(first.text.split())
    best = sorted(range(len(words)), key=lambda at: -sign * found.words[at].push)
    rests = [words[:at] + words[at + size :] for at in range(len(words) - size + 1)]
    rests.append([word for at, word in enumerate(words) if at not in best[:size]])
    variants = [Example("x", Turn("", " ".join(rest)), example.context) for rest in rests]
    full = log_odds(found.score)
    scores = [full if p.score is None else log_odds(p.score) for p in detector.predict_in("en", variants)]
    moved = [sign * (full - score) for score in scores]
    word = bare_word(words[best[0]]).casefold()
    return (sign * first.push, float(np.mean(moved[:-1])), sign * found.words[best[0]].push, moved[-1],
            word in FUNCTION_WORDS)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--detector", default="base")
    options = parser.parse_args()
    names = CORPORA if DATA.is_dir() else CORPORA[-1:]
    examples = [e for name in names for e in read_dataset(name, DATA).examples]
    examples = [e for e in examples if LEAST_WORDS <= len(e.response.text.split()) <= MOST_WORDS]
    examples = examples[:: max(1, len(examples) // options.texts)]
    detector = Detector.load(options.detector)
    rows = [row for example in examples if (row := moves(detector, example)) is not None]
    table = np.array([row[:4] for row in rows])
    print(f"{options.detector}: a phrase is named in {len(rows)} of {len(examples)} texts")
    for name, column in zip(("named phrase", "random phrase of its length", "one word", "as many words"), table.T,
                            strict=True):  # fmt: skip
        half = 1.96 * column.std() / np.sqrt(len(column))
        print(f"  {name:28} {column.mean():+.2f} [{column.mean() - half:+.2f}, {column.mean() + half:+.2f}]")
    print(f"ratio to a random phrase: {table[:, 0].mean() / table[:, 1].mean():.1f}, to one word: "
          f"{table[:, 0].mean() / table[:, 2].mean():.1f}")  # fmt: skip
    print(f"the one word is a function word in {np.mean([row[4] for row in rows]):.0%}, a phrase never is")


if __name__ == "__main__":
    main()
