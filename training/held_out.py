"""What a detector scores on the held-out eighth: calibration and bands from a quarter of it, numbers from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from corpora import CORPORA
from deadpan.detect.systems.logistic import fit_scale
from deadpan.detect.systems.mixture import corpus_weights
from deadpan.detect.verdicts import Bands, rescaled
from deadpan.draws import draw
from deadpan.records import Example
from deadpan.stats.ranking import area_under_curve
from everyday import PAIRS, SOURCE

COVERAGE = 0.65
"""Share of real posts that a detector decides."""
EVEN = 500
"""Examples of a corpus that count in full: corpora count nearly equally."""
LENGTH_BANDS = ((0, 60), (60, 110), (110, 10_000))
"""Characters of a text: where length alone tells something, scores are compared within a band too."""
SIX = ("sarc-pol", "isarcasm", "isarcasm_eval-en", "semeval2018-a", "figlang2020-twitter", "figlang2020-reddit")
TEXTS = {corpus.name: corpus.texts for corpus in CORPORA} | {
    SOURCE: "everyday lines", PAIRS: "everyday answers", "starter-en": "written dialogues",
    "starter-ko": "Korean written dialogues",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scored:
    """Held-out examples with the probabilities of one detector, half of the texts being sarcastic."""

    examples: Sequence[Example]
    scores: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        return np.array([bool(example.label) for example in self.examples])

    def where(self, mask: Sequence[bool]) -> Scored:
        rows = np.flatnonzero(np.asarray(mask, dtype=bool))
        return Scored([self.examples[row] for row in rows], self.scores[rows])

    def of(self, *sources: str) -> Scored:
        return self.where([example.source in sources for example in self.examples])


def is_dev(example: Example) -> bool:
    """Return True for the quarter of the held-out part from which choices are made."""
    return draw(0, f"dev {example.group or example.sequence or example.id}")[0] % 4 == 0


def is_post(example: Example) -> bool:
    """Return True for a text that somebody published, False for one that was written for a detector."""
    return example.source in {corpus.name for corpus in CORPORA}


def unknown_origin(examples: Sequence[Example]) -> list[Example]:
    """Return the examples as a detector meets them: nothing tells which corpus they are of, or who labelled them."""
    return [replace(example, source="", label_kind="") for example in examples]


def bands(scored: Scored, languages: Sequence[str]) -> tuple[Bands, dict[str, float]]:
    """Return calibration and "cannot tell" band of each language from the dev quarter, and the risk beside it."""
    chosen, scales, risks = {}, {}, {}
    for language in languages:
        mine = scored.where([e.language == language and is_dev(e) and is_post(e) for e in scored.examples])
        odds = np.log(mine.scores / (1 - mine.scores))
        weights = corpus_weights(mine.examples, EVEN)
        scales[language] = fit_scale(odds, mine.labels, weights)
        even = np.array([rescaled(float(score), *scales[language]) for score in mine.scores])
        *chosen[language], risks[language] = equal_risk_band(mine.labels, even, weights)
    return Bands(0.5, {name: (low, high) for name, (low, high) in chosen.items()}, scales), risks


def equal_risk_band(
    labels: np.ndarray, scores: np.ndarray, weights: np.ndarray, coverage: float = COVERAGE
) -> tuple[float, float, float]:
    """Return the narrowest band outside which both answers are wrong equally often, and how often that is."""
    order = np.argsort(scores)
    ranked, truth, weight = scores[order], labels[order], weights[order]
    below = np.cumsum(weight * truth) / np.cumsum(weight)
    above = (np.cumsum((weight * ~truth)[::-1]) / np.cumsum(weight[::-1]))[::-1]
    share = np.cumsum(weight) / weight.sum()
    few = int(0.05 * len(ranked))  # the first risks are those of a handful of texts
    for risk in np.arange(0.05, 0.5, 0.0025):
        low = np.flatnonzero((below <= risk) & (np.arange(len(ranked)) >= few))
        high = np.flatnonzero((above <= risk) & (np.arange(len(ranked)) < len(ranked) - few))
        if len(low) and len(high) and share[low[-1]] + 1 - share[high[0]] >= coverage:
            return float(ranked[low[-1]]), float(max(ranked[high[0]], ranked[low[-1]])), float(risk)
    return 0.5, 0.5, 0.5


def calibrated(scored: Scored, answers: Bands) -> Scored:
    """Return the scores as the detector shows them."""
    even = [rescaled(float(s), *answers.scales.get(e.language, (1.0, 0.0)))
            for e, s in zip(scored.examples, scored.scores, strict=True)]  # fmt: skip
    return Scored(scored.examples, np.array(even))


def facts(scored: Scored, answers: Bands) -> dict[str, Any]:
    """Return AUC, Brier score, share of decided texts and their balanced accuracy, both labels weighted equally."""
    truth, scores = scored.labels, scored.scores
    language = scored.examples[0].language
    low, high = answers.languages[language]
    decided = (scores <= low) | (scores >= high)
    called = scores >= high
    sides = [np.mean(called[decided & truth]), np.mean(~called[decided & ~truth])]
    brier = [np.mean((scores[truth] - 1) ** 2), np.mean(scores[~truth] ** 2)]
    return {
        "n": len(truth), "auc": round(area_under_curve(truth, scores), 3), "brier": round(float(np.mean(brier)), 3),
        "decided": round(float((decided[truth].mean() + decided[~truth].mean()) / 2), 3),
        "balanced_accuracy": round(float(np.mean(sides)), 3),
    }  # fmt: skip


def report(scored: Scored, answers: Bands) -> list[dict[str, Any]]:
    """Return a row per corpus and language of the test part."""
    test = calibrated(scored.where([not is_dev(e) for e in scored.examples]), answers)
    rows = []
    for source, language in dict.fromkeys((e.source, e.language) for e in test.examples):
        mine = test.where([(e.source, e.language) == (source, language) for e in test.examples])
        if language in answers.languages and len(mine.labels) >= 40 and 0 < mine.labels.sum() < len(mine.labels):
            row = {"corpus": source, "texts": TEXTS[source], "language": language, **facts(mine, answers)}
            pairs = pairs_in_order(mine)
            rows.append(row | ({"pairs": pairs} if pairs else {}))
    return rows


def pairs_in_order(scored: Scored) -> float | None:
    """Return the share of pairs whose sarcastic text has the higher score; None without pairs."""
    sides: dict[str, dict[bool, float]] = {}
    for example, score in zip(scored.examples, scored.scores, strict=True):
        if example.sequence:
            sides.setdefault(example.sequence, {})[bool(example.label)] = float(score)
    pairs = [pair for pair in sides.values() if len(pair) == 2]
    return round(float(np.mean([pair[True] > pair[False] for pair in pairs])), 3) if len(pairs) > 20 else None


def six_sets(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Return the means over the six English corpora with a published test part."""
    mine = [row for row in rows if row["corpus"] in SIX]
    return {key: round(float(np.mean([row[key] for row in mine])), 3)
            for key in ("auc", "brier", "decided", "balanced_accuracy")}  # fmt: skip


def by_length(scored: Scored, source: str) -> dict[str, float]:
    """Return the AUC of length alone (longer or shorter) beside that of the detector, whole and within length bands."""
    mine = scored.of(source)
    lengths = np.array([len(example.response.text) for example in mine.examples])
    alone = area_under_curve(mine.labels, lengths.astype(float))
    within = []
    for low, high in LENGTH_BANDS:
        part = mine.where((lengths >= low) & (lengths < high))
        if 0 < part.labels.sum() < len(part.labels):
            within.append((len(part.labels), area_under_curve(part.labels, part.scores)))
    mean = sum(n * auc for n, auc in within) / sum(n for n, _ in within)
    whole = area_under_curve(mine.labels, mine.scores)
    named = {"length_alone": max(alone, 1 - alone), "detector": whole, "within_length_bands": mean}
    return {name: round(value, 3) for name, value in named.items()}
