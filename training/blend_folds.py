"""Blend systems that take hours: their out-of-fold scores are kept, so that a run that was ended goes on.

    python training/blend_folds.py OUT CORPUS SYSTEM [SYSTEM ...] [--also A,B] [--before C,D] [--tested E]
        [--tuning encoder=mpnet-base --tuning freeze=6]

Each system is trained once per fold; its threshold for a fold, and the weights and the threshold of a blend,
come from the out-of-fold scores of the other folds. A system is written as for `detect compare`
(`frozen:mpnet-base`). With a plus sign after it, it is trained on a sample of the corpora of `--also` too.
`saved:FOLDER` is a detector that was trained before, on other corpora. `frozen:before` and
`transformer:before` use an encoder that was first fine-tuned on a sample of the corpora of `--before`, with
the settings of `--tuning`. What is tested (CORPUS and `--tested`) is removed first, with near-copies.
`--authors` adds a row with the history of each author, from the training part of a fold.
The last rows are blends of the first two systems, of the first three, and so on: decide their order before
you see a score.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import Design, divide
from deadpan.detect.studies.evaluation import ranking_scores
from deadpan.detect.system import parse_settings, split_variant
from deadpan.detect.systems.ensembles import AUTHOR, add_history, blend_scores
from deadpan.draws import sample
from deadpan.duplicates import without_duplicates
from deadpan.records import Example, Prediction
from deadpan.stats import score_predictions
from deadpan.storage import read_records, write_records
from long_runs import clocked

BEFORE, SAVED = "before", "saved"
MOST = 6_000
"""Examples of each other corpus: a sample by hash of the id."""
TUNING: dict[str, Any] = {"epochs": 1, "max_tokens": 64, "freeze": 2}
"""The lowest layers stay as they are: half of the time."""
SHOWN = ("f1", "balanced_accuracy", "auc", "pair_accuracy")


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    examples = _read(options, options.corpus)
    also = [example for name in options.also for example in _sample(options, name)]
    alone, more = divide(examples, pool=True), divide(examples, pool=True, also=also)
    print(f"{options.corpus}: {len(examples):,} examples, {more.also:,} additional ones", flush=True)
    said: dict[str, list[Prediction]] = {}
    for name in options.systems:
        design = more if name.endswith("+") else alone
        said[name] = _out_of_fold(options, name, design)
        _show(name, [said[name]], examples, options.threshold)
    for n in range(2, len(said) + 1):
        answers = _show(f"blend of the first {n}", list(said.values())[:n], examples, options.threshold)
    if options.authors and len(said) > 1:
        _show_history(alone, answers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpus")
    parser.add_argument("--data-dir", type=Path, help="folder of the corpora (default: DEADPAN_DATA)")
    parser.add_argument("systems", nargs="+")
    parser.add_argument("--also", type=lambda word: word.split(","), default=[])
    parser.add_argument("--before", type=lambda word: word.split(","), default=[])
    parser.add_argument("--tested", type=lambda word: word.split(","), default=[],
                        help="corpora whose texts the encoder before must not have seen")  # fmt: skip
    parser.add_argument("--tuning", action="append", default=[], help="NAME=VALUE for the encoder before")
    parser.add_argument("--setting", action="append", default=[], help="NAME=VALUE or SYSTEM.NAME=VALUE")
    parser.add_argument("--authors", action="store_true", help="the last blend with the authors' history too")
    parser.add_argument("--threshold", choices=("f1", "balanced"), default="f1")
    parser.add_argument("--folds", type=int, default=5, help="train in the first folds only")
    return parser.parse_args()


def _read(options: argparse.Namespace, name: str) -> list[Example]:
    return [example for example in read_dataset(name, options.data_dir) if example.label is not None]


def _sample(options: argparse.Namespace, name: str, pairs: bool = False) -> list[Example]:
    examples = _read(options, name)
    return sample(examples, MOST, seed=0, key=lambda example: pairs * example.sequence or example.id)


def _before(options: argparse.Namespace) -> Path:
    """The encoder after other corpora, none of which shares a text with what is tested; made once."""
    folder: Path = options.out / "before"
    if (folder / "detector.json").exists():
        return folder
    found: list[Example] = []
    names = dict.fromkeys([options.corpus, *options.tested])
    tested = [example for name in names for example in _read(options, name)]
    for name in options.before:
        found += without_duplicates(
            _sample(options, name, pairs=True), [*tested, *found], whole_sequences=False
        ).examples
        print(f"before: {name}, {len(found):,} examples so far", flush=True)
    own = TUNING | {"checkpoint": str(options.out / "checkpoint")}
    own |= parse_settings(options.tuning, ["transformer"])["transformer"]
    detector = Detector("transformer", **own).fit(found, progress=clocked("before"))
    detector.save(folder, command="training/blend_folds.py", about={"data": ", ".join(options.before)})
    return folder


def _out_of_fold(options: argparse.Namespace, name: str, design: Design) -> list[Prediction]:
    """Return out-of-fold predictions; finished folds are read from disk."""
    system, own = _system(options, name)
    given = parse_settings(options.setting, options.systems)[name]
    own |= given
    words = [name.replace(":", "-"), *(f"{key}={value}" for key, value in sorted(given.items()))]
    folder = options.out / options.corpus / " ".join(words).replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    said: dict[str, Prediction] = {}
    for number, fold in enumerate(design.folds):
        path = folder / f"fold-{number}.jsonl"
        if not path.exists() and number < options.folds:
            started = time.process_time()
            if system == SAVED:
                detector = Detector.load(own["folder"])
            else:
                detector = Detector(system, **own).fit(fold.train, progress=clocked(f"{name} fold {number}"))
            write_records(path, detector.predict(fold.test), Prediction)
            print(f"{name} fold {number}: {time.process_time() - started:.0f} s", flush=True)
        if path.exists():
            answers = list(read_records(path, Prediction))
            print(f"{name} fold {number}: {ranking_scores(fold.test, answers)}", flush=True)
            said |= {answer.example_id: answer for answer in answers}
    if len(said) < len(design.tested):
        raise SystemExit(f"{name}: {options.folds} folds are done")
    return [said[example.id] for example in design.tested]


def _system(options: argparse.Namespace, name: str) -> tuple[str, dict[str, Any]]:
    if name.startswith(f"{SAVED}:"):
        return SAVED, {"folder": name.removeprefix(f"{SAVED}:")}
    system, own = split_variant(name.removesuffix("+"))
    if own.get("encoder") == BEFORE:
        own["encoder"] = str(_before(options))
    if system == "transformer":
        own["max_tokens"] = TUNING["max_tokens"]
    elif system == "frozen" and name.endswith("+"):
        own["heads"] = True
    return system, own


def _show(name: str, trials: Sequence[Sequence[Prediction]], examples: list[Example], rule: str) -> list[Prediction]:
    """Print the scores at thresholds from the other folds, and the best F1 in hindsight."""
    answers, _ = blend_scores(trials, examples, threshold=rule)
    scores = score_predictions(examples, answers, seed=0).scores
    line = ", ".join(f"{metric} {scores[metric]}" for metric in SHOWN if metric in scores)
    print(f"== {name}: {line}, {ranking_scores(examples, answers)}", flush=True)
    return answers


def _show_history(design: Design, text: Sequence[Prediction]) -> None:
    """Print the scores of the last blend with what is known of each author."""
    score_of = {answer.example_id: answer for answer in text}
    both = {a.example_id: a for fold in design.folds for a in add_history(score_of, fold, (AUTHOR,), seed=0)}
    scores = score_predictions(design.tested, [both[e.id] for e in design.tested], seed=0).scores
    line = ", ".join(f"{metric} {scores[metric]}" for metric in SHOWN if metric in scores)
    print(f"== the last blend with history: {line}", flush=True)


if __name__ == "__main__":
    main()
