"""The best systems on SARC's pol: an encoder pretrained on more of Reddit, `linear`, and a blend of both.

    python training/pol_encoder.py OUT [--folds 5] [--seeds 1] [--fresh-encoder]
        [--encoder mpnet-base --most 12000 --setting freeze=6 --setting epochs=1]

The encoder is first fine-tuned on what the other Reddit corpora have that shares no text with pol, then on
each fold's training part; [linear] is trained with and without them. What every step made is kept in OUT, so
a run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.system import parse_settings
from deadpan.detect.systems.ensembles import blend_scores
from deadpan.draws import sample
from deadpan.duplicates import without_duplicates
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats import compare_predictions, score_predictions
from deadpan.storage import read_records, write_records
from long_runs import clocked

OTHERS = ("sarc-main", "sarc-raw", "figlang2020-reddit")
SETTINGS: dict[str, Any] = {"pairwise": 0.5, "max_tokens": 64, "epochs": 2}


def main() -> None:
    options = _options()
    torch.set_num_threads(options.threads)
    pol = [example for example in read_dataset("sarc-pol", options.data_dir) if example.label is not None]
    others = [] if options.fresh_encoder else _others(pol, options.most, options.data_dir)
    tuning = SETTINGS | {"encoder": options.encoder}
    tuning |= parse_settings(options.setting, ["transformer"])["transformer"]
    start = str(_pretrained(options.out, others, tuning)) if others else options.encoder
    name = "pretrained transformer" if others else "transformer"
    said = {"linear": _out_of_fold(options.out / "linear", "linear", {}, pol, options.folds)}
    if others:
        folder = options.out / "linear-others"
        said["linear, more of Reddit"] = _out_of_fold(folder, "linear", {}, pol, options.folds, others)
    for seed in range(options.seeds):
        own = {**tuning, "encoder": start, "seed": seed}
        folder = options.out / f"{name.replace(' ', '-')}-{seed}"
        said[f"{name}, seed {seed}"] = _out_of_fold(folder, "transformer", own, pol, options.folds)
    said["all, blended"], _ = blend_scores(list(said.values()), pol, options.folds)
    _show(said, pol)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data-dir", type=Path, help="folder of the corpora (default: DEADPAN_DATA)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--most", type=int, default=100_000, help="responses of each other corpus")
    parser.add_argument("--encoder", default="minilm-l6")
    parser.add_argument("--setting", action="append", default=[], help="NAME=VALUE for the encoder")
    parser.add_argument("--fresh-encoder", action="store_true", help="nothing but pol and the encoder as it is")
    return parser.parse_args()


def _others(pol: list[Example], most: int, data_dir: Path | None) -> list[Example]:
    """The other Reddit corpora, without any text that is in pol or in an earlier one of them."""
    found: list[Example] = []
    for name in OTHERS:
        given = [example for example in read_dataset(name, data_dir) if example.label is not None]
        given = sample(given, most, seed=0, key=lambda example: example.sequence or example.id)
        kept = without_duplicates(given, [*pol, *found], whole_sequences=False).examples
        print(f"{name}: {len(kept):,} of {len(given):,} responses are not in pol or before", flush=True)
        found += kept
    return found


def _pretrained(out: Path, others: list[Example], tuning: dict[str, Any]) -> Path:
    """The encoder after the other corpora, made once."""
    folder = out / "pretrained"
    if not (folder / "detector.json").exists():
        detector = Detector("transformer", **{**tuning, "epochs": 1})
        detector.fit(others, progress=clocked("others"))
        detector.save(folder, command="training/pol_encoder.py", about={"data": ", ".join(OTHERS)})
    return folder


def _out_of_fold(
    folder: Path, system: str, own: dict[str, Any], pol: list[Example], k: int, also: Sequence[Example] = ()
) -> list[Prediction]:
    """Return out-of-fold predictions; finished folds are read from disk."""
    said: dict[str, Prediction] = {}
    for number, fold in enumerate(folds(pol, k, seed=0)):
        path = folder / f"fold-{number}-of-{k}.jsonl"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            detector = Detector(system, **own).fit(
                [*fold.train, *also], progress=clocked(f"{folder.name} fold {number}")
            )
            write_records(path, detector.predict(fold.test), Prediction)
        answers = list(read_records(path, Prediction))
        print(f"{folder.name} fold {number}: {_pair_accuracy(fold.test, answers)}", flush=True)
        said |= {answer.example_id: answer for answer in answers}
    return [said[example.id] for example in pol]


def _pair_accuracy(examples: list[Example], said: list[Prediction]) -> str:
    return str(score_predictions(examples, said, seed=0).scores["pair_accuracy"])


def _show(said: dict[str, list[Prediction]], pol: list[Example]) -> None:
    for name, answers in said.items():
        print(f"{name:32} {_pair_accuracy(pol, answers)}")
    for pair in compare_predictions(pol, said, metric="pair_accuracy"):
        print(json.dumps(pair.as_dict()))


if __name__ == "__main__":
    main()
