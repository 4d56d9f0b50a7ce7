"""Surface cues: traits other than words that predict the label (length, links, spaces, case)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deadpan.records import Example

FAR = 0.1
"""Least distance of an AUC from 0.5: below it, sarcastic and sincere texts differ in any corpus."""

SURE = 3.0
"""Least distance in standard errors, so that small corpora show no spurious cues."""

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


PRESENT: dict[str, Callable[[str], bool]] = {
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

COUNTED: dict[str, Callable[[Example], int]] = {
    "characters": lambda example: len(example.response.text),
    "words": lambda example: len(example.response.text.split()),
    "turns of context": lambda example: len(example.context),
    "characters of context": lambda example: sum(len(turn.text) for turn in example.context),
}


def surface_cues(examples: Sequence[Example], *, far: float = FAR) -> tuple[Cue, ...]:
    """Return the traits that predict the label by themselves, the strongest first."""
    labelled = [example for example in examples if example.label is not None]
    measured = [_counted(trait, count, labelled) for trait, count in COUNTED.items()]
    measured += [_present(trait, holds, labelled) for trait, holds in PRESENT.items()]
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
    if abs(auc - 0.5) < SURE * math.sqrt((1 / sarcastic + 1 / plain) / 12):
        return None
    base = max(sarcastic, plain) / len(pairs)
    rule = _rule(trait, cut, above, counted) if best / len(pairs) > base else ""
    return Cue(trait, counted, auc, rule, best / len(pairs), base, len(pairs))


def _rule(trait: str, cut: int, above: bool, counted: bool) -> str:
    label = "sarcastic" if above else "not sarcastic"
    return f"{cut} {trait} or more: {label}" if counted else f"{trait}: {label}"
