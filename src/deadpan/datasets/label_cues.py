"""Giveaways of a label: tokens that nearly decide it, and traits such as length, links and case."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from deadpan.probes import BOUND, MIN_COUNT
from deadpan.records import Example
from deadpan.stats.interval import wilson
from deadpan.text import social_tokens

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


def label_tokens(examples: Sequence[Example], *, min_count: int = MIN_COUNT, bound: float = BOUND) -> LabelTokens:
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


# Least distance of an AUC from 0.5: below it, sarcastic and sincere texts differ in any corpus.
_FAR = 0.1

# Least distance in standard errors, so that small corpora show no spurious cues.
_SURE = 3.0

_LINK = re.compile(r"https?://|www\.|<url>|\bhttpurl\b", re.IGNORECASE)
_MENTION = re.compile(r"(?<!\w)@\w")
_HASHTAG = re.compile(r"(?<!\w)#\w")
_DETACHED = re.compile(r"\w [,.!?;:](?:\s|$)")
_QUOTES = frozenset('"“”„«»「」『』')


@dataclass(frozen=True, slots=True)
class Cue:
    """A trait and how well it alone predicts the label.

    A `counted` trait is a number, any other is present or absent. `auc` is above 0.5 where sarcastic texts
    have more of it. `rule` is the best single threshold; its accuracy is `accuracy`, that of the majority
    label `base`.
    """

    trait: str
    counted: bool
    auc: float
    rule: str
    accuracy: float
    base: float
    n: int


def _ends_plainly(text: str) -> bool:
    end = text.rstrip()[-1:]
    return bool(end) and end in ".!?…。！？؟"


def _no_capitals(text: str) -> bool:
    return text == text.lower() and text != text.upper()  # False for scripts without case


_PRESENT_TRAITS: dict[str, Callable[[str], bool]] = {
    "a link": lambda text: bool(_LINK.search(text)),
    "a mention": lambda text: bool(_MENTION.search(text)),
    "a hashtag": lambda text: bool(_HASHTAG.search(text)),
    "closing punctuation": _ends_plainly,
    "white space at the start": lambda text: text[:1].isspace(),
    "white space at the end": lambda text: text[-1:].isspace(),
    "doubled spaces": lambda text: "  " in text.strip(),
    "spaces before punctuation": lambda text: bool(_DETACHED.search(text)),
    "a quotation mark": lambda text: not _QUOTES.isdisjoint(text),
    "only lower case": _no_capitals,
    "a line break": lambda text: "\n" in text.strip(),
    "characters outside ASCII": lambda text: not text.isascii(),
}

_COUNTED_TRAITS: dict[str, Callable[[Example], int]] = {
    "characters": lambda example: len(example.response.text),
    "words": lambda example: len(example.response.text.split()),
    "turns of context": lambda example: len(example.context),
    "characters of context": lambda example: sum(len(turn.text) for turn in example.context),
}


def surface_cues(examples: Sequence[Example], *, far: float = _FAR) -> tuple[Cue, ...]:
    """Return the traits that predict the label by themselves, the strongest first."""
    labelled = [example for example in examples if example.label is not None]
    measured = [_counted(trait, count, labelled) for trait, count in _COUNTED_TRAITS.items()]
    measured += [_present(trait, holds, labelled) for trait, holds in _PRESENT_TRAITS.items()]
    predictive = [cue for cue in measured if cue is not None and abs(cue.auc - 0.5) >= far]
    return tuple(sorted(predictive, key=lambda cue: -abs(cue.auc - 0.5)))


def _present(trait: str, holds: Callable[[str], bool], labelled: Sequence[Example]) -> Cue | None:
    return _cue(trait, [(int(holds(e.response.text)), bool(e.label)) for e in labelled], counted=False)


def _counted(trait: str, count: Callable[[Example], int], labelled: Sequence[Example]) -> Cue | None:
    return _cue(trait, [(count(e), bool(e.label)) for e in labelled], counted=True)


def _cue(trait: str, pairs: list[tuple[int, bool]], *, counted: bool) -> Cue | None:
    """Return AUC and best threshold in one pass over the sorted values; None where it is not significant."""
    histogram = Counter(pairs)
    values = sorted({value for value, _ in histogram})
    sarcastic = sum(count for (_, label), count in histogram.items() if label)
    plain = len(pairs) - sarcastic
    if not sarcastic or not plain or len(values) < 2:
        return None
    below_plain = below_sarcastic = 0
    area = 0.0
    best, cut, above = max(sarcastic, plain), values[0], sarcastic >= plain
    for value in values:
        # A threshold here: "value or more is sarcastic", or the other way round.
        right = below_plain + sarcastic - below_sarcastic
        for score, direction in ((right, True), (len(pairs) - right, False)):
            if score > best:
                best, cut, above = score, value, direction
        here_sarcastic, here_plain = histogram[value, True], histogram[value, False]
        area += here_sarcastic * (below_plain + here_plain / 2)
        below_plain += here_plain
        below_sarcastic += here_sarcastic
    auc = area / (sarcastic * plain)
    if abs(auc - 0.5) < _SURE * math.sqrt((1 / sarcastic + 1 / plain) / 12):
        return None
    base = max(sarcastic, plain) / len(pairs)
    rule = _rule(trait, cut, above, counted) if best / len(pairs) > base else ""
    return Cue(trait, counted, auc, rule, best / len(pairs), base, len(pairs))


def _rule(trait: str, cut: int, above: bool, counted: bool) -> str:
    label = "sarcastic" if above else "not sarcastic"
    return f"{cut} {trait} or more: {label}" if counted else f"{trait}: {label}"
