"""Probes: what texts and the columns beside them give away about the label, measured on held-out rows.

Duplicates, threads and pairs are never in two folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deadpan.duplicates import distinct
from deadpan.errors import need
from deadpan.records import Example
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, cluster_codes, wilson

MIN_COUNT = 20
"""Least number of texts with a token or a column; fewer could be chance."""

BOUND = 0.8
"""Least part of the way from the base rate to certainty: a share of 0.9 if the labels are balanced."""

_FOLDS = 5
_TOPICS = 20
_NON_LATIN = 0.5

Fit = Callable[[Any, BoolArray], Any]


def clusters_of(examples: Sequence[Example], *, authors: bool = True) -> IntArray:
    """Return the clusters that no fold may cross: groups, sequences and identical texts.

    With `authors` False a group does not count: a classifier that knows authors only needs to meet them.
    """
    _, keys = distinct(example.response.text for example in examples)
    texts = [f"text {key}" for key in keys.tolist()]
    groups = [example.group if authors else "" for example in examples]
    return cluster_codes(groups, [example.sequence for example in examples], texts)


def fold_numbers(clusters: IntArray, seed: int, folds: int = _FOLDS) -> IntArray:
    """Return a fold per row: clusters are shuffled and dealt out so that folds are of about equal size."""
    rng = np.random.default_rng(seed)
    sizes = np.bincount(clusters)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    load = np.zeros(folds, dtype=np.int64)
    fold_of = np.zeros(len(sizes), dtype=np.int64)
    large = int((sizes[order] > 1).sum())
    for cluster in order[:large]:
        fold_of[cluster] = int(load.argmin())
        load[fold_of[cluster]] += sizes[cluster]
    rest = order[large:]
    fold_of[rest] = np.arange(len(rest)) % folds
    return fold_of[clusters]


def held_out_scores(matrix: Any, labels: BoolArray, fold: IntArray, *, strength: float = 1.0) -> FloatArray:
    """Return the probability of sarcasm of every row, by a logistic regression trained on the other folds."""
    LogisticRegression = need("sklearn.linear_model", "train").LogisticRegression

    scores = np.full(len(labels), float(labels.mean()))
    for number in np.unique(fold):
        test = fold == number
        if labels[~test].all() or not labels[~test].any():
            continue
        wide = matrix.shape[1] > len(labels)
        model = LogisticRegression(
            C=strength,
            solver="liblinear",
            class_weight="balanced",
            max_iter=300,
            tol=1e-3,
            dual=wide,
            random_state=0,  # the dual solver visits rows in random order
        )
        model.fit(matrix[np.flatnonzero(~test)], labels[~test])
        scores[test] = model.predict_proba(matrix[np.flatnonzero(test)])[:, 1]
    return scores


def feature_matrix(features: Sequence[dict[str, float]]) -> Any:
    """Return named features as a sparse matrix: numbers as ten steps by rank, so that no shape is assumed."""
    csr_matrix = need("scipy.sparse", "train").csr_matrix
    from sklearn.feature_extraction import DictVectorizer

    counted: dict[str, list[float]] = {}
    for row in features:
        for name, value in row.items():
            if value not in (0.0, 1.0):
                counted.setdefault(name, [])
    for name in counted:
        counted[name] = sorted(row.get(name, 0.0) for row in features)
    edges = {name: np.unique(np.quantile(values, np.linspace(0.1, 0.9, 9))) for name, values in counted.items()}
    stepped = [
        {(f"{name} > {edges[name][step]:g}" if name in edges else name): 1.0
         for name, value in row.items() if value
         for step in (range(int(np.searchsorted(edges[name], value))) if name in edges else (0,))}
        for row in features
    ]  # fmt: skip
    if not any(stepped):
        return csr_matrix((len(features), 1))
    return DictVectorizer().fit_transform(stepped)


def word_matrix(texts: Sequence[str]) -> Any:
    """Return tf-idf of words and word pairs, or of character runs where words are not Latin."""
    TfidfVectorizer = need("sklearn.feature_extraction.text", "train").TfidfVectorizer
    letters = "".join(texts[:2_000])
    latin = sum(c.isascii() for c in letters if c.isalpha()) / max(sum(c.isalpha() for c in letters), 1)
    how: dict[str, Any] = {"token_pattern": r"[^\W_]+|[^\w\s]", "ngram_range": (1, 2)}
    if latin < _NON_LATIN:
        how = {"analyzer": "char_wb", "ngram_range": (2, 4)}
    least = 2 if len(texts) > 500 else 1
    return TfidfVectorizer(sublinear_tf=True, min_df=least, max_features=40_000, **how).fit_transform(texts)


def topic_features(texts: Sequence[str], seed: int, topics: int = _TOPICS) -> list[dict[str, float]]:
    """Return the topic of each text: the cluster of its content words, found without the labels."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < 10 * topics:
        topics = max(2, len(texts) // 20)
    try:
        words = TfidfVectorizer(min_df=3, max_df=0.05, max_features=20_000, token_pattern=r"[^\W\d_]{3,}")
        matrix = words.fit_transform(texts)
    except ValueError:  # no word is left
        return [{} for _ in texts]
    if matrix.shape[1] <= topics:
        return [{} for _ in texts]
    reduced = TruncatedSVD(min(50, matrix.shape[1] - 1), random_state=seed).fit_transform(matrix)
    reduced /= np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-9)
    found = MiniBatchKMeans(topics, random_state=seed, n_init=3, batch_size=2048).fit_predict(reduced)
    return [{f"topic {number}": 1.0} for number in found]


@dataclass(frozen=True, slots=True)
class LabelColumn:
    """A column that nearly decides the label: `accuracy` is that of the majority of the other rows with its value.

    `n` rows have a value that another row has too, `base` is the share of the more frequent label among them.
    """

    column: str
    values: int
    n: int
    accuracy: float
    base: float


def label_columns(
    examples: Sequence[Example], *, min_count: int = MIN_COUNT, bound: float = BOUND
) -> list[LabelColumn]:
    """Find columns beside the text that nearly decide the label; each row is judged by the other rows.

    An id decides every label of the rows it was read from and none of any other, so values that occur once
    do not count.
    """
    counts: dict[str, dict[str, list[int]]] = {}
    for example in examples:
        if example.label is None:
            continue
        for column, value in example.meta.items():
            if isinstance(value, str | int | bool) and str(value):
                counts.setdefault(column, {}).setdefault(str(value), [0, 0])[bool(example.label)] += 1
    found = (_label_column(column, values, min_count, bound) for column, values in counts.items())
    return sorted((one for one in found if one), key=lambda one: (-one.n, one.column))


def _label_column(column: str, values: dict[str, list[int]], min_count: int, bound: float) -> LabelColumn | None:
    shared = [pair for pair in values.values() if sum(pair) > 1]
    n, rows = sum(map(sum, shared)), sum(map(sum, values.values()))
    plain, sarcastic = (sum(pair[label] for pair in shared) for label in (0, 1))
    if n < max(min_count, rows / 2) or not plain or not sarcastic:
        return None
    right = 0.0
    for pair in shared:
        for own, other in (pair, pair[::-1]):
            right += own if own - 1 > other else own / 2 if own - 1 == other else 0.0
    base = max(plain, sarcastic) / n
    low = wilson(round(right), n).low or 0.0
    return LabelColumn(column, len(values), n, right / n, base) if low - base >= bound * (1 - base) else None


def column_warnings(examples: Sequence[Example]) -> list[str]:
    """Return a sentence per column that nearly decides the label, to be shown beside a score."""
    return [f"{column_sentence(one)}; texts may give it away." for one in label_columns(examples)]


def column_sentence(found: LabelColumn) -> str:
    """Return what a column gives away."""
    return (
        f"the column {found.column!r} decides {found.accuracy:.0%} of {found.n:,} labels by itself "
        f"(the more frequent label: {found.base:.0%})"
    )
