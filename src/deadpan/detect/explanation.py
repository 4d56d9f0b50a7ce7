"""Explain a score: leave out each word, and each turn before it, one at a time. Works for any system."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.detect.verdicts import Bands, guess_language
from deadpan.errors import ConfigError
from deadpan.formats.labels import CANNOT_TELL, label_words
from deadpan.page import Page, Table
from deadpan.page.summary import Summary
from deadpan.palette import LIGHT
from deadpan.records import Example, Prediction, Turn
from deadpan.results import Result
from deadpan.text import printable

if TYPE_CHECKING:
    from deadpan.detect.detector import Detector

MOST_WORDS = 200
FARTHEST = 12.0
WIDEST = 60
"""Characters of a turn in a table."""
SHOWN = 12
NAMED = 4
"""Words named on either side in a sentence."""
NOTICEABLE = 0.1
"""Log odds from which a word or turn is named in a sentence."""
STRONG = 0.3
"""Log odds from which a word that speaks against the answer is named too."""
FUNCTION_WORDS = """
a an the and or but of to in on at by for from with as is are was were be been am it its it's i i'm you he
she we they me my your his her our their this that these those there do does did have has had will would can
could if than then that's there's what's he's she's we're they're you're i've you've we've they've i'd i'll
you'd you'll we'll they'll it'll
في من على إلى عن مع هذا هذه ذلك تلك الذي التي أن إن لي لك له لها لنا لهم
"""
"""Words that are never named as a reason, since they say nothing to a reader; tables have them."""
TOGETHER = "No single word decides; the words together do."
TOO_LITTLE = "That is not enough to call it {}."
STILL = "The words as a whole make it {}."
"""Said where everything that is named points away from the answer."""
LEAST_SHOWN = 0.01
GUESS = "a statistical guess"
LOG_ODDS = (
    "The push of a word or an earlier turn is what it adds to the log odds of {}, found by leaving it "
    "out: +0.7 doubles the odds, -0.7 halves them. Words work together, so pushes need not add up."
)
AT_ONCE = 50
"""Texts predicted together: for more, a detector may load a library that takes seconds."""
LEAST_PUSH = 0.05
HEIGHT, BARS, NUMBER = 24, 280, 60
LONGEST_NAME = 24
LETTER = 8.5
"""Width of an average letter at 14 pixels, rounded up; names are set aside as much room as they need."""


@dataclass(frozen=True, slots=True)
class Influence:
    """A piece of the text, and the log odds of sarcasm it adds (below 0: removes)."""

    text: str
    push: float


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """A score and the influence of each word and turn on it."""

    example: Example
    label: bool | None
    score: float
    words: tuple[Influence, ...]
    context: tuple[Influence, ...]
    model: str = ""
    note: str = ""
    bands: Bands | None = None
    category: str = ""
    """The kind of sarcasm that the detector judges, such as irony; empty for sarcasm as a whole."""

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.words)} words: {self.answer}, score {self.score:.2f}>"

    @property
    def answer(self) -> str:
        """The answer as a word."""
        return verdict_name(self.label, self.category)

    def in_words(self) -> list[str]:
        """Return the words and turns that moved the score, as sentences for everybody."""
        lines, supported, unnamed = [], self.label is None, frozenset(FUNCTION_WORDS.split())
        what = self.category or "sarcasm"
        for turn in sorted(self.context, key=lambda one: -abs(one.push)):
            if abs(turn.push) >= (STRONG if self.label is (turn.push < 0) else NOTICEABLE):
                more = "more" if turn.push > 0 else "less"
                lines.append(f"What was said before, “{_short(turn.text)}”, makes {what} {more} likely.")
                supported |= self.label is (turn.push > 0)
        for side, sign in (("to", 1), ("away from", -1)):
            least = STRONG if self.label is (sign < 0) else NOTICEABLE
            pushes: dict[str, float] = {}
            for word in self.words:
                name = bare_word(word.text)
                if sign * word.push >= least and name.casefold() not in unnamed and _says_something(name):
                    pushes[name] = max(pushes.get(name, 0.0), sign * word.push)
            named = sorted(pushes, key=lambda name: -pushes[name])[:NAMED]
            if named:
                lines.append(f"Words that point {side} {what}: {', '.join(f'“{w}”' for w in named)}.")
                supported |= self.label is (sign > 0)
        if not lines and len(self.words) == 1:
            return ["A single word: how it was meant depends on what was said before."]
        if lines and not supported:
            lines.append((STILL if self.label else TOO_LITTLE).format(self.category or "sarcastic"))
        return lines or [TOGETHER]

    def strongest(self, most: int = SHOWN, least: float = LEAST_SHOWN) -> list[Influence]:
        """Return the pieces with the largest pushes."""
        pieces = [piece for piece in (*self.context, *self.words) if abs(piece.push) >= least]
        return sorted(pieces, key=lambda piece: -abs(piece.push))[:most]

    def summary(self) -> Summary:
        """Return the pieces with the largest pushes, the strongest first."""
        sides = side_names(self.category)
        rows = tuple((_short(p.text), f"{p.push:+.2f}", sides[p.push > 0]) for p in self.strongest())
        notes = [f"{self.answer}{score_words(self.score, self.bands)}", *self.in_words()]
        if not rows:
            notes.append("Leaving out a single word or turn does not change the score.")
        if self.note:
            notes.append(self.note)
        tables = (Table(("left out", "push, log odds", "towards"), rows),) if rows else ()
        return Summary(tables, tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the score and the push of every word and turn."""
        return {
            "label": self.label, "answer": self.answer, "score": self.score,
            "words": [asdict(word) for word in self.words],
            "context": [asdict(turn) for turn in self.context],
            "model": self.model,
        }  # fmt: skip

    def write_page(self, path: Path) -> None:
        """Write a page with the conversation, a bar per word, and the numbers."""
        if path.suffix.lower() not in (".html", ".htm"):
            raise ConfigError(f"{path}: the page is HTML: give a name that ends in .html")
        lead = f"Score {self.score:.2f} by the model {self.model}: {GUESS}."
        page = Page(f"Why the answer is: {self.answer}", lead)
        page.conversation(self.example, None if self.category else self.label, note=f"score {self.score:.2f}")
        for line in self.in_words():
            page.note(line)
        pieces = [*self.words, *self.context]
        rows = tuple((piece.text, piece.push) for piece in pieces)
        title = "What each word pushes towards, in log odds"
        chart = influence_chart([(piece.text, piece.push) for piece in pieces], side_names(self.category))
        page.figure(chart, title, Table(("left out", "push, log odds"), rows))
        page.note(LOG_ODDS.format(self.category or "sarcasm"))
        page.write(path)


def explain(
    detector: Detector, example: Example, *, prediction: Prediction | None = None, model: str = "", note: str = ""
) -> Explanation:
    """Predict without each word of the response, and without each turn before it.

    `prediction` is that of the whole, if it is known. What is left without a word counts as being in the
    language of the whole.
    """
    text = example.response.text
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if not spans:
        raise ConfigError("there is no word to explain: give a text")
    if len(spans) > MOST_WORDS:
        raise ConfigError(f"{len(spans):,} words: at most {MOST_WORDS} can be explained; shorten the text")
    language = guess_language(text)
    whole = prediction or detector.predict_in(language, [example])[0]
    if whole.score is None:
        reason = whole.raw or "the answer of this system could not be parsed"
        raise ConfigError(f"{reason}: there is nothing to explain")
    variants = _variants(example, spans)
    full, pushes = _log_odds(whole.score), []
    for start in range(0, len(variants), AT_ONCE):
        answers = detector.predict_in(language, variants[start : start + AT_ONCE])
        pushes += [0.0 if a.score is None else full - _log_odds(a.score) for a in answers]
    words = tuple(Influence(text[low:high], push) for (low, high), push in zip(spans, pushes, strict=False))
    turns = tuple(Influence(turn.text, push) for turn, push in zip(example.context, pushes[len(spans) :], strict=True))
    return Explanation(example, whole.label, whole.score, words, turns, model, note, detector.bands, detector.category)


def _variants(example: Example, spans: Sequence[tuple[int, int]]) -> list[Example]:
    """Return the example without each word, and without each turn."""
    text, speaker = example.response.text, example.response.speaker
    variants = []
    for low, high in spans:
        rest = f"{text[:low]}{text[high:]}".strip()
        variants.append(replace(example, id=f"word-{low}", response=Turn(speaker, rest)))
    for place in range(len(example.context)):
        rest_of = (*example.context[:place], *example.context[place + 1 :])
        variants.append(replace(example, id=f"turn-{place}", context=rest_of))
    return variants


def score_words(score: float, bands: Bands | None) -> str:
    """Return what a score means: a share of sarcastic texts belongs to every probability."""
    if bands is None:
        return f" (score {score:.2f} from 0 to 1, {GUESS})"
    return f" ({GUESS}: sarcasm is {score:.0%} probable where {bands.prevalence:.0%} of texts are sarcastic)"


def verdict_name(label: bool | None, category: str = "") -> str:
    """Return the answer as a word, of a detector of all sarcasm or of one kind; None is "cannot tell"."""
    what = category or "sarcastic"
    return CANNOT_TELL if label is None else what if label else f"not {what}"


def side_names(category: str = "") -> tuple[str, str]:
    """Return the two labels as words, the negative one first."""
    yes, no = label_words(category)
    return no, yes


def bare_word(text: str) -> str:
    """Return a word without the punctuation around it; a sign alone stays."""
    return _visible(text).strip(".,;:!?…\"'“”‘’()[]{}،؛؟。、！？") or text


def _says_something(name: str) -> bool:
    """Return whether a reader learns something from a piece: links, markup and numbers say nothing."""
    if "://" in name or "</" in name or name.startswith(("<", "www.")):
        return False
    return any(c.isalpha() or c in "!?.…" or unicodedata.category(c) == "So" for c in name)


def _visible(text: str) -> str:
    """Return a text without characters that only steer its display, such as the direction of writing."""
    return text if text.isascii() else "".join(c for c in text if c == "\u200d" or unicodedata.category(c) != "Cf")


def _short(text: str) -> str:
    text = _visible(text)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


def _log_odds(score: float) -> float:
    if score <= 0 or score >= 1:
        return FARTHEST if score >= 1 else -FARTHEST
    return max(-FARTHEST, min(FARTHEST, math.log(score / (1 - score))))


def reasons(detector: Detector) -> Callable[[Example, Prediction], str]:
    """Return a function from an example and its prediction to the words with the largest pushes."""

    def reason(example: Example, prediction: Prediction) -> str:
        if prediction.score is None:
            return prediction.raw or "the answer could not be read"
        if len(example.response.text.split()) > MOST_WORDS:
            return f"longer than {MOST_WORDS} words: not explained"
        strongest = explain(detector, example, prediction=prediction).strongest(NAMED, LEAST_PUSH)
        if not strongest:
            return "no single word moves the score"
        return ", ".join(f"{bare_word(piece.text)} {piece.push:+.1f}" for piece in strongest)

    return reason


def influence_chart(pieces: Sequence[tuple[str, float]], sides: tuple[str, str] = ("sincere", "sarcastic")) -> str:
    """Return the chart of (text, push) pieces; `sides` names the left and the right."""
    largest = max(0.5, *(abs(push) for _, push in pieces))
    names = [_name(text) for text, _ in pieces]
    label = 16 + max(40, round(LETTER * max(map(_width, names), default=0)))
    middle, half, width = label + BARS / 2, BARS / 2 - NUMBER, label + BARS
    bars = [
        _bar(name, push, place * HEIGHT, label, (middle, half * abs(push) / largest))
        for place, (name, (_, push)) in enumerate(zip(names, pieces, strict=True))
    ]
    bottom = len(pieces) * HEIGHT
    words = "".join(
        f'<text x="{at}" y="{bottom + 20}" text-anchor="{side}" style="fill: {LIGHT[role]}">{mark}</text>'
        for at, side, role, mark in (
            (middle - 8, "end", "sincere-text", f"● {escape(sides[0])}"),
            (middle + 8, "start", "sarcastic-text", f"▲ {escape(sides[1])}"),
        )
    )
    axis = f'<path d="M{middle} 0V{bottom}" style="stroke: {LIGHT["rule"]}"/>{words}'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 30}" width="{width}" '
        f'style="font: 14px system-ui, sans-serif; min-width: 0; max-width: {width}px">'
        f"{axis}{''.join(bars)}</svg>"
    )


def _name(text: str) -> str:
    return printable(text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…")


def _width(name: str) -> float:
    """Return the width in letters; one of Korean, Chinese or Japanese counts twice."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in name)


def _bar(name: str, push: float, y: int, label: int, drawn: tuple[float, float]) -> str:
    middle, length = drawn
    left = middle if push > 0 else middle - length
    hue = LIGHT["sarcastic" if push > 0 else "sincere"]
    side, at = ("start", middle + length + 6) if push > 0 else ("end", middle - length - 6)
    return (
        f'<text x="{label - 8}" y="{y + 16}" text-anchor="end" style="fill: {LIGHT["ink"]}">'
        f"{escape(name)}</text>"
        f'<rect x="{left:.1f}" y="{y + 4}" width="{length:.1f}" height="{HEIGHT - 8}" style="fill: {hue}"/>'
        f'<text x="{at:.1f}" y="{y + 16}" text-anchor="{side}" style="fill: {LIGHT["muted"]}">'
        f"{push:+.2f}</text>"
    )
