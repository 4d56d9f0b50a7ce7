"""Noun phrases, and their interactions with the author, the subreddit and the mood of the comment.

SARC leaves "the noun-phrase and feature interaction indicators proposed by (Wallace et al., 2014)" to future work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from deadpan.detect.systems.baselines import BagOfBigrams
from deadpan.detect.systems.signals import COUNTED, word_signals
from deadpan.records import Example
from deadpan.text import sarc_tokens

# A noun phrase begins after these words. No tagger comes with the program, so phrases are found by what is around
# them; Wallace et al. parse.
_AFTER = """a an the this that these those my your his her its our their some any every no each another all both
of in on at for with about from by into like than to and or"""
_NEVER = """is are was were be been being am has have had do does did will would can could should may might must shall
not n't 't who which what when where why how because if then but so as i you he she we they it me him us them
just really very too also never always go going get got make made say said see think know want need"""
_OUTSIDE = frozenset(f"{_AFTER} {_NEVER}".split())
_LONGEST = 3
_WORD = re.compile(r"[^\W\d_][\w'’-]*")


def noun_phrases(text: str) -> Iterator[str]:
    """Yield runs of one to three words after a determiner or preposition, and runs of capitalised words."""
    phrase: list[str] = []
    for token in [*sarc_tokens(text), "."]:
        if token in _OUTSIDE or not _WORD.fullmatch(token):
            if 0 < len(phrase) <= _LONGEST:
                yield " ".join(phrase)
            phrase = []
        else:
            phrase.append(token)
    # A name is written with capitals; the first word of a comment is too, whatever it is.
    for name in re.findall(r"(?<=[a-z,] )(?:[A-Z][\w'’-]+)(?: [A-Z][\w'’-]+){0,2}", text):
        yield name.lower()


class NounPhrases(BagOfBigrams):
    """Words and bigrams, the noun phrases of the comment, and each phrase with its author, subreddit and mood.

    The phrases of the turn that is answered count too, where the response repeats them. Trained as SARC's
    baselines are: no intercept, C by two-fold cross-validation.
    """

    about = "SARC's future work: noun phrases with author, subreddit and mood"

    def __init__(self, *, interactions: bool = True, **settings: Any) -> None:
        super().__init__(**settings)
        self.interactions = interactions

    def _grams(self, example: Example) -> list[str]:
        grams = super()._grams(example)
        phrases = list(dict.fromkeys(noun_phrases(example.response.text)))
        grams += [f"np: {phrase}" for phrase in phrases]
        if not self.interactions:
            return grams
        about = {
            "author": str(example.meta.get("author") or example.response.speaker),
            "subreddit": str(example.meta.get("subreddit") or ""),
            "mood": _mood(example.response.text),
        }
        known = {name: value for name, value in about.items() if value}
        grams += [f"{name}: {value}" for name, value in known.items()]
        grams += [f"np: {phrase} & {name}: {value}" for phrase in phrases for name, value in known.items()]
        if example.context:
            before = set(noun_phrases(example.context[-1].text))
            grams += [f"np repeated & mood: {about['mood']}" for phrase in phrases if phrase in before]
        return grams


_GOOD, _BAD = COUNTED.index("good"), COUNTED.index("bad")


def _mood(text: str) -> str:
    """Return whether praise or blame prevails, by the lexicon of the linear system."""
    words = text.split()
    if not words:
        return ""
    sums = np.asarray(word_signals(words)).sum(axis=0)
    good, bad = float(sums[_GOOD]), float(sums[_BAD])
    return "both" if good and bad else "praise" if good else "blame" if bad else ""
