"""[linear] beside the plain scikit-learn pipeline of the same kinds of features, in one run.

Training: 250,000 short texts, bars 90 s and 2 GB. Prediction: 100,000 texts from the command line, start-up
included, at least twice the pipeline's throughput at no loss of accuracy. The texts are those of the corpora
in the folder that DEADPAN_DATA names (or the starter set where they are absent), cut and joined anew to make up the number.
Last, microseconds per text of the detector `base` and of `linear` in one process, side by side with TfidfVectorizer and
LogisticRegression of words, and of words and characters (bar: twice the first).

    python benchmarks/detect.py [--train 250000] [--predict 100000]
    python benchmarks/detect.py --only-per-text
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("DEADPAN_DATA", "corpora"))
CORPORA = ("sarc-main", "sarc-pol", "news_headlines", "ghosh_veale", "ptacek", "oraby-gen", "semeval2018-a")
HELD_OUT = 10_000

PEER = """
import sys, json, pickle
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
mode, model, texts = sys.argv[1:4]
rows = [json.loads(line) for line in open(texts, encoding="utf-8")]
if mode == "train":
    union = make_union(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=2, sublinear_tf=True),
    )
    peer = make_pipeline(union, LogisticRegression(solver="liblinear"))
    peer.fit([row["text"] for row in rows], [row["label"] for row in rows])
    pickle.dump(peer, open(model, "wb"))
else:
    peer = pickle.load(open(model, "rb"))
    for row, score in zip(rows, peer.predict_proba([row["text"] for row in rows])[:, 1]):
        print(json.dumps({"id": row["id"], "label": bool(score > 0.5), "score": round(float(score), 6)}))
"""


def texts(count: int) -> Iterator[dict[str, object]]:
    """Real texts first, then first and second halves of texts of one label, joined."""
    from deadpan.datasets import read_dataset

    names = CORPORA if DATA.is_dir() else ("starter-en",)
    pool = [(e.response.text, bool(e.label)) for n in names for e in read_dataset(n, DATA) if e.label is not None]
    rng = Random(0)
    rng.shuffle(pool)
    by_label = {label: [t.split() for t, truth in pool if truth is label] for label in (True, False)}
    for number in range(count):
        if number < len(pool):
            text, label = pool[number]
        else:
            label = rng.random() < 0.5
            one, other = rng.choice(by_label[label]), rng.choice(by_label[label])
            text = " ".join(one[: len(one) // 2 + 1] + other[len(other) // 2 :])
        yield {"id": str(number), "text": text[:300], "label": label}


@dataclass(frozen=True, order=True)
class Cost:
    """Seconds on the clock, seconds of processor (what remains of them on a busy machine), peak megabytes."""

    wall: float
    cpu: float
    peak: float

    def __str__(self) -> str:
        return f"{self.wall:.0f} s ({self.cpu:.0f} s of processor), {self.peak:,.0f} MB"


def run(command: list[str], stdout: Path | None = None) -> Cost:
    """Run a command and return its cost."""
    code = (
        "import resource, subprocess, sys, time\n"
        "started = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:])\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "wall = time.perf_counter() - started\n"
        "print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)\n"
        "sys.exit(done.returncode)\n"
    )
    with (stdout or Path(os.devnull)).open("w") as out:
        done = subprocess.run([sys.executable, "-c", code, *command], stdout=out, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return Cost(*map(float, done.stderr.split()[-3:]))


def accuracy(predictions: Path, truth: list[dict[str, object]]) -> float:
    lines = map(json.loads, predictions.read_text(encoding="utf-8").splitlines())
    answers = {row.get("example_id", row.get("id")): row["label"] for row in lines}
    return sum(answers[row["id"]] == row["label"] for row in truth) / len(truth)


def per_text(rows: list[dict[str, object]], count: int = 5_000) -> None:
    """Print the microseconds of processor per text, all in turns, the best of five."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    from deadpan.detect.detector import Detector

    known, held = rows[count:], [str(row["text"]) for row in rows[:count]]
    read, labels = [str(row["text"]) for row in known], [bool(row["label"]) for row in known]
    words = {"ngram_range": (1, 2), "sublinear_tf": True}
    letters = {"analyzer": "char_wb", "ngram_range": (2, 5), "sublinear_tf": True}
    both = make_union(TfidfVectorizer(**words), TfidfVectorizer(**letters))
    rivals = {
        "TfidfVectorizer of words": make_pipeline(TfidfVectorizer(**words), LogisticRegression()).fit(read, labels),
        "of words and characters": make_pipeline(both, LogisticRegression()).fit(read, labels),
        "deadpan linear": Detector("linear").fit(read, labels),
        "deadpan base": Detector.load("base"),
    }
    best = dict.fromkeys(rivals, float("inf"))
    for _ in range(5):
        for name, rival in rivals.items():
            started = time.process_time()
            rival.predict_proba(held)
            best[name] = min(best[name], (time.process_time() - started) / count * 1e6)
    first = best["TfidfVectorizer of words"]
    for name, micro in best.items():
        print(f"{name:26} {micro:6.1f} microseconds per text, ratio {micro / first:.1f}")


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", type=int, default=250_000)
    parser.add_argument("--predict", type=int, default=100_000)
    parser.add_argument("--only-per-text", action="store_true")
    sizes = parser.parse_args()
    if sizes.only_per_text:
        per_text(list(texts(7_000)))
        return
    rows = list(texts(sizes.train + HELD_OUT))
    held, train = rows[:HELD_OUT], rows[HELD_OUT:]
    many = (rows * (1 + sizes.predict // len(rows)))[: sizes.predict]
    deadpan = [sys.executable, "-c", "from deadpan.cli import main; main()", "detect"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        peer = folder / "peer.py"
        peer.write_text(PEER)
        for file, lines in (("train.jsonl", train), ("held.jsonl", held), ("many.jsonl", many)):
            write(folder / file, lines)
        ours = run([*deadpan, "train", str(folder / "train.jsonl"), "--out", str(folder / "ours")])
        print(f"train {len(train):,} texts: {ours} (bars 90 s, 2,000 MB)", flush=True)
        theirs = run([sys.executable, str(peer), "train", str(folder / "peer.bin"), str(folder / "train.jsonl")])
        print(f"  scikit-learn pipeline: {theirs}", flush=True)
        predict = [*deadpan, "predict", "--detector", str(folder / "ours")]
        peer_predict = [sys.executable, str(peer), "predict", str(folder / "peer.bin")]
        costs: dict[str, list[Cost]] = {"ours": [], "peer": []}
        for _ in range(3):  # in turns, so that a busy minute hits both
            costs["ours"].append(run([*predict, str(folder / "many.jsonl")]))
            costs["peer"].append(run([*peer_predict, str(folder / "many.jsonl")]))
        best = {who: min(runs) for who, runs in costs.items()}
        rate = {who: len(many) / cost.wall for who, cost in best.items()}
        print(f"predict {len(many):,} texts with start-up: {rate['ours']:,.0f} texts/s; {best['ours']}")
        print(f"  scikit-learn pipeline: {rate['peer']:,.0f} texts/s; {best['peer']}")
        by_cpu = min(c.cpu for c in costs["peer"]) / min(c.cpu for c in costs["ours"])
        print(f"ratio {rate['ours'] / rate['peer']:.1f} by the clock, {by_cpu:.1f} by processor time (bar 2)")
        run([*predict, str(folder / "held.jsonl")], folder / "ours.out")
        run([*peer_predict, str(folder / "held.jsonl")], folder / "peer.out")
        print(
            f"accuracy on {len(held):,} held-out texts: {accuracy(folder / 'ours.out', held):.4f}, "
            f"scikit-learn {accuracy(folder / 'peer.out', held):.4f}"
        )
    per_text(rows[:7_000])


if __name__ == "__main__":
    started = time.perf_counter()
    main()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"({time.perf_counter() - started:.0f} s in all, {peak:,.0f} MB here)")
