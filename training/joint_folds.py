"""Fine-tune one encoder on several corpora at once, with the same folds held out of each.

    python training/joint_folds.py OUT CORPUS CORPUS [...] [--setting encoder=mpnet-base --setting freeze=6]

One training per fold serves all corpora: it sees the other folds of each of them, without copies and
near-copies of what is tested. The out-of-fold scores go where `blend_folds.py` looks for them, as the system
`transformer:joint`. Several processes may share the work: each takes the next fold that nobody has taken. A
run that was killed resumes a fold from its checkpoint; first delete the file `fold-N.taken` of that fold.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import torch

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, divide
from deadpan.detect.studies.evaluation import ranking_scores
from deadpan.detect.system import parse_settings
from deadpan.duplicates import without_duplicates
from deadpan.records import Example, Prediction
from deadpan.storage import write_records
from long_runs import clocked

SYSTEM = "transformer"
FOLDER = f"{SYSTEM}-joint"
TUNING = {"max_tokens": 64, "validation": 0.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--data-dir", type=Path, help="folder of the corpora (default: DEADPAN_DATA)")
    parser.add_argument("--setting", action="append", default=[], help="NAME=VALUE of the encoder")
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = TUNING | parse_settings(options.setting, [SYSTEM])[SYSTEM]
    corpora = {name: read_dataset(name, options.data_dir).examples for name in options.corpora}
    designs = {name: divide(examples, pool=True) for name, examples in corpora.items()}
    for number in range(FOLDS):
        if _take(options.out / f"fold-{number}.taken"):
            checkpoint = str(options.out / f"checkpoint-{number}")
            _train(options.out, designs, number, {**settings, "checkpoint": checkpoint})


def _take(path: Path) -> bool:
    """Return True for the one process that may train this fold."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _train(out: Path, designs: Mapping[str, Design], number: int, settings: Mapping[str, object]) -> None:
    """Train on the other folds of all corpora, and write what is said about this fold of each."""
    started = time.process_time()
    detector = Detector(SYSTEM, **settings)
    detector.fit(training_part(designs, number), progress=clocked(f"fold {number}"))
    for name, design in designs.items():
        tested = design.folds[number].test
        said = detector.predict(tested)
        folder = out / name / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        write_records(folder / f"fold-{number}.jsonl", said, Prediction)
        seconds = time.process_time() - started
        print(f"{name} fold {number}, {seconds:.0f} s: {ranking_scores(tested, said)}", flush=True)


def training_part(designs: Mapping[str, Design], number: int) -> list[Example]:
    """Return the training parts of a fold of all corpora without near-copies of any of its test parts."""
    known = [
        replace(example, id=f"{name}/{example.id}", group="", sequence="")
        for name, design in designs.items()
        for example in design.folds[number].train
    ]
    tested = [example for design in designs.values() for example in design.folds[number].test]
    return without_duplicates(known, tested).examples


if __name__ == "__main__":
    main()
