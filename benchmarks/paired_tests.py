"""Simulate deadpan compare: false positives where there is no difference, and power beside theory.

Two systems with the accuracies 0.70 + d / 2 and 0.70 - d / 2 and a correlation of 0.5 answer n items;
`compare_paired` is what the command calls. Clustered rows: items in clusters of four that share a common
shift. The unpaired z test that other comparators run on the same data is beside it.

Besides the simulation, the size of McNemar's mid-p test is summed over all outcomes, which has no noise.

    python benchmarks/paired_tests.py [--repeats 20000] [--items 100,400,2000]
    python benchmarks/paired_tests.py --hard     # accuracies of 0.95 and strong clusters, no difference
"""

from __future__ import annotations

import argparse
import math
from statistics import NormalDist

import numpy as np

from deadpan.stats import Interval
from deadpan.stats.paired import (
    clustered_share,
    mcnemar_mid_p,
    paired_interval,
    paired_test,
    standard_error,
)
from deadpan.stats.power import power_to_detect

BASE, CORRELATION = 0.70, 0.5
ALPHA = 0.05
FLIPS = 2_000
"""Sign flips and resamples of the clustered rows; the command uses 10,000."""


def discordance(d: float) -> tuple[float, float, float, float]:
    """Return the probabilities of (both right, only first, only second, neither)."""
    a, b = BASE + d / 2, BASE - d / 2
    both = a * b + CORRELATION * math.sqrt(a * (1 - a) * b * (1 - b))
    return both, a - both, b - both, 1 - a - b + both


def unpaired_p(first: int, second: int, n: int) -> float:
    a, b = first / n, second / n
    error = math.sqrt(a * (1 - a) / (n - 1) + b * (1 - b) / (n - 1))
    return 2 * NormalDist().cdf(-abs(a - b) / error)


def binary(n: int, d: float, repeats: int, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    shares = discordance(d)
    counts = rng.multinomial(n, shares, size=repeats)
    both = np.sort(counts[:, 1:3], axis=1)  # a swapped outcome has the same verdict
    outcomes, how_often = np.unique(both, axis=0, return_counts=True)
    clusters = np.arange(n)
    tested = excluded = 0
    drawn = zip(outcomes.tolist(), how_often.tolist(), strict=True)
    for number, ((only_first, only_second), times) in enumerate(drawn):
        tested += times * (mcnemar_mid_p(only_first, only_second) < ALPHA)
        differences = np.repeat([1.0, -1.0, 0.0], [only_first, only_second, n - only_first - only_second])
        interval = paired_interval(differences, clusters, seed=number)
        excluded += times * (interval.low > 0 or interval.high < 0)
    unpaired = np.mean([unpaired_p(c[0] + c[1], c[0] + c[2], n) < ALPHA for c in counts])
    error = math.sqrt((shares[1] + shares[2] - d * d) / n)
    return {
        "test": tested / repeats, "interval": excluded / repeats,
        "theory": power_to_detect(d, error) if d else ALPHA, "unpaired": float(unpaired),
    }  # fmt: skip


def clustered(n: int, d: float, repeats: int, seed: int, size: int = 4) -> dict[str, float]:
    """Scores from 0 to 1 whose differences share a shift within a cluster (intraclass correlation 0.3)."""
    rng = np.random.default_rng(seed)
    k = n // size
    codes = np.repeat(np.arange(k), size)
    alone = np.arange(n)
    icc, spread = 0.3, 0.4
    right = wrong = excluded = 0
    for number in range(repeats):
        shift = rng.normal(0, spread * math.sqrt(icc), k)
        differences = d + shift[codes] + rng.normal(0, spread * math.sqrt(1 - icc), n)
        right += paired_test(differences, codes, flips=FLIPS, seed=number).p < ALPHA
        interval = paired_interval(differences, codes, resamples=FLIPS, seed=number)
        excluded += interval.low > 0 or interval.high < 0
        wrong += abs(differences.mean()) > 1.96 * standard_error(differences, alone)
    error = spread * math.sqrt((1 + (size - 1) * icc) / n)
    return {"test": right / repeats, "interval": excluded / repeats, "theory": power_to_detect(d, error) if d else ALPHA,
            "without clusters": wrong / repeats}  # fmt: skip


HARD = (
    (100, 0.95, 1, 0.0, 4_000), (400, 0.95, 1, 0.0, 2_000), (2_000, 0.95, 1, 0.0, 800),
    (100, 0.70, 5, 0.8, 2_000), (100, 0.70, 10, 0.8, 2_000), (100, 0.70, 20, 0.8, 2_000),
    (400, 0.70, 20, 0.8, 1_000), (2_000, 0.70, 20, 0.8, 500),
    (100, 0.95, 5, 0.8, 2_000), (400, 0.95, 10, 0.8, 1_000), (2_000, 0.95, 20, 0.8, 500),
)  # fmt: skip
"""Items, accuracy, items per cluster, share of the cluster in what a system adds to an item, repetitions."""


def hard(n: int, accuracy: float, size: int, icc: float, repeats: int, seed: int) -> dict[str, float]:
    """Two systems of equal accuracy: how often the test and the interval see a difference, and how often
    the intervals of one accuracy leave the true one out."""
    rng = np.random.default_rng(seed)
    k = n // size
    codes = np.repeat(np.arange(k), size)
    shared = 0.6 if size == 1 else 0.5  # the part of an item's difficulty that both systems have
    limit = NormalDist().inv_cdf(accuracy)
    seen = dict.fromkeys(("test", "interval", "bootstrap", "wilson"), 0)

    def missed(found: Interval) -> bool:
        return found.low is None or not found.low <= accuracy <= found.high

    for number in range(repeats):
        item = math.sqrt(shared) * rng.normal(size=n)
        first, second = (
            item + math.sqrt(1 - shared) * (
                math.sqrt(icc) * rng.normal(size=k)[codes] + math.sqrt(1 - icc) * rng.normal(size=n)
            ) < limit
            for _ in range(2)
        )  # fmt: skip
        scores = first.astype(float)
        differences = scores - second
        interval = paired_interval(differences, codes, resamples=FLIPS, seed=number, limits=(-1, 1))
        seen["test"] += paired_test(differences, codes, flips=FLIPS, seed=number).p < ALPHA
        seen["interval"] += interval.low > 0 or interval.high < 0
        seen["bootstrap"] += missed(
            paired_interval(scores, codes, resamples=FLIPS, seed=number, limits=(0, 1))
        )
        seen["wilson"] += missed(clustered_share(scores, codes))
    return {name: count / repeats for name, count in seen.items()}


def main_hard() -> None:
    print("| n | clusters | accuracy | test | interval | accuracy missed, bootstrap | Wilson over clusters |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for n, accuracy, size, icc, repeats in HARD:
        got = hard(n, accuracy, size, icc, repeats, seed=n + size)
        clusters = "none" if size == 1 else f"{n // size} of {size}"
        rates = " | ".join(f"{rate:.3f}" for rate in got.values())
        print(f"| {n:,} | {clusters} | {accuracy:.2f} | {rates} |", flush=True)


def exact_size(n: int) -> float:
    """Return the false-positive rate of McNemar's mid-p test, summed over all outcomes."""
    from scipy.stats import binom

    shares = discordance(0.0)
    size = 0.0
    for discordant in range(1, n + 1):
        weight = float(binom.pmf(discordant, n, shares[1] + shares[2]))
        if weight < 1e-9:
            continue
        few = next(b for b in range(discordant) if mcnemar_mid_p(b, discordant - b) >= ALPHA)
        size += weight * min(1.0, 2 * float(binom.cdf(few - 1, discordant, 0.5)))
    return size


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20_000)
    parser.add_argument("--items", default="100,400,2000", help="numbers of items, with commas")
    parser.add_argument("--hard", action="store_true", help="high accuracies and strong clusters only")
    given = parser.parse_args()
    if given.hard:
        main_hard()
        return
    repeats, sizes = given.repeats, [int(n) for n in given.items.split(",")]
    print("| n | difference | test | interval | theory | unpaired z test |\n|---:|---:|---:|---:|---:|---:|")
    for n in sizes:
        for d in (0.0, 0.02, 0.05, 0.10):
            got = binary(n, d, repeats, seed=n + int(1000 * d))
            print(f"| {n:,} | {100 * d:.0f} | {got['test']:.3f} | {got['interval']:.3f} | "
                  f"{got['theory']:.3f} | {got['unpaired']:.3f} |", flush=True)  # fmt: skip
    exact = ", ".join(f"{n:,}: {exact_size(n):.4f}" for n in sizes)
    print(f"\nexact size of McNemar's mid-p test: {exact}\n")
    print("| n | difference | over clusters | interval | theory | ignored |\n|---:|---:|---:|---:|---:|---:|")
    for n in sizes:
        for d in (0.0, 0.05):
            got = clustered(n, d, max(repeats // 5, 1), seed=n + int(1000 * d))
            print(f"| {n:,} | {100 * d:.0f} | {got['test']:.3f} | {got['interval']:.3f} | "
                  f"{got['theory']:.3f} | {got['without clusters']:.3f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
