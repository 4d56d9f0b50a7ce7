"""Outputs of several stages, small: written by the program itself."""

from __future__ import annotations

from pathlib import Path

from deadpan.bench import open_set, run_bench
from deadpan.bench.items.item import write_items
from deadpan.detect.studies.comparison import compare_systems
from deadpan.detect.studies.evaluation import evaluate
from deadpan.detect.studies.training import train_detector
from deadpan.detect.studies.transfer import transfer
from deadpan.formats.judgments import write_export
from deadpan.records import Judgment
from deadpan.reproduce import reproduce
from detect_corpus import noise_corpus, word_corpus


def comparison(out: Path, *, noise: bool = False) -> Path:
    """A comparison in which a word model is best, or one in which nobody is."""
    rows = noise_corpus() if noise else word_corpus(count=120)
    source = "mine.csv" if noise else "words.csv"
    compare_systems(rows, ["bow", "majority"], k=3, source=source, metric="accuracy").write(out)
    return out


def outputs(folder: Path) -> Path:
    """One output of most kinds."""
    comparison(folder / "comparison")
    train_detector(word_corpus(), "bow", out=folder / "model")
    evaluate(folder / "model", word_corpus("fine"), source="fine.csv").write(folder / "evaluation")
    corpora = {"words": word_corpus(), "noise": noise_corpus()}
    transfer(corpora, "bow", k=3).write(folder / "transfer")
    judgments = [
        Judgment(f"i{item}", f"p{person}", "sarcastic", "yes" if item % 2 else "no", 1.0, "2026-11-16T10:00:00+00:00")
        for item in range(10)
        for person in range(3)
    ]
    write_export(folder / "export", judgments, [], config={"study": "pilot", "protocol": "reader-judgment"})
    items = open_set("public").items[:12]
    write_items(folder.parent / "items.jsonl", items)
    run_bench(["baseline/first", "baseline/random"], folder.parent / "items.jsonl", runs=2, out=folder / "runs")
    reproduce("sarcbench", folder / "papers", items=folder.parent / "items.jsonl", only=["table-1", "table-2"])
    return folder
