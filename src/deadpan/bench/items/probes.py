"""Probes: classifiers and rules that guess answers without seeing the whole item.

A probe chooses an option for every item. A classifier scores the six options of items it was not trained
on; families are never split, so the other item of a pair cannot help.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from deadpan.bench.items.item import LETTERS, family
from deadpan.draws import draw
from deadpan.errors import need
from deadpan.records import Item
from deadpan.stats.interval import FloatArray, IntArray
from deadpan.text import sarc_tokens
from deadpan.vectors import Vectors, cosine

_FOLDS = 10
CROSSES = 2**12
SHORTEST_WORD = 4
"""Shorter words are mostly grammar; pairs of them would only add noise."""
CROSS_WEIGHT = 0.2
"""Weight of the features that pair two words: there are many of them, and few of any other kind."""
Rule = Callable[[Item], Sequence[float]]
"""Returns a number per option. The rule chooses the highest; credit is shared between ties."""


def options_only(items: Sequence[Item], seed: int = 0) -> FloatArray:
    """Return the credit per item of a classifier that sees only the options."""
    return _cross_validated(items, _option_features, seed)


def utterance_only(items: Sequence[Item], seed: int = 0) -> FloatArray:
    """Return the credit per item of a classifier that also sees utterance and question, but no context."""
    return _cross_validated(items, _remark_features, seed)


def form_only(items: Sequence[Item], seed: int = 0) -> FloatArray:
    """Return the credit per item of a classifier that sees the form of the options, not their words."""
    return _cross_validated(items, _form_features, seed, strength=0.1)


def rule_credit(items: Sequence[Item], rule: Rule) -> FloatArray:
    """Return the credit per item of a rule: 1 for the answer, a share of it where options tie."""
    credit = np.zeros(len(items))
    for at, item in enumerate(items):
        scores = np.asarray(rule(item), dtype=np.float64)
        best = np.flatnonzero(scores == scores.max())
        credit[at] = float(item.answer in best) / len(best)
    return credit


def folds_of(items: Sequence[Item], seed: int) -> IntArray:
    """Return a fold per item, keeping families whole; draws do not depend on the order of items."""
    names = sorted({family(item) for item in items}, key=lambda name: draw(seed, name))
    place = {name: number % _FOLDS for number, name in enumerate(names)}
    return np.array([place[family(item)] for item in items], dtype=np.int64)


def _cross_validated(
    items: Sequence[Item],
    features: Callable[[Sequence[Item], Sequence[Item]], tuple[Any, Any]],
    seed: int,
    strength: float = 10,
) -> FloatArray:
    LogisticRegression = need("sklearn.linear_model", "train").LogisticRegression
    folds, credit = folds_of(items, seed), np.zeros(len(items))
    for fold in np.unique(folds):
        train = [item for item, each in zip(items, folds, strict=True) if each != fold]
        tested = [int(at) for at in np.flatnonzero(folds == fold)]
        if not train:
            continue
        seen, unseen = features(train, [items[at] for at in tested])
        truth = [place == item.answer for item in train for place in range(len(item.options))]
        model = LogisticRegression(C=strength, class_weight="balanced", solver="liblinear").fit(seen, truth)
        scores, start = model.decision_function(unseen), 0
        for at in tested:
            end = start + len(items[at].options)
            credit[at] = float(int(np.argmax(scores[start:end])) == items[at].answer)
            start = end
    return credit


def _option_features(train: Sequence[Item], test: Sequence[Item]) -> tuple[Any, Any]:
    """Return n-grams of words and characters of each option, and its length relative to the others."""
    sparse = need("scipy.sparse", "train")
    TfidfVectorizer = need("sklearn.feature_extraction.text", "train").TfidfVectorizer
    words = TfidfVectorizer(tokenizer=sarc_tokens, token_pattern=None, lowercase=False, ngram_range=(1, 2))
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    sides = []
    for which, items in enumerate((train, test)):
        texts = [option for item in items for option in item.options]
        parts = [each.fit_transform(texts) if which == 0 else each.transform(texts) for each in (words, pieces)]
        sides.append(sparse.hstack([*parts, sparse.csr_matrix(_shapes(items))]).tocsr())
    return sides[0], sides[1]


def _form_features(train: Sequence[Item], test: Sequence[Item]) -> tuple[Any, Any]:
    """Return the numbers of `forms`, scaled by the training items."""
    seen, unseen = option_forms(train), option_forms(test)
    scale = seen.std(axis=0)
    scale[scale == 0] = 1.0
    return seen / scale, unseen / scale


def _shapes(items: Sequence[Item]) -> FloatArray:
    """Return the length of each option relative to the others.

    Positions are not a feature: with balanced answers, a letter that is frequent in the test fold is rare in
    the training folds, which pushes a classifier below chance. The rules look at positions instead.
    """
    rows = []
    for item in items:
        lengths = np.array([len(option) for option in item.options], dtype=np.float64)
        relative = (lengths - lengths.mean()) / (lengths.std() or 1.0)
        for place in range(len(lengths)):
            longest, shortest = lengths[place] == lengths.max(), lengths[place] == lengths.min()
            rows.append([relative[place], longest, shortest])
    shapes: FloatArray = np.array(rows, dtype=np.float64)
    return shapes


def _remark_features(train: Sequence[Item], test: Sequence[Item]) -> tuple[Any, Any]:
    """Return the option features, the share of words in the remark, and pairs of one word of each."""
    from sklearn.feature_extraction import FeatureHasher

    sparse = need("scipy.sparse", "train")
    hasher = FeatureHasher(CROSSES, input_type="string", alternate_sign=False)
    sides = []
    for items, options in zip((train, test), _option_features(train, test), strict=True):
        shared, crosses = [], []
        for item in items:
            remark = set(sarc_tokens(f"{item.utterance} {item.question}"))
            for option in item.options:
                words = set(sarc_tokens(option))
                shared.append([len(words & remark) / max(1, len(words))])
                crosses.append([f"{one}~{other}" for one in long_words(remark) for other in long_words(words)])
        pairs = hasher.transform(crosses)
        sides.append(sparse.hstack([options, sparse.csr_matrix(np.array(shared)), pairs * CROSS_WEIGHT]).tocsr())
    return sides[0], sides[1]


def long_words(words: set[str]) -> list[str]:
    """Return the words long enough to carry meaning; Korean words are short and all kept."""
    return sorted(word for word in words if len(word) >= SHORTEST_WORD or not word.isascii())


# ---------------------------------------------------------------- rules


def words_before(item: Item) -> set[str]:
    """Return the words of the context and the utterance."""
    spoken = " ".join(turn.text for turn in (*item.context, *item.after))
    return set(sarc_tokens(f"{spoken} {item.utterance}"))


def overlap(item: Item) -> list[float]:
    """Return the share of each option's words that occur in the context or the utterance."""
    before = words_before(item)
    found = []
    for option in item.options:
        words = {word for word in sarc_tokens(option) if word.isalnum()}
        found.append(len(words & before) / max(1, len(words)))
    return found


def likeness(item: Item) -> list[float]:
    """Return per option the share of words it has in common with the option most like it.

    The answers of a minimal pair are often each other's opposites: where only they are phrased alike, one can
    guess between two options instead of six.
    """
    words = [[word for word in sarc_tokens(option.lower()) if word.isalnum()] for option in item.options]
    return [max(each) for each in likenesses(words)]


def cues(item: Item) -> list[float]:
    """Return per option the number of words that talk about sarcasm or reverse a meaning."""
    return [float(len(CUES.findall(option.lower()))) for option in item.options]


CUES = re.compile(
    r"\b(?:sarcas\w*|iron(?:y|ic|ically)|mock(?:s|ing)?|teas(?:es|ing)|joking|not|never|actually|really|instead"
    r"|rather|sincerely|genuinely|honestly|opposite|critici[sz]ing|annoyed)\b|비꼬|비꼰|반어|빈정|사실은|진심|아니라|오히려"
)


def _always(place: int) -> Rule:
    return lambda item: [float(place == each) for each in range(len(item.options))]


RULES: dict[str, Rule] = {
    "longest option": lambda item: [float(len(option)) for option in item.options],
    "shortest option": lambda item: [-float(len(option)) for option in item.options],
    "most words shared with the text": overlap,
    "fewest words shared with the text": lambda item: [-share for share in overlap(item)],
    "most like another option": likeness,
    "least like another option": lambda item: [-share for share in likeness(item)],
    "most cue words": cues,
    "fewest cue words": lambda item: [-count for count in cues(item)],
    **{f"always {letter}": _always(place) for place, letter in enumerate(LETTERS)},
}


LITTLE_WORDS = tuple(
    re.compile(pattern)
    for pattern in (
        r",",
        r"\band\b|\bor\b|\bbut\b",
        r"\b(?:that|which|whom?|since|because|as|though)\b|때문|라서|지만",
        r"\b(?:no|not|never|nobody|nothing|none|neither|without|cannot)\b|안 |못 |없|않|아니",
        r"\b(?:was|were|had|did|been)\b|[았었했]다",
        r"\b(?:he|she|they|him|her|his|them|their)\b|자기|그 ",
        r"\b(?:an?|the)\b",
        r"\b(?:would|could|may|might|seems?|perhaps|rather|almost|quite)\b|아마|듯|거의|조금",
    )
)
"""Punctuation, conjunctions, subordination, negation, past, pronouns, articles and hedges."""


def option_forms(items: Sequence[Item]) -> FloatArray:
    """Return a row per option: its numbers relative to the item's mean, and their ranks among the options."""
    rows = []
    for item in items:
        numbers = np.array(_numbers(item), dtype=np.float64)
        ranks = (numbers[:, None, :] > numbers[None, :, :]).sum(axis=1) / (len(item.options) - 1)
        rows.append(np.hstack([numbers - numbers.mean(axis=0), ranks - ranks.mean(axis=0)]))
    forms: FloatArray = np.concatenate(rows)
    return forms


def _numbers(item: Item) -> list[list[float]]:
    texts = [option.lower() for option in item.options]
    words = [[word for word in sarc_tokens(text) if word.isalnum()] for text in texts]
    having = Counter(word for each in words for word in set(each))
    alike = likenesses(words)
    found = []
    for place, (text, own) in enumerate(zip(texts, words, strict=True)):
        shared = [having[word] for word in set(own)]
        found.append(
            [
                float(len(text)),
                float(len(own)),
                len(text) / max(1, len(own)),
                *(float(sum(count == wanted for count in shared)) for wanted in (1, 2, 3)),
                float(sum(count > 3 for count in shared)),
                *sorted(alike[place])[-2:],
                sum(alike[place]) / max(1, len(alike[place])),
                *(float(len(pattern.findall(text))) for pattern in LITTLE_WORDS),
            ]
        )
    return found


def likenesses(words: Sequence[Sequence[str]]) -> list[list[float]]:
    """Return per option its Jaccard index with every other option."""
    sets = [set(each) for each in words]
    return [
        [len(own & other) / max(1, len(own | other)) for at, other in enumerate(sets) if at != place]
        for place, own in enumerate(sets)
    ]


def option_similarity(item: Item, text: str) -> FloatArray:
    """Return the cosine of `text` with each option, in the item's own order."""
    vectors = _vectors()
    near: FloatArray = cosine(vectors.sentences([text]), vectors.sentences(list(item.options)))[0]
    return near


@cache
def _vectors() -> Vectors:
    """Load the vectors once per process; `deadpan models pull wordllama-256` downloads them."""
    return Vectors.embedded()
