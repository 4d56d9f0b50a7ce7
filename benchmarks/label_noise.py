"""Estimates of label noise on corpora with labels flipped on purpose, beside cleanlab's where it is installed.

    DEADPAN_DATA=DIR python benchmarks/label_noise.py [SOURCE ...]

Of each corpus 4,000 examples are read, 0, 5, 10 and 20 % of their labels are flipped, and the audit's estimate is
printed with its interval. The expected share follows from the estimate without flips. "Suspected" is the share of
labels on the list of suspects; cleanlab's number of label issues is that of its default filter. cleanlab:
Apache License 2.0, pip install cleanlab.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from deadpan.datasets import read_source
from deadpan.datasets.noise import find_label_errors
from deadpan.probes import clusters_of, fold_numbers, held_out_scores, word_matrix
from deadpan.records import Example

ROWS = 4_000
RATES = (0.0, 0.05, 0.1, 0.2)


def main(sources: list[str]) -> None:
    print("| corpus | flipped | expected | estimate | suspected | cleanlab |\n|---|---:|---:|---|---:|---:|")
    for source in sources:
        rows = [example for example in read_source(source).examples if example.label is not None]
        chosen = np.random.default_rng(1).permutation(len(rows))[:ROWS]
        rows = [rows[at] for at in sorted(chosen.tolist())]
        base = None
        for rate in RATES:
            flip = np.random.default_rng(17).random(len(rows)) < rate
            noisy = [replace(e, label=e.label ^ bool(f)) for e, f in zip(rows, flip, strict=True)]
            noise, _ = find_label_errors(noisy)
            found = noise.estimate
            shown = "no number" if found is None else f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
            base = found.value if rate == 0 and found else base
            expected = "" if base is None else f"{base + rate - 2 * base * rate:.3f}"
            suspected = noise.flagged.value or 0.0
            print(f"| {source} | {rate:.2f} | {expected} | {shown} | {suspected:.3f} | {peer(noisy)} |", flush=True)


def peer(rows: list[Example]) -> str:
    """Return cleanlab's estimate from the same held-out probabilities."""
    try:
        from cleanlab.count import num_label_issues
    except ImportError:
        return ""
    labels = np.array([bool(example.label) for example in rows])
    matrix = word_matrix([example.response.text for example in rows])
    scores = held_out_scores(matrix, labels, fold_numbers(clusters_of(rows), 0), strength=4.0)
    return f"{num_label_issues(labels.astype(int), np.stack([1 - scores, scores], axis=1)) / len(rows):.3f}"


if __name__ == "__main__":
    main(sys.argv[1:] or ["news_headlines", "ptacek", "figlang2020-twitter"])
