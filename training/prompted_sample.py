"""Ask a language model about a sample of each corpus, beside `linear` on the same texts.

    python training/prompted_sample.py OUT CORPUS [CORPUS ...] [--texts 60] [--shots 0 4] [--turns 2]

The texts are drawn by a hash of their ids. What is left of the corpus, without the threads of the sample, is
what `linear` is trained on and what shots are drawn from. The score of the language model is the probability
of its token for "sarcastic". Finished predictions are kept in OUT, so a run that was ended goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from deadpan.datasets import read_dataset
from deadpan.detect.detector import Detector
from deadpan.draws import sample
from deadpan.records import Example, Prediction
from deadpan.stats import score_predictions
from deadpan.storage import read_records, write_records

SHOWN = ("balanced_accuracy", "f1", "auc")


def main() -> None:
    options = _options()
    for corpus in options.corpora:
        examples = [example for example in read_dataset(corpus, options.data_dir) if example.label is not None]
        tested = sample(examples, options.texts, seed=0, key=lambda example: example.id)
        threads = {example.group or example.id for example in tested}
        trained = [example for example in examples if (example.group or example.id) not in threads]
        sarcastic = sum(bool(example.label) for example in tested)
        print(f"{corpus}: {sarcastic} of {len(tested)} texts are sarcastic", flush=True)
        context = {"turns": options.turns, "speakers": bool(options.turns)}
        systems = {"linear": Detector("linear", **context)}
        for shots in options.shots:
            asked = {"shots": shots, "probabilities": True, "model": options.model, "max_tokens": 1}
            systems[f"{shots} shots"] = Detector("prompted", **asked, **context)
        for name, detector in systems.items():
            said = _predictions(options.out / corpus / f"{name}.jsonl", detector, trained, tested)
            scores = score_predictions(tested, said, seed=0).scores
            positive = sum(bool(answer.label) for answer in said)
            line = ", ".join(f"{metric} {scores[metric]}" for metric in SHOWN if metric in scores)
            print(f"  {name}: {line}; {positive} called sarcastic", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--data-dir", type=Path, help="folder of the corpora (default: DEADPAN_DATA)")
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--shots", type=int, nargs="+", default=[0, 4])
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--model", default="", help="by default the largest embedded model that is there")
    return parser.parse_args()


def _predictions(path: Path, detector: Detector, trained: list[Example], tested: list[Example]) -> list[Prediction]:
    """Return the predictions on disk, or train and write them."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_records(path, detector.fit(trained).predict(tested), Prediction)
    return list(read_records(path, Prediction))


if __name__ == "__main__":
    main()
