"""Shortcuts: how much of the label each family of shallow features gives away, and of a detector's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deadpan.datasets.audit.features import FAMILIES
from deadpan.errors import DataError
from deadpan.probes import (
    clusters_of,
    feature_matrix,
    fold_numbers,
    held_out_scores,
    topic_features,
    word_matrix,
)
from deadpan.records import Example
from deadpan.stats.explained import explained_share
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval
from deadpan.stats.ranking import auc_interval

CONTEXT, TOPIC, TOGETHER, WORDS = "words of the context", "topic", "all shortcuts", "words of the text"
RESAMPLES = 200


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A family of features: the AUC of a classifier that sees nothing else, and what it explains.

    `explained` is the share of the word model's score that disappears among examples that the family scores
    alike.
    """

    family: str
    auc: Interval
    explained: Interval
    names: tuple[str, ...]

    @property
    def gives_away(self) -> bool:
        """True if the classifier is better than chance."""
        return self.auc.low is not None and self.auc.low > 0.5


@dataclass(frozen=True, slots=True)
class Shortcuts:
    """All families, all of them together, and the word model they are compared with.

    `scores` are the held-out scores of all shortcuts together by id, to be compared with any system's.
    """

    families: tuple[Shortcut, ...]
    together: Shortcut
    words: Interval
    n: int
    scores: Mapping[str, float] = field(default_factory=dict, repr=False)


def find_shortcuts(examples: Sequence[Example], seed: int = 0) -> Shortcuts:
    """Score a classifier per family of features on held-out folds; a family without features is left out."""
    rows = [example for example in examples if example.label is not None]
    labels = np.array([bool(example.label) for example in rows])
    if len(rows) < 50 or labels.all() or not labels.any():
        raise DataError(f"an audit needs 50 labelled examples of both labels: got {len(rows)}")
    clusters, loose = clusters_of(rows), clusters_of(rows, authors=False)
    fold, met = fold_numbers(clusters, seed), fold_numbers(loose, seed)
    words = held_out_scores(word_matrix([e.response.text for e in rows]), labels, fold, strength=4.0)
    matrices = {name: feature_matrix([family(e) for e in rows]) for name, family in FAMILIES.items()}
    matrices[TOPIC] = feature_matrix(topic_features([e.response.text for e in rows], seed))
    contexts = [" ".join(turn.text for turn in e.context) for e in rows]
    if any(contexts):
        matrices[CONTEXT] = word_matrix(contexts)
    found = []
    for name, matrix in matrices.items():
        if matrix.nnz == 0 or matrix.shape[1] < 2:
            continue
        scores = held_out_scores(matrix, labels, met if name == "author" else fold)
        found.append(_shortcut(name, scores, words, labels, clusters, seed))
    joined = _joined([matrix for matrix in matrices.values() if matrix.nnz])
    all_of_them = held_out_scores(joined, labels, fold)
    together = _shortcut(TOGETHER, all_of_them, words, labels, clusters, seed)
    found.sort(key=lambda shortcut: -(shortcut.auc.value or 0.0))
    by_id = dict(zip((example.id for example in rows), all_of_them.tolist(), strict=True))
    return Shortcuts(tuple(found), together, _auc(labels, words, clusters, seed), len(rows), by_id)


def shortcut_scores(examples: Sequence[Example], seed: int = 0) -> Mapping[str, float]:
    """Return the held-out scores of all shortcuts together by id; none where there is too little to learn."""
    try:
        return find_shortcuts(examples, seed).scores
    except DataError:
        return {}


def _joined(matrices: Sequence[Any]) -> Any:
    from scipy.sparse import hstack

    return hstack(matrices).tocsr()


def _shortcut(
    name: str, scores: FloatArray, words: FloatArray, labels: BoolArray, clusters: IntArray, seed: int
) -> Shortcut:
    explained = explained_share(labels, words, scores, clusters, resamples=RESAMPLES // 3, seed=seed)
    return Shortcut(name, _auc(labels, scores, clusters, seed), explained.share, ())


def _auc(labels: BoolArray, scores: FloatArray, clusters: IntArray, seed: int) -> Interval:
    return auc_interval(labels, scores, clusters, resamples=RESAMPLES, level=0.95, seed=seed)
