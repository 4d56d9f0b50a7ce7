"""Shortcuts: how much of the label families of shallow features give away, and of a detector's score."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from deadpan.datasets.label_cues import real_name
from deadpan.errors import DataError
from deadpan.probes import clusters_of, feature_matrix, fold_numbers, held_out_scores, topic_features, word_matrix
from deadpan.records import Example
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval
from deadpan.stats.ranking import auc_interval, explained_share

_CONTEXT, _TOPIC, _TOGETHER, _WORDS = "words of the context", "topic", "all shortcuts", "words of the text"
_RESAMPLES = 200


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
    matrices[_TOPIC] = feature_matrix(topic_features([e.response.text for e in rows], seed))
    contexts = [" ".join(turn.text for turn in e.context) for e in rows]
    if any(contexts):
        matrices[_CONTEXT] = word_matrix(contexts)
    found = []
    for name, matrix in matrices.items():
        if matrix.nnz == 0 or matrix.shape[1] < 2:
            continue
        scores = held_out_scores(matrix, labels, met if name == "author" else fold)
        found.append(_shortcut(name, scores, words, labels, clusters, seed))
    joined = _joined([matrix for matrix in matrices.values() if matrix.nnz])
    all_of_them = held_out_scores(joined, labels, fold)
    together = _shortcut(_TOGETHER, all_of_them, words, labels, clusters, seed)
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
    explained = explained_share(labels, words, scores, clusters, resamples=_RESAMPLES // 3, seed=seed)
    return Shortcut(name, _auc(labels, scores, clusters, seed), explained.share, ())


def _auc(labels: BoolArray, scores: FloatArray, clusters: IntArray, seed: int) -> Interval:
    return auc_interval(labels, scores, clusters, resamples=_RESAMPLES, level=0.95, seed=seed)


Features = dict[str, float]
Family = Callable[[Example], Features]

_LINK = re.compile(r"(?:https?://|www\.)(?:www\.)?([^\s/?#:]*)|<url>|\bhttpurl\b", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@\w+")
_HASHTAG = re.compile(r"(?<!\w)#(\w+)")
_EMOJI = re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]")
_EMOTICON = re.compile(r"[:;=8xX]['’-]?[)(DPpOo/\\|]+|[ㅋㅎㅠㅜ]{2,}|<3")
_MARKS = "!?.,;:…'\"()-*~"
# Metadata that says where a text comes from, never the label itself.
_SOURCES = ("subreddit", "show", "dialect", "form", "domain", "article_link", "topic")


def _length(example: Example) -> Features:
    text = example.response.text
    words = text.split()
    letters = sum(map(len, words)) / len(words) if words else 0.0
    return {"characters": float(len(text)), "words": float(len(words)), "letters per word": letters}


def _punctuation(example: Example) -> Features:
    text = example.response.text
    found = {f"count {mark}": float(text.count(mark)) for mark in _MARKS}
    found[f"ends in {_end(text)}"] = 1.0
    found["doubled mark"] = float(bool(re.search(r"([!?.])\1", text)))
    found["space before mark"] = float(bool(re.search(r"\w [,.!?]", text)))
    found["doubled space"] = float("  " in text.strip())
    found["space at an end"] = float(text != text.strip())
    return found


def _end(text: str) -> str:
    last = text.rstrip()[-1:]
    return last if last in _MARKS else "a letter" if last.isalpha() else "something else"


def _case(example: Example) -> Features:
    words = example.response.text.split()
    n = max(len(words), 1)
    return {
        "share in capitals": sum(w.isupper() and len(w) > 1 for w in words) / n,
        "share capitalised": sum(w[:1].isupper() for w in words) / n,
        "no capitals": float(example.response.text == example.response.text.lower()),
        "first is capital": float(example.response.text[:1].isupper()),
    }


def _links(example: Example) -> Features:
    text = example.response.text
    hosts = {f"host {host.lower()}": 1.0 for host in _LINK.findall(text)}
    return {**hosts, "links": float(len(_LINK.findall(text))), "mentions": float(len(_MENTION.findall(text)))}


def _hashtags(example: Example) -> Features:
    tags = _HASHTAG.findall(example.response.text)
    return {**{f"#{tag.lower()}": 1.0 for tag in tags}, "hashtags": float(len(tags))}


def _emoji(example: Example) -> Features:
    text = example.response.text
    found = _EMOJI.findall(text)
    return {**dict.fromkeys(found, 1.0), "emoji": float(len(found)),
            "emoticons": float(len(_EMOTICON.findall(text)))}  # fmt: skip


def _source(example: Example) -> Features:
    found = {f"source {example.source}": 1.0}
    for name in _SOURCES:
        value = example.meta.get(name)
        if isinstance(value, str) and value:
            host = _LINK.match(value)
            found[f"{name} {host[1] if host and host[1] else value}"] = 1.0
    return found


def _author(example: Example) -> Features:
    name = real_name(example.response.speaker) or real_name(str(example.meta.get("author") or ""))
    return {name: 1.0} if name else {}


def _context_shape(example: Example) -> Features:
    lengths = [len(turn.text) for turn in example.context]
    if not lengths:
        return {}
    same = any(turn.speaker and turn.speaker == example.response.speaker for turn in example.context)
    return {"turns": float(len(lengths)), "characters": float(sum(lengths)), "last turn": float(lengths[-1]),
            "responder spoke before": float(same)}  # fmt: skip


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "length": _length,
        "punctuation": _punctuation,
        "case": _case,
        "links and mentions": _links,
        "hashtags": _hashtags,
        "emoji": _emoji,
        "source": _source,
        "author": _author,
        "shape of the context": _context_shape,
    }
)
"""Families of features read from one example; topic and the words of the context need the whole corpus."""
