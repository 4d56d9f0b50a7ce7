"""The first stop: read the starter set, describe it, train a detector of words, and see how far words go."""

from __future__ import annotations

from dataclasses import replace

from deadpan.cli.tour import Guide
from deadpan.datasets import Dataset, read_dataset
from deadpan.datasets.description import describe
from deadpan.detect.ngrams import BagOfBigrams
from deadpan.draws import sample
from deadpan.records import Example, Prediction
from deadpan.splits import folds
from deadpan.stats import ScoreTable, score_predictions

SHOWN = ("pair_accuracy", "accuracy", "macro_f1", "f1")
NAMES = {
    "pair_accuracy": "which of the two is sarcastic",
    "accuracy": "accuracy",
    "macro_f1": "macro F1",
    "f1": "F1 of sarcastic",
}
FOLDS = 5


def stop(guide: Guide) -> None:
    """Both languages, cross-validated by pair, with what the model learnt from English."""
    guide.page.heading("A first detector")
    guide.page.text(
        "The starter set comes with the package. Every item is a pair: one context, a sarcastic answer and a "
        "sincere one that share words. So a model that counts words should find it hard, and does."
    )
    for name, language in (("starter-en", "English"), ("starter-ko", "Korean")):
        guide.step(f"{language}: reading and describing")
        dataset = read_dataset(name)
        _describe(guide, dataset, language)
        guide.step(f"{language}: training and scoring, {FOLDS} folds")
        scored = _cross_validate(dataset.examples, guide.seed)
        _show_scores(guide, scored, language)
    guide.step("the most telling words")
    _show_telling(guide)


def _describe(guide: Guide, dataset: Dataset, language: str) -> None:
    facts = describe(dataset)
    guide.result(f"{language} starter set: examples, half of them sarcastic", f"{facts.n:,}", facts.n)
    guide.page.heading(f"{language}: two of {facts.n // 2} pairs", 3)
    first = sample(dataset, 2, seed=guide.seed, key=lambda e: e.sequence if e.label else f"~{e.sequence}")
    chosen = {example.sequence for example in first}
    for example in dataset:
        if example.sequence in chosen:
            # The sincere answer stands under the context its twin has already shown.
            guide.page.conversation(example if example.label else replace(example, context=()))


def _cross_validate(examples: list[Example], seed: int) -> ScoreTable:
    predictions: list[Prediction] = []
    for fold in folds(examples, k=FOLDS, seed=seed):
        predictions += BagOfBigrams(seed=seed).fit(fold.train).predict(fold.test)
    return score_predictions(examples, predictions, seed=seed)


def _show_scores(guide: Guide, scored: ScoreTable, language: str) -> None:
    rows = [(NAMES[name], scored.scores[name]) for name in SHOWN if name in scored.scores]
    guide.page.table(("score", "value"), rows, caption=f"{language}, bag of bigrams, {FOLDS} folds")
    pairs = scored.scores["pair_accuracy"]
    guide.result(f"{language}: which of a pair is sarcastic (chance 0.5)", pairs, pairs.n)
    guide.page.note(
        "Chance is 0.5. The interval resamples whole pairs. What is left to find is in the context, "
        "and that is what the later detectors are for."
    )


def _show_telling(guide: Guide) -> None:
    model = BagOfBigrams(seed=guide.seed).fit(read_dataset("starter-en").examples)
    sarcastic, sincere = model.telling(8)
    guide.page.heading("The most telling words", 3)
    guide.page.table(
        ("for sarcastic", "weight", "for sincere", "weight "),
        [(a, round(x, 2), b, round(y, 2)) for (a, x), (b, y) in zip(sarcastic, sincere, strict=True)],
    )
    guide.result("most telling of sarcastic", ", ".join(word for word, _ in sarcastic[:5]))
    guide.result("most telling of sincere", ", ".join(word for word, _ in sincere[:5]))
