"""Simulate paired_difference, the test of every command that compares: false positives, power, coverage.

Two systems answer the same items right or wrong: a latent normal variable with a part that both share (the
difficulty of the item), a part of the cluster per system, and noise. `different` is the share of simulations
in which the systems are called different, `missed` the share in which the interval leaves out the true
difference. Without a true difference both should be near 0.05. The last rows compare macro F1, which is no mean.

    python benchmarks/paired_tests.py [--repeats 4000]     # 25 seconds
    python benchmarks/paired_tests.py --families 500       # several systems that are equally good, every pair tested
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np

from deadpan.stats import SCORES, PairedDifference, paired_difference
from deadpan.stats.paired import Comparisons, mean_over_clusters

SHARED = 0.6
"""The part of an item's difficulty that both systems have: their answers correlate by about 0.4."""


def growing(clusters: int) -> list[int]:
    """Return sizes from 1 to 64: a few clusters hold most items."""
    return [int(2.0**size) for size in np.linspace(0, 6, clusters)]


DESIGNS: tuple[tuple[str, Sequence[int], float, float, float, str], ...] = (
    ("100 items", [1] * 100, 0.7, 0.0, 0.0, "mean"),
    ("400 items", [1] * 400, 0.7, 0.0, 0.0, "mean"),
    ("100 items", [1] * 100, 0.95, 0.0, 0.0, "mean"),
    ("400 items", [1] * 400, 0.95, 0.0, 0.0, "mean"),
    ("100 items", [1] * 100, 0.7, 0.0, 0.05, "mean"),
    ("100 items", [1] * 100, 0.7, 0.0, 0.1, "mean"),
    ("400 items", [1] * 400, 0.7, 0.0, 0.05, "mean"),
    ("400 items", [1] * 400, 0.7, 0.0, 0.1, "mean"),
    ("10 clusters of 20", [20] * 10, 0.7, 0.3, 0.0, "mean"),
    ("10 clusters of 20", [20] * 10, 0.7, 0.8, 0.0, "mean"),
    ("12 clusters of 10", [10] * 12, 0.7, 0.8, 0.0, "mean"),
    ("20 clusters of 5", [5] * 20, 0.7, 0.8, 0.0, "mean"),
    ("6 clusters of 20", [20] * 6, 0.7, 0.8, 0.0, "mean"),
    ("8 clusters of 20", [20] * 8, 0.7, 0.8, 0.0, "mean"),
    ("10 clusters of 1 to 64", growing(10), 0.7, 0.8, 0.0, "mean"),
    ("20 clusters of 1 to 64", growing(20), 0.7, 0.8, 0.0, "mean"),
    ("100 items", [1] * 100, 0.7, 0.0, 0.0, "macro_f1"),
    ("400 items", [1] * 400, 0.7, 0.0, 0.0, "macro_f1"),
    ("400 items", [1] * 400, 0.7, 0.0, 0.05, "macro_f1"),
    ("10 clusters of 20", [20] * 10, 0.7, 0.8, 0.0, "macro_f1"),
)
"""Name, items per cluster, accuracy, part of the cluster in what a system adds, true difference, score."""


def answers(rng: np.random.Generator, codes: np.ndarray, accuracy: float, part: float, d: float) -> list[np.ndarray]:
    """Return which items each of two systems gets right."""
    n, k = len(codes), int(codes.max()) + 1
    item = math.sqrt(SHARED) * rng.normal(size=n)
    own = [math.sqrt(part) * rng.normal(size=k)[codes] + math.sqrt(1 - part) * rng.normal(size=n) for _ in "ab"]
    limits = [NormalDist().inv_cdf(accuracy + sign * d / 2) for sign in (1, -1)]
    return [item + math.sqrt(1 - SHARED) * each < limit for each, limit in zip(own, limits, strict=True)]


def compared(right: Sequence[np.ndarray], truth: np.ndarray, codes: np.ndarray, score: str) -> PairedDifference:
    if score == "mean":
        return paired_difference(right[0].astype(float), right[1].astype(float), codes)
    cells = np.eye(6)
    first, second = (cells[truth * 3 + np.where(each, truth, 1 - truth)] for each in right)
    return paired_difference(first, second, codes, of=SCORES[score].of)


def families(repeats: int) -> None:
    """Print how often any pair of equally good systems is called different, with Holm's method as printed."""
    print(f"{repeats:,} repetitions a row\n\n| design | systems | any pair called different |\n|---|---:|---:|")
    designs = (("100 items", [1] * 100, 0.0), ("400 items", [1] * 400, 0.0), ("10 clusters of 20", [20] * 10, 0.8),
               ("12 clusters of 10", [10] * 12, 0.8), ("20 clusters of 5", [5] * 20, 0.8))  # fmt: skip
    for name, sizes, part in designs:
        codes = np.repeat(np.arange(len(sizes)), sizes)
        for k in (2, 5, 12, 30):
            rng = np.random.default_rng(k)
            wrong = sum(_family(rng, codes, part, k) for _ in range(repeats))
            print(f"| {name} | {k} | {wrong / repeats:.3f} |", flush=True)


def _family(rng: np.random.Generator, codes: np.ndarray, part: float, k: int) -> bool:
    item = math.sqrt(SHARED) * rng.normal(size=len(codes))
    limit = NormalDist().inv_cdf(0.7)
    right = []
    for _ in range(k):
        shared = math.sqrt(part) * rng.normal(size=int(codes.max()) + 1)[codes]
        own = shared + math.sqrt(1 - part) * rng.normal(size=len(codes))
        right.append((item + math.sqrt(1 - SHARED) * own < limit).astype(float))
    pairs = Comparisons.adjusted(paired_difference(a, b, codes) for a, b in combinations(right, 2))
    return any(pair.significant for pair in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=4_000)
    parser.add_argument("--families", type=int, default=0)
    given = parser.parse_args()
    if given.families:
        return families(given.families)
    repeats = given.repeats
    noise = math.sqrt(0.05 * 0.95 / repeats)
    print(f"{repeats:,} repetitions a row: the standard error of a rate of 0.05 is {noise:.4f}\n")
    print("| design | score | accuracy | cluster part | true difference | different | missed | mean missed |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for row, (name, sizes, accuracy, part, d, score) in enumerate(DESIGNS):
        rng = np.random.default_rng(row)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        truth = (np.arange(len(codes)) % 2).astype(int)
        different = missed = mean_missed = 0
        for _ in range(repeats):
            right = answers(rng, codes, accuracy, part, d)
            found = compared(right, truth, codes, score)
            different += found.significant
            low, high = found.difference.low, found.difference.high
            missed += low is None or high is None or not low <= d <= high
            mean = mean_over_clusters(right[0].astype(float), codes)
            mean_missed += mean.low is None or not mean.low <= accuracy + d / 2 <= (mean.high or 0.0)
        rates = " | ".join(f"{count / repeats:.3f}" for count in (different, missed, mean_missed))
        print(f"| {name} | {score} | {accuracy} | {part} | {d} | {rates} |", flush=True)
    return None


if __name__ == "__main__":
    main()
