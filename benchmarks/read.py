"""Reading SARC: the whole index against `bzcat | wc`, and a big corpus with text to Parquet."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"
INDEX = SHARED / "sarc_main" / "full-index-train-balanced.csv.bz2"
SEQUENCES = 125_000
ROUNDS = 5

READ = """
import resource, sys, time
from pathlib import Path
from deadpan.datasets.sarc import read_sequences
began = time.perf_counter()
count = sum(1 for sequence in read_sequences(Path(sys.argv[1])))
print(count, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
CONVERT = """
import resource, sys, time
from pathlib import Path
from deadpan.datasets import open_dataset
from deadpan.records import Example
from deadpan.storage import write_records
began = time.perf_counter()
count = write_records(Path(sys.argv[2]), open_dataset("sarc-main", sys.argv[1]), Example)
print(count, time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def main() -> None:
    """Print one line a measurement, with its limit."""
    if INDEX.is_file():
        read_index()
    else:
        print(f"index: skipped, no {INDEX}")
    convert()


def read_index() -> None:
    """The best of a few rounds each, taken in turns, since the machine is never quiet."""
    peer, ours = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run(f"bzcat {INDEX} | wc", shell=True, check=True, stdout=subprocess.DEVNULL)
        peer.append(time.perf_counter() - began)
        count, seconds, memory = _run(READ, str(INDEX))
        ours.append(seconds)
    ratio = min(ours) / min(peer)
    print(
        f"index: {count:,.0f} sequences, {min(ours):.2f} s against {min(peer):.2f} s of bzcat | wc: "
        f"{ratio:.2f}x (limit 2), {memory:.0f} MB (limit 300)"
    )


def convert() -> None:
    """A corpus of 250,000 responses in the released layout, to Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        make_corpus(Path(folder))
        count, seconds, memory = _run(CONVERT, folder, f"{folder}/out.parquet")
    rate = count / seconds
    print(f"convert: {count:,.0f} examples, {rate:,.0f}/s (limit 50,000), {memory:.0f} MB (limit 1,000)")


def make_corpus(folder: Path) -> None:
    """Sequences and comments in SARC's form, texts of its usual length."""
    draw = random.Random(0)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(20_000)]

    def comment(number: int) -> dict[str, object]:
        return {
            "text": " ".join(draw.choices(words, k=draw.randint(3, 22))),
            "author": f"user{number % 5000}",
            "score": draw.randint(-5, 50),
            "ups": -1,
            "downs": -1,
            "date": "2016-10",
            "created_utc": 1_476_000_000 + number,
            "subreddit": "politics",
        }

    with (folder / "comments.json").open("w") as comments, (folder / "train-balanced.csv").open("w") as index:
        comments.write("{")
        for number in range(SEQUENCES):
            ids = [f"p{number}", f"a{number}", f"b{number}"]
            entries = ", ".join(f'"{id}": {json.dumps(comment(number))}' for id in ids)
            comments.write(entries if number == 0 else f", {entries}")
            index.write(f"p{number}|a{number} b{number}|1 0\n")
        comments.write("}")


def _run(script: str, *arguments: str) -> tuple[float, ...]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True
    )
    return tuple(float(part) for part in done.stdout.split())


if __name__ == "__main__":
    main()
