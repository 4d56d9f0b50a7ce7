"""Tokens that nearly decide the label: what a detector would learn instead of sarcasm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deadpan.records import Example
from deadpan.stats.interval import wilson
from deadpan.text import social_tokens

MIN_COUNT = 20
"""Least number of texts with the token; fewer could be chance."""

BOUND = 0.8
"""Least part of the way from the base rate to certainty: a share of 0.9 if the labels are balanced."""

_HOST = re.compile(r"(?:https?://)?(?:www\.)?([^\s/?#:]+)", re.IGNORECASE)
_NAMELESS = frozenset(
    ["user", "@user", "person", "speaker", "author", "anonymous", "unknown", "none", "nan", "[deleted]"]
)
_SPEAKER = "speaker "
_LINKS = ("http://", "https://", "www.")


@dataclass(frozen=True, slots=True)
class LabelToken:
    """A token and the label it predicts: `low` is the lower bound of `share` (Wilson, 95 %).

    `coverage` is the share of all texts that have the token, `base` the share of its label among all texts.
    """

    kind: str
    token: str
    sarcastic: bool
    n: int
    share: float
    low: float
    base: float
    coverage: float


@dataclass(frozen=True, slots=True)
class LabelTokens:
    """The tokens that nearly decide the label, most frequent first, and how many texts have at least one."""

    n: int
    covered: int
    tokens: tuple[LabelToken, ...]


def label_tokens(
    examples: Sequence[Example], *, min_count: int = MIN_COUNT, bound: float = BOUND
) -> LabelTokens:
    """Find tokens, hashtags, users, hosts of links and speakers that nearly decide the label.

    Pass each text once: thirty copies of one post say nothing about its words.
    """
    labelled = [example for example in examples if example.label is not None]
    n, sarcastic = len(labelled), sum(bool(example.label) for example in labelled)
    if not 0 < sarcastic < n:  # one label only
        return LabelTokens(n, 0, ())
    by_token = dict(_label_tokens(*_counts(labelled), sarcastic, n, min_count, bound))
    covered = sum(not by_token.keys().isdisjoint(_tokens(example)) for example in labelled) if by_token else 0
    tokens = sorted(by_token.values(), key=lambda token: (-token.n, token.kind, token.token))
    return LabelTokens(n, covered, tuple(tokens))


def real_name(speaker: str) -> str:
    """Return the speaker if it is a name; empty for A, B, [deleted] and other placeholders."""
    name = speaker.strip()
    return "" if len(name) <= 2 or name.lower() in _NAMELESS else name


def _label_tokens(
    total: Counter[str], positive: Counter[str], sarcastic: int, n: int, min_count: int, bound: float
) -> Iterator[tuple[str, LabelToken]]:
    for token, count in total.items():
        if count < min_count:
            continue
        # It predicts the label that it raises above the base rate, not the more frequent one.
        label = positive[token] * n >= sarcastic * count
        hits = positive[token] if label else count - positive[token]
        base = (sarcastic if label else n - sarcastic) / n
        low = wilson(hits, count).low or 0.0
        if low - base >= bound * (1 - base):
            shown = token.removeprefix(_SPEAKER).removeprefix("//")
            yield token, LabelToken(_kind(token), shown, label, count, hits / count, low, base, count / n)


def _counts(labelled: Sequence[Example]) -> tuple[Counter[str], Counter[str]]:
    """Count the texts with each token, all and sarcastic."""
    total: Counter[str] = Counter()
    positive: Counter[str] = Counter()
    for example in labelled:
        tokens = _tokens(example)
        total.update(tokens)
        if example.label:
            positive.update(tokens)
    return total, positive


def _tokens(example: Example) -> set[str]:
    """Return the distinct tokens of a text and its speaker; hosts of links start with "//"."""
    text = example.response.text.lower()
    tokens = set(social_tokens(text))
    if "http" in text or "www." in text:
        tokens = {_host(token) if token.startswith(_LINKS) else token for token in tokens}
    name = real_name(example.response.speaker)
    if name:
        tokens.add(_SPEAKER + name)  # no token has a space
    return tokens


def _host(link: str) -> str:
    host = _HOST.match(link)
    return f"//{host[1]}" if host else link


def _kind(token: str) -> str:
    if token.startswith(_SPEAKER):
        return "speaker"
    if token.startswith("//"):
        return "host"
    if len(token) > 1 and token[0] in "#@":
        return "hashtag" if token[0] == "#" else "user"
    return "word" if token[0].isalnum() else "symbol"
