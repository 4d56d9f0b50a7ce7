"""Single tokens that nearly decide the label: what a detector would learn instead of sarcasm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deadpan.records import Example
from deadpan.stats.interval import wilson
from deadpan.text import social_tokens

MIN_COUNT = 20
"""Texts a token must stand in; fewer cannot be told from chance."""

BOUND = 0.8
"""How far from the base rate towards certainty a token must go: to 0.9 where the labels are as common."""

_HOST = re.compile(r"(?:https?://)?(?:www\.)?([^\s/?#:]+)", re.IGNORECASE)
_NAMELESS = frozenset(
    ["user", "@user", "person", "speaker", "author", "anonymous", "unknown", "none", "nan", "[deleted]"]
)
_SPEAKER = "speaker "
_LINKS = ("http://", "https://", "www.")


@dataclass(frozen=True, slots=True)
class TellingToken:
    """A token, the label it gives away and how surely: `low` is Wilson's lower bound of `share`.

    `coverage` is the share of all texts it stands in, `base` the share of its label among them.
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
class Telling:
    """The telling tokens of a corpus, most widespread first, and how many texts have at least one."""

    n: int
    covered: int
    tokens: tuple[TellingToken, ...]


def telling_tokens(
    examples: Sequence[Example], *, min_count: int = MIN_COUNT, bound: float = BOUND
) -> Telling:
    """Tokens, hashtags, users, hosts of links and speakers that nearly decide the label.

    Give each text once: thirty copies of one post say nothing about its words.
    """
    labelled = [example for example in examples if example.label is not None]
    n, sarcastic = len(labelled), sum(bool(example.label) for example in labelled)
    if not 0 < sarcastic < n:  # one label only: nothing to tell
        return Telling(n, 0, ())
    found = dict(_found(*_counts(labelled), sarcastic, n, min_count, bound))
    covered = sum(not found.keys().isdisjoint(_tokens(example)) for example in labelled) if found else 0
    telling = sorted(found.values(), key=lambda token: (-token.n, token.kind, token.token))
    return Telling(n, covered, tuple(telling))


def real_name(speaker: str) -> str:
    """The speaker if it names someone; empty for A, B, [deleted] and other stand-ins."""
    name = speaker.strip()
    return "" if len(name) <= 2 or name.lower() in _NAMELESS else name


def _found(
    total: Counter[str], positive: Counter[str], sarcastic: int, n: int, min_count: int, bound: float
) -> Iterator[tuple[str, TellingToken]]:
    for token, count in total.items():
        if count < min_count:
            continue
        # The label it speaks for is the one it raises above the base rate, not the more frequent one.
        label = positive[token] * n >= sarcastic * count
        hits = positive[token] if label else count - positive[token]
        base = (sarcastic if label else n - sarcastic) / n
        low = wilson(hits, count).low or 0.0
        if low - base >= bound * (1 - base):
            shown = token.removeprefix(_SPEAKER).removeprefix("//")
            found = TellingToken(_kind(token), shown, label, count, hits / count, low, base, count / n)
            yield token, found


def _counts(labelled: Sequence[Example]) -> tuple[Counter[str], Counter[str]]:
    """Texts each token stands in, all and sarcastic."""
    total: Counter[str] = Counter()
    positive: Counter[str] = Counter()
    for example in labelled:
        tokens = _tokens(example)
        total.update(tokens)
        if example.label:
            positive.update(tokens)
    return total, positive


def _tokens(example: Example) -> set[str]:
    """What a text has that could give its label away, each once; "//" is put before a host."""
    text = example.response.text.lower()
    tokens = set(social_tokens(text))
    if "http" in text or "www." in text:
        tokens = {_host(token) if token.startswith(_LINKS) else token for token in tokens}
    name = real_name(example.response.speaker)
    if name:
        tokens.add(_SPEAKER + name)  # no token has a space
    return tokens


def _host(link: str) -> str:
    found = _HOST.match(link)
    return f"//{found[1]}" if found else link


def _kind(token: str) -> str:
    if token.startswith(_SPEAKER):
        return "speaker"
    if token.startswith("//"):
        return "host"
    if len(token) > 1 and token[0] in "#@":
        return "hashtag" if token[0] == "#" else "user"
    return "word" if token[0].isalnum() else "symbol"
