"""Build the detector that comes with deadpan: `python training/base_detector.py --data-dir DIR`.

It learns from the starter set and from everyday lines and pairs (data/everyday,
written for deadpan, CC0), and from the corpora whose licence allows weights
to be shipped (MIT): iSarcasmEval (English and Arabic, with the plain rephrases), ArSarcasm-v2, Kocasm and
MUStARD. SARC states no licence, and its comments belong to their authors: the shipped weights do not come
from it. `--everything` adds it and all other corpora found in DIR, for a detector of your own.

Each corpus is evened out, so that a score holds where half of all texts are sarcastic. The bands between
which the answer is "cannot tell" come from out-of-fold scores of this recipe, as do the scores in the card.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from deadpan.datasets import read_dataset
from deadpan.detect.detector import BASE, SHIPPED, Detector
from deadpan.detect.inputs import SeenTexts
from deadpan.detect.systems.linear import Linear
from deadpan.detect.verdicts import Bands, choose_band
from deadpan.draws import sample
from deadpan.duplicates import without_duplicates
from deadpan.records import Example, Prediction
from deadpan.splits import folds, split
from deadpan.stats.ranking import area_under_curve
from deadpan.storage import write_text
from everyday import PAIRS, SOURCE, everyday_lines, everyday_pairs, lines_alone, plain_lines

MIT = (
    "isarcasm_eval-en", "isarcasm_eval-en-c", "isarcasm_eval-ar", "isarcasm_eval-ar-c",
    "arsarcasm_v2", "kocasm", "mustard",
)  # fmt: skip
STARTER = ("starter-en", "starter-ko")
OTHERS = (
    "sarc-pol", "sarc-main", "semeval2018-a", "isarcasm", "ptacek", "ghosh_veale", "figlang2020-twitter",
    "figlang2020-reddit", "oraby-gen", "news_headlines", "kocosa",
)  # fmt: skip
LANGUAGES = ("en", "ko", "ar")
AT_MOST = 6_000
"""Examples of one corpus, so that a large one does not decide alone."""
KEEP = 100_000
"""n-grams of each kind: what fits into a few megabytes."""
FOLDS = 3
PREVALENCE = 0.5
COVERAGE = 0.8
MIN_SPECIFICITY = 0.95
"""Share of the sincere everyday lines and answers, most of which look sarcastic, that are not called so."""
SETTINGS = {"weighting": "rarity", "strength": 1.0}


def corpora(data_dir: Path, everything: bool = False) -> dict[str, list[Example]]:
    """Return every corpus, without texts of an earlier one; of pairs with rephrases only the rephrases."""
    found: dict[str, list[Example]] = {}
    for name in (*STARTER, *MIT, *(OTHERS if everything else ())):
        examples = [example for example in read_dataset(name, data_dir) if example.label is not None]
        if name.endswith("-c"):
            examples = [replace(example, sequence="") for example in examples if not example.label]
        if len(examples) > AT_MOST:
            examples = sample(examples, AT_MOST, seed=0, key=lambda e: e.sequence or e.id)
        if name in OTHERS:
            earlier = [example for each in found.values() for example in each]
            examples = list(without_duplicates(examples, earlier).examples)
        found[name] = examples
    found[SOURCE] = [*everyday_lines(more=True), *plain_lines(), *lines_alone()]
    found[PAIRS] = everyday_pairs()
    return found


def evened(examples: Sequence[Example]) -> list[Example]:
    """Return as many sarcastic as sincere examples, the rarer ones repeated; copies stay in one group."""
    sides = {label: [e for e in examples if e.label is label] for label in (True, False)}
    if not all(sides.values()):
        return list(examples)
    most = max(len(side) for side in sides.values())
    rows = []
    for side in sides.values():
        for number in range(most):
            example, copy = side[number % len(side)], number // len(side)
            group = example.group or example.id
            rows.append(replace(example, id=f"{example.id}~{copy}" if copy else example.id, group=group))
    return rows


def learn(examples: Sequence[Example], seed: int = 0) -> Linear:
    """Return the model of the recipe: each corpus evened out, made small, calibrated on a part held back."""
    by_corpus: dict[tuple[str, str], list[Example]] = {}
    for example in examples:
        by_corpus.setdefault((example.source.removesuffix("-c"), example.language), []).append(example)
    rows = [row for each in by_corpus.values() for row in evened(each)]
    parts = split(rows, {"train": 0.88, "dev": 0.12}, seed=seed)
    model = Linear(seed=seed, turns=2, **SETTINGS).fit(parts["train"])
    return model.compact(KEEP).calibrate(parts["dev"])


def out_of_fold(examples: Sequence[Example]) -> dict[str, float]:
    """Return a score for every example, by a model of the recipe that was not trained on it."""
    scores: dict[str, float] = {}
    for number, fold in enumerate(folds(examples, FOLDS, seed=0, by_source=True)):
        said: list[Prediction] = learn(fold.train).predict(fold.test)
        scores |= {p.example_id: float(p.score or 0.0) for p in said}
        print(f"fold {number + 1} of {FOLDS}", flush=True)
    return scores


def bands(examples: Mapping[str, Sequence[Example]], scores: Mapping[str, float]) -> Bands:
    """Return a band per language, every corpus with the same weight."""
    chosen = {}
    for language in LANGUAGES:
        rows = [e for each in examples.values() for e in _some(each, 1_000) if e.language == language]
        labels = np.array([bool(e.label) for e in rows])
        values = np.array([scores[e.id] for e in rows])
        plain = np.array([scores[e.id] for e in rows if e.source in (SOURCE, PAIRS) and not e.label])
        chosen[language] = choose_band(labels, values, coverage=COVERAGE, plain=plain, min_specificity=MIN_SPECIFICITY)
    return Bands(PREVALENCE, chosen)


def _some(examples: Sequence[Example], count: int) -> list[Example]:
    return sample(examples, count, seed=1, key=lambda e: e.id) if len(examples) > count else list(examples)


def table(
    examples: Mapping[str, Sequence[Example]], scores: Mapping[str, float], answers: Bands
) -> tuple[str, dict[str, dict[str, float]]]:
    """Return the rows of the card, and the numbers by corpus."""
    rows, numbers = [], {}
    for name, each in examples.items():
        for language in LANGUAGES:
            part = [e for e in each if e.language == language]
            if name.endswith("-c") or len({e.label for e in part}) < 2:
                continue
            label = name if name not in (SOURCE, PAIRS) else f"{name} ({language})"
            numbers[label] = facts(part, scores, answers)
            rows.append(
                "| {} | {:,} | {auc:.3f} | {forced:.3f} | {coverage:.0%} | {decided:.3f} |".format(
                    label, len(part), **numbers[label]
                )
            )
    return "\n".join(rows), numbers


def facts(examples: Sequence[Example], scores: Mapping[str, float], answers: Bands) -> dict[str, float]:
    """Return AUC, balanced accuracy of all answers, coverage, and balanced accuracy of the decided ones."""
    truth = np.array([bool(e.label) for e in examples])
    values = np.array([scores[e.id] for e in examples])
    low, high = answers.languages[examples[0].language]
    decided = (values <= low) | (values >= high)
    return {
        "auc": area_under_curve(truth, values), "forced": _balanced(truth, values >= (low + high) / 2),
        "coverage": float(decided.mean()), "decided": _balanced(truth[decided], values[decided] >= high),
    }  # fmt: skip


def _balanced(truth: np.ndarray, called: np.ndarray) -> float:
    sides = [called[truth].mean() if truth.any() else 0.5, (~called[~truth]).mean() if (~truth).any() else 0.5]
    return float(np.mean(sides))


def card(rows: str, answers: Bands, bytes_: int) -> str:
    """Return the model card: data, scores, and where the detector fails."""
    shown = "; ".join(f"{name} {low:.2f} to {high:.2f}" for name, (low, high) in answers.languages.items())
    share = f"{answers.prevalence:.0%}"
    return f"""# The detector `base`

A statistical guess. It counts words and runs of characters, of the text and of the two turns before it; it
understands nothing. It has three answers: sarcastic, not sarcastic, and cannot tell. A score is the
probability of sarcasm where {share} of all texts are sarcastic (`--prevalence` changes it). A text that
its author marked (/s, #sarcasm) is sarcastic. Languages other than English, Korean and Arabic are not
supported.

- System: `linear`, {bytes_ / 1e6:.1f} MB, no code in it. Made by `training/base_detector.py`, seed 0.
- Trained on: the deadpan starter set, everyday lines and pairs of our own (CC0-1.0), and (MIT)
  iSarcasmEval (English and Arabic, with rephrases), ArSarcasm-v2 (Arabic), Kocasm (Korean), MUStARD
  (English). Tweets, television lines, written pairs.
- Not trained on: SARC, FigLang 2020 and others that state no licence. Comments belong to those who wrote
  them, and weights made from them are not ours to give away. `training/base_detector.py --everything`
  trains on what you have.
- Labels: by authors (iSarcasmEval, the starter set) and by annotators (the others): two different questions.
- Cannot tell: scores, at an even prevalence, of {shown}.

Scores by {FOLDS}-fold cross-validation of the recipe over all corpora together (groups kept whole). "All" is
the balanced accuracy if every text must be decided, "decided" that of the texts it decides, "coverage" their
share:

| corpus | n | AUC | all | coverage | decided |
|---|---:|---:|---:|---:|---:|
{rows}

The bands were chosen on these out-of-fold scores, so the last two columns are slightly optimistic.

Where it fails
- On the starter set's pairs, written so that words alone cannot tell, it is near chance.
- Tweets are most of the English it knows: not formal prose, not other dialects, not new slang.
- Sarcasm that needs knowledge of the world, or of the speaker, is not sarcasm to it.

Not for decisions about people: moderation, hiring, grading or the like.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--everything", action="store_true", help="add corpora without a stated licence")
    parser.add_argument("--out", type=Path, default=SHIPPED[BASE])
    options = parser.parse_args()
    if options.everything and options.out == SHIPPED[BASE]:
        parser.error("--everything is for a detector of your own: name a folder with --out")
    by_name = corpora(options.data_dir, options.everything)
    everything = [example for each in by_name.values() for example in each]
    scores = out_of_fold(everything)
    detector = Detector("linear", turns=2, **SETTINGS)
    detector.predictor = learn(everything)
    detector.bands = bands(by_name, scores)
    detector.rate_ = 0.5
    low, high = detector.bands.languages["en"]
    middle = (low + high) / 2
    detector.threshold_ = middle * PREVALENCE / (middle * PREVALENCE + (1 - middle) * (1 - PREVALENCE))
    detector.seen_ = SeenTexts.of(everything)
    sizes = {name: len(rows) for name, rows in by_name.items()}
    options.out.mkdir(parents=True, exist_ok=True)
    about = {"data": sizes}
    detector.save(options.out, command="training/base_detector.py", about=about)
    bytes_ = sum(path.stat().st_size for path in options.out.rglob("*") if path.is_file())
    rows, numbers = table(by_name, scores, detector.bands)
    write_text(options.out / "MODEL_CARD.md", card(rows, detector.bands, bytes_))
    detector.save(options.out, command="training/base_detector.py", about=about)
    english = [facts for name, facts in numbers.items() if by_name.get(name, [None])[0] and
               by_name[name][0].language == "en"]  # fmt: skip
    mean = {key: float(np.mean([each[key] for each in english])) for key in ("auc", "forced", "coverage", "decided")}
    sys.stdout.write(f"{rows}\nEnglish corpora, mean: {mean}\n{options.out}: {bytes_ / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
