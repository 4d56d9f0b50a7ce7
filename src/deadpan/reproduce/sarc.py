"""SARC (Khodak et al. 2018): Tables 1 to 3, Figures 2 to 4, the noise of the labels and people."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS
from deadpan.detect.systems.baselines import NGrams
from deadpan.errors import DataError, ModelError
from deadpan.presets import preset_values
from deadpan.records import Example
from deadpan.reproduce.people import SARCASTIC, chosen_right, open_people
from deadpan.reproduce.published import Measured, cell_id, read_paper
from deadpan.reproduce.trials import (
    Job,
    ReproductionOptions,
    TrialRunner,
    cells_of,
    exact,
    measured,
    size_jobs,
    sizes_of,
)
from deadpan.splits import folds
from deadpan.stats import Interval, wilson
from deadpan.stats.interval import LEVEL
from deadpan.stats.ranking import auc_interval

_SIZES = {
    "Oraby et al. 2016 (IAC)": ("oraby-gen", "oraby-hyp", "oraby-rq"),
    "Riloff et al. 2013 (Twitter)": ("riloff",),
    "Ptacek et al. 2013 (Twitter)": ("ptacek",),
    "SARC (Reddit)": ("sarc-raw",),
}
_SIZE_NOTES = {
    "Riloff et al. 2013 (Twitter)": "the 175,000 tweets; copies in circulation have the annotated ones",
    "Ptacek et al. 2013 (Twitter)": "the texts of 780,000 tweet ids, of which some can still be read",
    "SARC (Reddit)": "the whole sarc.csv of nlp.cs.princeton.edu/SARC/; a part is counted here",
}
# Column of Table 2 -> corpus, score, and least count of an n-gram.
_BENCHMARKS = {
    "all-bal": ("sarc-main", "pair_accuracy", 5),
    "pol-bal": ("sarc-pol", "pair_accuracy", 1),
    "pol-unbal": ("sarc-pol-unbalanced", "sequence_f1", 100),
}
_SHIPPED = "Sentence Embedding, shipped vectors"
# Row of Table 2 -> system, and the setting that is not its default.
_METHODS = {
    "Bag-of-Words": ("bow", "min_count"),
    "Bag-of-Bigrams": ("bigrams", "min_count"),
    "Sentence Embedding": ("embedding", "vectors"),
    _SHIPPED: ("embedding", ""),
    "Random": ("random", ""),
}
_VECTORS = (
    "GloVe vectors of 1,600 dimensions on Amazon reviews (github.com/NLPrinceton/SARC): give a text file of "
    "vectors with --vectors"
)
_REASONS = {
    _SHIPPED: "other vectors: 256 dimensions of wordllama, not 1,600 of GloVe on Amazon reviews",
    "Sentence Embedding": "other vectors than the paper's, GloVe on Amazon reviews with 1,600 dimensions",
}
_PART = "trained on four fifths of the {n:,} pairs whose texts are here; the paper's on the whole corpus"
_SECONDS = {"random": 1.0, "bow": 3.0, "bigrams": 6.0, "embedding": 4.0}
FEWEST = 1_000
"""Comments of a subreddit in Figure 2, where a part of the corpus is here; in the whole one it is a million."""
# Comments from which a raw file is the whole corpus.
_WHOLE = 100_000_000
# Training pairs from which the benchmark is the published one.
_ALL_PAIRS = 120_000
# A measure whose area under the curve lies here says little about the label.
_UNINFORMATIVE = (0.4, 0.6)


def jobs(options: ReproductionOptions) -> list[Job]:
    """Return the jobs of the paper."""
    made = size_jobs("sarc", "table-1", _SIZES, _SIZE_NOTES)
    made += [_subreddits(), _measure("figure-3", "score", "score"), _measure("figure-4", "length", "words")]
    made += [
        _audit(),
        _sequences("all subreddits", "sarc-main-unbalanced"),
        _sequences("politics", "sarc-pol-unbalanced"),
    ]
    made += [_baseline(row, column, options) for column in _BENCHMARKS for row in _METHODS]
    made += [_people(column, name, row) for column, name, row in _PEOPLE]
    return [*made, weight_job("table-3", "sarc-main", 5)]


# ---------------------------------------------------------------- Table 2


def _baseline(row: str, column: str, options: ReproductionOptions) -> Job:
    source, metric, least = _BENCHMARKS[column]
    (system, setting), id = _METHODS[row], cell_id("table-2", row, column)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        values = {"min_count": least, "vectors": str(runner.options.vectors or "")}
        if setting == "vectors" and not values["vectors"]:
            runner.files(source)  # without the corpus, that is what is needed first
            raise ModelError(_VECTORS)
        settings = {setting: values[setting]} if setting else {}
        found = runner.scores(source, system, settings)
        reason = _REASONS.get(row, "")
        if not reason and not found.official:
            reason = _PART.format(n=sizes_of(runner, source)["sarcastic"])
        same = found.official and not runner.missing(source) and row != _SHIPPED
        return {id: Measured(found.values[metric], how=found.how, reason=reason, same=same)}

    seconds = _SECONDS[system] * (3 if column == "all-bal" else 1) * (1 if options.quick else FOLDS)
    return Job(f"table-2 {row} {column}", (id,), work, seconds=seconds, sources=(source,))


# ---------------------------------------------------------------- figures from raw comments


def _raw(runner: TrialRunner) -> tuple[str, list[Example]]:
    """Return the raw comments: the released file, or the copy on Kaggle."""
    for source in ("sarc-raw", "sarc-kaggle"):
        try:
            return source, runner.corpus(source).examples
        except DataError as missing:
            last = missing
    raise last


def _subreddits() -> Job:
    rows = ("science", "asoiaf", "all comments, %")
    ids = cells_of("figure-2", rows, ["share of sarcastic comments"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        shares = _shares(runner)
        everything = wilson(sum(n for n, _ in shares.values()), sum(n for _, n in shares.values()))
        how = f"{everything.n:,} raw comments, subreddits: {len(shares):,}"
        found: dict[str, Measured] = {}
        need = (
            "data: the whole sarc.csv of nlp.cs.princeton.edu/SARC/; "
            f"this file has {{}} and is {100 * (everything.value or 0):.0f} % sarcastic"
        )
        for row, id in zip(rows[:2], ids[:2], strict=True):
            if row not in shares:
                found[id] = Measured(how=how, needs=need.format(f"no comment of r/{row}"))
                continue
            share = wilson(*shares[row])
            below = (share.high or 0.0) < (everything.value or 0.0)
            reason = "a part of the corpus" if below else f"r/{row} is not below the mean"
            found[id] = Measured(share, how=how, agrees=below, reason=reason, same=everything.n > _WHOLE)
        whole = everything.n > _WHOLE
        text = f"{100 * (everything.value or 0.0):.2f} %"
        found[ids[2]] = Measured(
            everything, text, how, needs="" if whole else need.format(f"{everything.n:,} comments"),
            agrees=whole and abs(100 * (everything.value or 0.0) - 0.25) < 0.05, same=whole,
        )  # fmt: skip
        return found

    return Job("figure-2", ids, work, {"figure-2": _draw_subreddits})


def _shares(runner: TrialRunner) -> dict[str, tuple[int, int]]:
    _, examples = _raw(runner)
    everything = Counter(str(example.meta.get("subreddit", "")) for example in examples)
    sarcastic = Counter(str(e.meta.get("subreddit", "")) for e in examples if e.label)
    million = preset_values("sarc", "corpus figures")["min_comments"]
    fewest = million if len(examples) > _WHOLE else min(FEWEST, len(examples))
    return {name: (sarcastic[name], n) for name, n in everything.items() if n >= fewest}


def _draw_subreddits(runner: TrialRunner) -> Any:
    from deadpan.figures import whiskers

    shares = {f"r/{name}": wilson(*counts) for name, counts in _shares(runner).items()}
    ranked = dict(sorted(shares.items(), key=lambda one: -(one[1].value or 0.0))[:30])
    return whiskers("Share of sarcastic comments by subreddit, in the file that is here", ranked, unit="share")


def _measure(exhibit: str, noun: str, unit: str) -> Job:
    (id,) = cells_of(exhibit, ["raw comments"], [f"area under the curve of the {noun}"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        source, examples = _raw(runner)
        kept = [example for example in examples if value_of(example, noun) is not None]
        if not kept:
            raise DataError(f"{source}: no comment has a {noun}: give the released file with all its columns")
        area = auc_interval(
            np.array([bool(e.label) for e in kept]),
            np.array([value_of(e, noun) for e in kept], dtype=np.float64),
            np.arange(len(kept)), resamples=500, level=0.95, seed=0,
        )  # fmt: skip
        low, high = _UNINFORMATIVE
        agrees = area.value is not None and low <= area.value <= high
        reason = "a part of the corpus" if agrees else f"the {noun} alone says more than that about the label"
        how, whole = f"{len(kept):,} raw comments; 0.5 is chance", len(kept) > _WHOLE
        return {id: Measured(area, how=how, agrees=agrees, reason=reason, same=whole)}

    return Job(exhibit, (id,), work, {exhibit: _drawing(noun, unit)})


def value_of(example: Example, noun: str) -> float | None:
    """Return the score of a comment, or its length in words."""
    if noun == "length":
        return float(len(example.response.text.split()))
    value = example.meta.get("score")
    return float(value) if isinstance(value, int) else None


def _drawing(noun: str, unit: str) -> Callable[[TrialRunner], Any]:
    limits = (-20.0, 40.0) if noun == "score" else (0.0, 80.0)

    def draw(runner: TrialRunner) -> Any:
        from deadpan.figures import distribution

        groups: dict[str, list[float]] = {"sarcastic": [], "sincere": []}
        for example in _raw(runner)[1]:
            value = value_of(example, noun)
            if value is not None:
                groups["sarcastic" if example.label else "sincere"].append(min(max(value, limits[0]), limits[1]))
        medians = {name: float(np.median(values)) for name, values in groups.items()}
        title = f"Median {noun}: {medians['sarcastic']:g} if sarcastic, {medians['sincere']:g} if not"
        return distribution(title, groups, unit=f"{unit}, cut off at {limits[0]:g} and {limits[1]:g}")

    return draw


# ---------------------------------------------------------------- sequences


def _sequences(row: str, source: str) -> Job:
    ids = cells_of("section-5.1", [row], ["sequences", "sarcastic, %"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        from deadpan.datasets.description import describe

        sequences = describe(runner.corpus(source)).sequences
        gone = runner.missing(source)
        need = f"data: {gone}" if gone else ""
        share = exact(100 * (sequences.sarcastic_share or 0.0), sequences.n)
        return measured(ids, (exact(sequences.n), share), how=f"counted in {source}", needs=need)

    return Job(f"section-5.1 {row}", ids, work, sources=(source,))


# ---------------------------------------------------------------- people

_PEOPLE = (("all-bal", "pairs-main", "all subreddits"), ("pol-bal", "pairs-pol", "politics"))
_HUMAN = ("Human (Average)", "Human (Majority)")


def _people(column: str, name: str, row: str) -> Job:
    ids = (*cells_of("table-2", _HUMAN, [column]), cell_id("section-5.3", row, "kappa"))

    def work(runner: TrialRunner) -> dict[str, Measured]:
        study = open_people(runner, name)
        how = f"{len(study.items):,} pairs, {len(study.ratings.raters):,} people"
        return measured(ids, [*chosen_right(study), study.kappa()], how=how, reason="other people, other pairs")

    return Job(f"people {name}", ids, work)


def _audit() -> Job:
    ids = cells_of("section-4.1", ["false positives", "false negatives"], ["%"])

    def work(runner: TrialRunner) -> dict[str, Measured]:
        study = open_people(runner, "audit")
        votes = study.votes()
        found = {}
        for id, label in zip(ids, (True, False), strict=True):
            given = [votes[i] == SARCASTIC for i, item in study.items.items() if i in votes and item.label is label]
            value = wilson(sum(answer is not label for answer in given), len(given))
            found[id] = Measured(value, how=f"{len(given):,} comments", reason="other people, other comments")
        return found

    return Job("audit", ids, work)


_PARTS = 5
_QUICK_PARTS = 3
STUDENT = {_QUICK_PARTS: 4.303, _PARTS: 2.776}
"""The 97.5 % quantile of Student's t with one degree of freedom less than there are models."""
_TOP = 10


def weight_job(exhibit: str, source: str, least: int) -> Job:
    """Return the job of a table of weights: bag of bigrams, n-grams that occur `least` times."""
    cells = [cell for cell in read_paper("sarc").cells() if cell.exhibit == exhibit]
    grams = [cell.row for cell in cells]

    def work(runner: TrialRunner) -> dict[str, Measured]:
        found = runner.once(
            f"weights {source}", {"least": least, "grams": grams},
            lambda: _weights(runner, source, least, grams), sources=(source,),
        )  # fmt: skip
        n, k = found["pairs"], len(found["models"])
        how = f"{k} models, each without one part of {n:,} training pairs; jackknife interval"
        return {
            cell.id: _measured(cell.row, [model.get(cell.row) for model in found["models"]], how, found)
            for cell in cells
        }

    return Job(f"{exhibit} weights", tuple(cell.id for cell in cells), work, seconds=40.0, sources=(source,))


def _weights(runner: TrialRunner, source: str, least: int, grams: Sequence[str]) -> dict[str, Any]:
    rows = [e for e in runner.corpus(source).examples if e.label is not None and e.split != "test"]
    models: list[dict[str, float]] = []
    top: tuple[list[str], list[str]] = ([], [])
    for fold in folds(rows, _QUICK_PARTS if runner.options.quick else _PARTS):
        system = Detector("bigrams", min_count=least).fit(fold.train).predictor
        if not isinstance(system, NGrams):
            raise DataError("bigrams is replaced by a plug-in that has no weights: remove it")
        known = {gram: float(system.weights_[at]) for gram, at in system.vocabulary_.items() if gram in grams}
        models.append(known)
        high, low = system.top_features(_TOP)
        top = top if top[0] else ([gram for gram, _ in high], [gram for gram, _ in low])
    return {"models": models, "pairs": len(rows) // 2, "top": list(top)}


def _measured(gram: str, values: Sequence[float | None], how: str, found: Mapping[str, Any]) -> Measured:
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return Measured(text="too rare to have a weight", how=how, agrees=False,
                        reason="occurs fewer than 5 times in the pairs that are here")  # fmt: skip
    k = len(known)
    mean = math.fsum(known) / k
    error = math.sqrt((k - 1) / k * math.fsum((value - mean) ** 2 for value in known))
    half = STUDENT[k] * error
    listed = gram in found["top"][mean < 0]
    place = "among our ten strongest too" if listed else "not among our ten strongest"
    reason = f"{place}; our training part is a part of the published one, and C was chosen on it"
    interval, same = Interval(mean, mean - half, mean + half, LEVEL, k), found["pairs"] >= _ALL_PAIRS
    return Measured(interval, how=f"{how}; {place}", reason=reason, same=same)
