"""Build a detector `encoder`: `python training/encoder.py --data-dir DIR [--work WORK] [--encoder mpnet-base]`.

It is an encoder trained on all English corpora together, blended with the detector `base`.

Low-rank additions in the upper layers, a head per corpus beside a shared one, a loss that compares the texts of a
pair, and as much weight on sarcastic as on sincere texts of each corpus. A training that was killed resumes where it
was and ends with the same weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from base import write_card
from corpora import parts, read_corpora
from deadpan.detect.detector import BASE, SHIPPED, Detector
from deadpan.detect.neural.transformer import Transformer
from deadpan.detect.system import System, sigmoid
from deadpan.detect.systems.ensembles import STRENGTH, log_odds
from deadpan.detect.systems.logistic import DenseBlock, fit_logistic
from deadpan.detect.systems.mixture import corpus_weights
from deadpan.draws import draw, sample
from deadpan.errors import need
from deadpan.records import Example
from everyday import BATCHES, PAIRS, SOURCE, everyday_pairs
from held_out import EVEN, SIX, Scored, bands, is_dev, report, six_sets, unknown_origin
from long_runs import clocked

FOLDERS = {"mpnet-base": "encoder", "minilm-l6": "encoder-fast"}
BATCH = 8
"""Everyday lines of later batches are for the next training: a rebuild is then of what is in the package."""
MOST = 500
"""Held-out examples of a corpus that is not among the six."""

SETTINGS = {
    "method": "lora", "rank": 16, "epochs": 1, "batch_size": 32, "max_tokens": 56, "turns": 2, "pairwise": 0.35,
    "validation": 0.0, "heads": True, "half": True, "warmup": 0.06,
}  # fmt: skip
ENCODERS = {"mpnet-base": {"freeze": 6, "learning_rate": 3e-4}, "minilm-l6": {"freeze": 2, "learning_rate": 4e-4}}
PASSES = {
    "sarc-pol": 1.5, "sarc-main": 0.42, "sarc-raw": 0.4, "figlang2020-reddit": 2.0, "figlang2020-twitter": 1.5,
    "isarcasm": 2.0, "isarcasm_eval-en": 2.0, "isarcasm_eval-en-c": 1.0, "semeval2018-a": 2.0, "ptacek": 0.2,
    "ghosh_veale": 0.14, "riloff": 1.0, "oraby-gen": 0.15, "oraby-hyp": 0.15, "oraby-rq": 0.15, "mustard": 1.0,
    "news_headlines": 0.03, "starter-en": 1.0, SOURCE: 0.8, PAIRS: 0.8,
}  # fmt: skip
"""How often a text of a corpus is read: large corpora are drawn from, so that they do not decide alone."""


def training_rows(examples: Sequence[Example], times: float = 1.0) -> list[Example]:
    """Return the English examples as often as `PASSES` says, pairs whole; the draws depend on the pair alone."""
    rows = []
    later = {each.id for each in everyday_pairs(batches=BATCHES[BATCH + 1 :])}
    for example in examples:
        if example.language != "en" or example.id in later:
            continue
        passes = PASSES[example.source] * times
        chance = int.from_bytes(draw(0, f"pass {example.sequence or example.id}")[:4], "big") / 2**32
        for copy in range(int(passes) + (chance < passes % 1)):
            sequence = f"{example.sequence}~{copy}" if example.sequence else ""
            rows.append(replace(example, id=f"{example.id}~{copy}", sequence=sequence))
    return rows


def ship(encoder: Transformer, held_out: Sequence[Example], sizes: dict[str, int], out: Path) -> None:
    """Blend the encoder with `base`, with weights, calibration and band from a quarter of the held-out part."""
    base = Detector.load(BASE).predictor
    encoder.adapter_ = {name: value.half() for name, value in encoder.adapter_.items()}
    odds = log_odds(np.stack([_scores(base, held_out), _scores(encoder, held_out)], axis=1))
    dev = np.array([is_dev(example) for example in held_out])
    labels = np.array([bool(example.label) for example in held_out])
    weights = corpus_weights([example for example in held_out if is_dev(example)], EVEN)
    trust = fit_logistic([DenseBlock(odds[dev])], labels[dev], STRENGTH, weights=weights)
    systems = [{"system": "mixture", **base.settings}, {"system": "transformer", **encoder.settings}]
    detector = Detector("blend", systems=systems, turns=2)
    detector.predictor.members_, detector.predictor.trust_ = [base, encoder], trust
    detector.predictor.save = partial(detector.predictor.save, beside={"0-mixture": "../base"})
    scored = Scored(held_out, sigmoid(trust.margins([DenseBlock(odds)])))
    detector.bands, risks = bands(scored, ("en",))
    detector.rate_ = 0.5
    detector.seen_ = Detector.load(BASE).seen_
    detector.save(out, command="training/encoder.py", about={"data": "as in base, English"})
    rows = report(scored, detector.bands)
    write_card(out, out.name, detector, rows, risks, sizes)
    alone = {name: six_sets(report(Scored(held_out, sigmoid(odds[:, at])), detector.bands))["auc"]
             for at, name in enumerate(("base", "encoder"))}  # fmt: skip
    print("\n".join(map(str, rows)), f"six sets: {six_sets(rows)}; alone {alone}; trust {trust}", sep="\n")


def _scores(system: System, examples: Sequence[Example]) -> np.ndarray:
    torch = need("torch", "neural")
    with torch.autocast("cpu", torch.bfloat16):
        return np.array([prediction.score for prediction in system.predict(unknown_origin(examples))])


def measured(examples: Sequence[Example]) -> list[Example]:
    """Return the English held-out examples, of a large corpus the first few by draw."""
    kept: list[Example] = []
    for source in PASSES:
        mine = [e for e in examples if e.source == source and e.language == "en"]
        kept += mine if source in SIX else sample(mine, MOST, seed=0, key=lambda e: e.sequence or e.id)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--work", type=Path, help="folder for checkpoints and the trained encoder; "
                        "without it, the encoder in the package is blended anew")  # fmt: skip
    parser.add_argument("--encoder", choices=list(ENCODERS), default="minilm-l6")
    parser.add_argument("--times", type=float, default=1.0, help="passes over every corpus, in those of the recipe")
    parser.add_argument("--end", type=float, default=1.0, help="share of the batches after which training ends")
    parser.add_argument("--out", type=Path, help="folder of the detector; by default that in the package")
    options = parser.parse_args()
    corpora = read_corpora(options.data_dir)
    train, held_out = parts(corpora)
    shipped = SHIPPED[BASE].parent / FOLDERS[options.encoder]
    trained = options.work / options.encoder if options.work else shipped / "1-transformer"
    if not (trained / "transformer.json").is_file():
        rows = training_rows(train, options.times)
        print(f"{options.encoder}: {len(rows):,} texts", flush=True)
        settings = {**SETTINGS, **ENCODERS[options.encoder], "encoder": options.encoder, "end": options.end}
        system = Transformer(**settings, checkpoint=str(options.work / f"{options.encoder}-checkpoint"))
        system.progress = clocked(options.encoder)
        system.fit(rows)
        system.options = replace(system.options, checkpoint="")
        system.save(trained)
    encoder = Transformer.load(trained)
    encoder.load_weights()
    sizes = {name: len(rows) for name, rows in corpora.items() if rows[0].language == "en"}
    ship(encoder, measured(held_out), sizes, options.out or shipped)


if __name__ == "__main__":
    main()
