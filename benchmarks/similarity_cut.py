"""The cut of similarity for the embedded vectors that drops as many of SARC's pairs as 0.95 does with GloVe.

    python training/glove_vectors.py glove.100d.txt
    DEADPAN_DATA=corpora python benchmarks/similarity_cut.py glove.100d.txt

The released pairs have passed the paper's own cut, with Common Crawl GloVe, so the share is that of these vectors only.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from deadpan.corpus.benchmark import WordSums, unfit
from deadpan.corpus.settings import EMBEDDED_VECTORS, GLOVE_CUT, BenchmarkRules
from deadpan.formats.sarc import read_comments, read_index

DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
DRAWS = 1_000


def main() -> None:
    left, right = zip(*(pair for name in ("sarc_main", "sarc_pol") for pair in pairs(DATA / name)), strict=True)
    glove = WordSums(sys.argv[1], (*left, *right))(left, right) > GLOVE_CUT
    embedded = WordSums(EMBEDDED_VECTORS, ())(left, right)
    draw = np.random.default_rng(0)
    rows = [draw.integers(0, len(glove), len(glove)) for _ in range(DRAWS)]
    low, high = np.quantile([np.quantile(embedded[row], 1 - glove[row].mean()) for row in rows], (0.025, 0.975))
    print(f"{len(glove):,} pairs: GloVe drops {glove.mean():.1%} at {GLOVE_CUT}; the embedded vectors drop as many at "
          f"{np.quantile(embedded, 1 - glove.mean()):.3f} [{low:.3f}, {high:.3f}], and {np.mean(embedded > GLOVE_CUT):.2%} "
          f"at {GLOVE_CUT}")  # fmt: skip


def pairs(folder: Path) -> list[tuple[str, str]]:
    """Return the two replies of every pair whose texts are here and fit a benchmark."""
    texts = {id: entry["text"] for id, entry in read_comments(folder / "comments.json")}
    found = [line.responses for line in read_index(folder / "train-balanced.csv")]
    known = [(texts[one], texts[other]) for one, other in found if one in texts and other in texts]
    return [pair for pair in known if not any(unfit(text, BenchmarkRules()) for text in pair)]


if __name__ == "__main__":
    main()
