"""Reading SARC: the whole index against `bzcat | wc`, and a big corpus with text to Parquet."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
INDEX = DATA / "sarc_main" / "full-index-train-balanced.csv.bz2"
SEQUENCES = 125_000
ROUNDS = 5

READ = """
import resource, sys, time
from pathlib import Path
from deadpan.formats.sarc import read_index
began, start = time.perf_counter(), time.process_time()
count = sum(1 for sequence in read_index(Path(sys.argv[1])))
used = resource.getrusage(resource.RUSAGE_SELF)
print(count, time.perf_counter() - began, used.ru_maxrss / 1024, time.process_time() - start)
"""
CONVERT = """
import resource, sys, time
from pathlib import Path
from deadpan.cli import program
from deadpan.storage import read_manifest
began, start = time.perf_counter(), time.process_time()
program.main(
    ["datasets", "convert", "sarc-main", "--data-dir", sys.argv[1], "--out", sys.argv[2], "--json"],
    standalone_mode=False,
)
count = read_manifest(Path(sys.argv[2])).counts["examples"]
used = resource.getrusage(resource.RUSAGE_SELF)
print(count, time.perf_counter() - began, used.ru_maxrss / 1024, time.process_time() - start)
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
    peer, peer_cpu, ours, ours_cpu = [], [], [], []
    for _ in range(ROUNDS):
        began, start = time.perf_counter(), _children()
        subprocess.run(f"bzcat {INDEX} | wc", shell=True, check=True, stdout=subprocess.DEVNULL)
        peer.append(time.perf_counter() - began)
        peer_cpu.append(_children() - start)
        count, seconds, memory, processor = _run(READ, str(INDEX))
        ours.append(seconds)
        ours_cpu.append(processor)
    print(
        f"index: {count:,.0f} sequences, {min(ours):.2f} s against {min(peer):.2f} s of bzcat | wc: "
        f"{min(ours) / min(peer):.2f}x (limit 2), by processor time {min(ours_cpu) / min(peer_cpu):.2f}x; "
        f"{memory:.0f} MB (limit 300)"
    )


def convert() -> None:
    """A corpus of 250,000 responses in the released layout, to Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        make_corpus(Path(folder))
        count, seconds, memory, processor = _run(CONVERT, folder, f"{folder}/out.parquet")
    print(
        f"convert: {count:,.0f} examples, {count / seconds:,.0f}/s (limit 50,000), "
        f"{count / processor:,.0f} a processor second; {memory:.0f} MB (limit 1,000)"
    )


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


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(script: str, *arguments: str) -> tuple[float, ...]:
    done = subprocess.run([sys.executable, "-c", script, *arguments], check=True, capture_output=True, text=True)
    return tuple(float(part) for part in done.stdout.splitlines()[-1].split())


if __name__ == "__main__":
    main()
