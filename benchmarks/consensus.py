"""Compare majority vote, Dawid-Skene and MACE on simulated votes whose truth is known.

A share of the annotators answers by habit, the others are right in 70 to 95 % of the items; 30 % of the items
are sarcastic. One row per design: the mean share of labels that are right, and MACE less Dawid-Skene.

    python benchmarks/consensus.py [--repeats 20]
"""

from __future__ import annotations

import argparse

import numpy as np

from deadpan.ratings import Ratings, dawid_skene, mace, majority, ratings_from_matrix

DESIGNS = ((10, 5, 0.0), (10, 5, 0.3), (30, 5, 0.3), (60, 3, 0.3), (60, 3, 0.0), (60, 3, 0.5))
"""Annotators, answers per item, share of annotators who answer by habit."""

ITEMS = 400


def votes(raters: int, each: int, by_habit: float, seed: int) -> tuple[np.ndarray, Ratings]:
    rng = np.random.default_rng(seed)
    truth = rng.random(ITEMS) < 0.3
    habitual, habit = rng.random(raters) < by_habit, rng.random(raters)
    skill = rng.uniform(0.7, 0.95, raters)
    matrix: list[list[str | None]] = [[None] * raters for _ in range(ITEMS)]
    for item in range(ITEMS):
        for rater in rng.choice(raters, each, replace=False):
            by_skill = bool(truth[item]) == (rng.random() < skill[rater])
            says = rng.random() < habit[rater] if habitual[rater] else by_skill
            matrix[item][rater] = "yes" if says else "no"
    return truth, ratings_from_matrix(matrix)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    print("| annotators | answers | by habit | majority | Dawid-Skene | MACE | MACE less Dawid-Skene |")
    print("|---:|---:|---:|---:|---:|---:|---|")
    for raters, each, by_habit in DESIGNS:
        shares = []
        for seed in range(repeats):
            truth, given = votes(raters, each, by_habit, seed)
            row = []
            for labels in (majority(given), dawid_skene(given).labels, mace(given).labels):
                yes = [label.distribution.get("yes", 0.0) > 0.5 for label in labels]
                row.append(float(np.mean(np.array(yes) == truth)))
            shares.append(row)
        found = 100 * np.array(shares)
        gain = found[:, 2] - found[:, 1]
        half = 1.96 * gain.std(ddof=1) / repeats**0.5
        means = " | ".join(f"{mean:.1f}" for mean in found.mean(axis=0))
        print(f"| {raters} | {each} | {100 * by_habit:.0f} % | {means} | {gain.mean():+.1f} "
              f"[{gain.mean() - half:+.1f}, {gain.mean() + half:+.1f}] |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
