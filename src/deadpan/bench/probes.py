"""What could be guessed without understanding: classifiers and rules that never see the whole item.

A probe says, for every item, which option it would take. A classifier scores the six options of an item
it was not trained on: families are never split, so a twin's answer cannot help.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from deadpan.bench.items import LETTERS, OPTIONS, family
from deadpan.draws import draw
from deadpan.records import Item
from deadpan.stats.interval import FloatArray, IntArray
from deadpan.text import sarc_tokens

FOLDS = 10
CROSSES = 2**12
SHORTEST_WORD = 4
"""Shorter words are mostly grammar: crossing them would drown what the rest could tell."""
CROSS_WEIGHT = 0.2
"""Many pairs of words against few of anything else: weighed down, so that they do not drown it."""
Rule = Callable[[Item], Sequence[float]]
"""A number for every option; the rule takes the highest, and shares where several are."""


def options_only(items: Sequence[Item], seed: int = 0) -> FloatArray:
    """Credit per item of a classifier that sees the options and nothing else."""
    return _cross_validated(items, _option_features, seed)


def utterance_only(items: Sequence[Item], seed: int = 0) -> FloatArray:
    """Credit per item of one that also sees the utterance and the question, but no context."""
    return _cross_validated(items, _remark_features, seed)


def rule_credit(items: Sequence[Item], rule: Rule) -> FloatArray:
    """Credit per item of a rule: 1 where it picks the answer, a share where several tie."""
    credit = np.zeros(len(items))
    for at, item in enumerate(items):
        scores = np.asarray(rule(item), dtype=np.float64)
        best = np.flatnonzero(scores == scores.max())
        credit[at] = float(item.answer in best) / len(best)
    return credit


def folds_of(items: Sequence[Item], seed: int) -> IntArray:
    """A fold for every item, whole families together, by draws that do not depend on the order."""
    names = sorted({family(item) for item in items}, key=lambda name: draw(seed, name))
    place = {name: number % FOLDS for number, name in enumerate(names)}
    return np.array([place[family(item)] for item in items], dtype=np.int64)


def _cross_validated(
    items: Sequence[Item], features: Callable[[Sequence[Item], Sequence[Item]], tuple[Any, Any]], seed: int
) -> FloatArray:
    from sklearn.linear_model import LogisticRegression

    folds, credit = folds_of(items, seed), np.zeros(len(items))
    for fold in np.unique(folds):
        train = [item for item, each in zip(items, folds, strict=True) if each != fold]
        tested = [int(at) for at in np.flatnonzero(folds == fold)]
        if not train:
            continue
        seen, unseen = features(train, [items[at] for at in tested])
        truth = [place == item.answer for item in train for place in range(OPTIONS)]
        model = LogisticRegression(C=10, class_weight="balanced", solver="liblinear").fit(seen, truth)
        scores = model.decision_function(unseen).reshape(len(tested), OPTIONS)
        for at, row in zip(tested, scores, strict=True):
            credit[at] = float(int(np.argmax(row)) == items[at].answer)
    return credit


def _option_features(train: Sequence[Item], test: Sequence[Item]) -> tuple[Any, Any]:
    """Words and pieces of words of each option, its length, and how it differs from its five rivals."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(tokenizer=sarc_tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2))
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    sides = []
    for which, items in enumerate((train, test)):
        texts = [option for item in items for option in item.options]
        parts = [
            each.fit_transform(texts) if which == 0 else each.transform(texts) for each in (words, pieces)
        ]
        sides.append(hstack([*parts, csr_matrix(_shapes(items))]).tocsr())
    return sides[0], sides[1]


def _shapes(items: Sequence[Item]) -> FloatArray:
    """Length against the rivals. Not the place: where answers are balanced, the training folds have fewer of
    whatever the test fold has more of, which pushes a learner below chance. Rules look at places instead."""
    rows = []
    for item in items:
        lengths = np.array([len(option) for option in item.options], dtype=np.float64)
        relative = (lengths - lengths.mean()) / (lengths.std() or 1.0)
        for place in range(OPTIONS):
            longest, shortest = lengths[place] == lengths.max(), lengths[place] == lengths.min()
            rows.append([relative[place], longest, shortest])
    shapes: FloatArray = np.array(rows, dtype=np.float64)
    return shapes


def _remark_features(train: Sequence[Item], test: Sequence[Item]) -> tuple[Any, Any]:
    """The option features, what the option shares with the remark, and pairs of a word of each."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction import FeatureHasher

    hasher = FeatureHasher(CROSSES, input_type="string", alternate_sign=False)
    sides = []
    for items, options in zip((train, test), _option_features(train, test), strict=True):
        shared, crosses = [], []
        for item in items:
            remark = set(sarc_tokens(f"{item.utterance} {item.question}"))
            for option in item.options:
                words = set(sarc_tokens(option))
                shared.append([len(words & remark) / max(1, len(words))])
                crosses.append(
                    [f"{one}~{other}" for one in long_words(remark) for other in long_words(words)]
                )
        pairs = hasher.transform(crosses)
        sides.append(hstack([options, csr_matrix(np.array(shared)), pairs * CROSS_WEIGHT]).tocsr())
    return sides[0], sides[1]


def long_words(words: set[str]) -> list[str]:
    """Words that carry sense, by their length; Korean ones are short and all kept."""
    return sorted(word for word in words if len(word) >= SHORTEST_WORD or not word.isascii())


# ---------------------------------------------------------------- rules


def words_before(item: Item) -> set[str]:
    """The words of the context and the utterance."""
    spoken = " ".join(turn.text for turn in item.context)
    return set(sarc_tokens(f"{spoken} {item.utterance}"))


def overlap(item: Item) -> list[float]:
    """The share of each option's words that stand in the context or the utterance."""
    before = words_before(item)
    found = []
    for option in item.options:
        words = {word for word in sarc_tokens(option) if word.isalnum()}
        found.append(len(words & before) / max(1, len(words)))
    return found


def cues(item: Item) -> list[float]:
    """How many words that talk about sarcasm, or turn a sense round, each option has."""
    return [float(len(CUES.findall(option.lower()))) for option in item.options]


CUES = re.compile(
    r"\b(?:sarcas\w*|iron(?:y|ic|ically)|mock(?:s|ing)?|teas(?:es|ing)|joking|not|never|actually|really|instead"
    r"|rather|sincerely|genuinely|honestly|opposite|critici[sz]ing|annoyed)\b|비꼬|비꼰|반어|빈정|사실은|진심|아니라|오히려"
)


def _always(place: int) -> Rule:
    return lambda item: [float(place == each) for each in range(OPTIONS)]


RULES: dict[str, Rule] = {
    "longest option": lambda item: [float(len(option)) for option in item.options],
    "shortest option": lambda item: [-float(len(option)) for option in item.options],
    "most words shared with the text": overlap,
    "fewest words shared with the text": lambda item: [-share for share in overlap(item)],
    "most cue words": cues,
    "fewest cue words": lambda item: [-count for count in cues(item)],
    **{f"always {letter}": _always(place) for place, letter in enumerate(LETTERS)},
}
