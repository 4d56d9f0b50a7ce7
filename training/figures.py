"""Draw calibration and risk of the shipped detectors: `python training/figures.py --data-dir DIR`.

The texts are English posts of the held-out eighth, without the quarter of it that calibration comes from, as many
sarcastic as sincere ones of each corpus. The figures are for docs/detector-card.md, and
so is what is printed: scores by kind of text, and how much of them the length of a text explains.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from corpora import parts, read_corpora
from deadpan.detect.detector import SHIPPED, Detector
from deadpan.draws import sample
from deadpan.figures.figure import Figure
from deadpan.figures.plots import lines, reliability
from deadpan.records import Example
from deadpan.stats.calibration import reliability as bins_of
from deadpan.storage import write_text
from encoder import measured
from held_out import Scored, by_length, calibrated, is_dev, is_post, unknown_origin

NAMES = ("base", "encoder-fast", "encoder")
KEYS = ("auc", "decided", "balanced_accuracy")
COVERAGES = np.arange(0.1, 1.001, 0.1)


def even(examples: Sequence[Example]) -> list[Example]:
    """Return as many sarcastic as sincere posts of each corpus: scores are for texts of which half are sarcastic."""
    kept: list[Example] = []
    for source in dict.fromkeys(example.source for example in examples):
        mine = [example for example in examples if example.source == source]
        sides = [[e for e in mine if bool(e.label) is label] for label in (True, False)]
        for side in sides:
            kept += sample(side, min(map(len, sides)), seed=0, key=lambda e: e.id)
    return kept


def risk_by_coverage(scored: Scored) -> list[tuple[float, float]]:
    """Return the share of wrong answers among the surest texts, for growing shares of all texts."""
    order = np.argsort(-np.abs(scored.scores - 0.5), kind="stable")
    wrong = ((scored.scores >= 0.5) != scored.labels)[order]
    counts = [max(round(share * len(wrong)), 1) for share in COVERAGES]
    return [(100 * float(s), 100 * float(wrong[:n].mean())) for s, n in zip(COVERAGES, counts, strict=True)]


def write(path: Path, figure: Figure) -> None:
    """Write a figure on a white ground: readers may have dark pages."""
    write_text(path, figure.svg(titled=True).replace('style="', 'style="background: #fff; ', 1))


def by_kind(card: Mapping[str, Any]) -> str:
    """Return the scores of the card by kind of text as a Markdown table: means over the corpora of a kind."""
    kinds = {(row["texts"], row["language"]) for row in card["base"]["held_out"]}
    table = []
    for texts, language in kinds:
        cells = []
        for name in NAMES:
            rows = [row for row in card[name]["held_out"] if (row["texts"], row["language"]) == (texts, language)]
            n = sum(row["n"] for row in rows)
            mean = {key: sum(row[key] * row["n"] for row in rows) / n for key in KEYS} if n else {}
            cells.append(f"{mean['auc']:.2f}, {mean['balanced_accuracy']:.0%} of {mean['decided']:.0%}" if n else "")
        table.append(f"| {texts} ({language}) | {' | '.join(cells)} |")
    return "\n".join(sorted(table, key=lambda line: line.split("|")[2], reverse=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "assets")
    options = parser.parse_args()
    _, held_out = parts(read_corpora(options.data_dir))
    tested = [e for e in measured(held_out) if is_post(e) and not is_dev(e)]
    drawn_from = {e.id for e in even(tested)}
    chosen = [e.id in drawn_from for e in tested]
    risks = {}
    for name in NAMES:
        detector = Detector.load(name)
        assert detector.bands is not None
        raw = [prediction.score for prediction in detector.predictor.predict(unknown_origin(tested))]
        every = calibrated(Scored(tested, np.array(raw)), detector.bands)
        scored = every.where(chosen)
        risks[name] = risk_by_coverage(scored)
        title = f"Calibration, {name}: {sum(chosen):,} held-out English posts"
        drawn = reliability(title, bins_of(scored.labels.tolist(), scored.scores.tolist()))
        write(options.out / f"calibration-{name}.svg", drawn)
        print(name, "wrong by coverage", [(round(share), round(wrong)) for share, wrong in risks[name]])
        print(name, "and length, iSarcasmEval", by_length(every, "isarcasm_eval-en"))
    title = f"Risk against coverage: {sum(chosen):,} held-out English posts"
    drawn = lines(title, risks, x_unit="surest posts that are answered, %", y_unit="wrong answers, %")
    write(options.out / "risk-coverage.svg", drawn)
    print(by_kind(json.loads((SHIPPED["base"].parent / "card.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
