"""The answer to one text: its label, what its score means, and which phrases and earlier turns it depends on.

A phrase is a run of words inside a sentence. What it contributes is found by leaving it out, so that any
system can be explained, and every number that is told was computed.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

from deadpan.detect.card import Card
from deadpan.detect.detector import AUTO, ENCODER, Detector, best_detector, load_at
from deadpan.detect.verdicts import MARKED, NAMES, NO_WORDS, Bands, guess_language
from deadpan.errors import ConfigError
from deadpan.formats.labels import CANNOT_TELL, NOT_SUPPORTED, label_words
from deadpan.page import Summary, Table
from deadpan.records import Example, Prediction, Turn
from deadpan.results import Result

MOST_WORDS = 200
LONGEST_PHRASE = 5
MOST_READ = 8_000
"""Words predicted to explain one text, in all its variants: of a long one, only shorter phrases are tried."""
AT_ONCE = 50
"""Texts predicted together: for more, a detector may load a library that takes seconds."""
_FARTHEST = 12.0
"""Log odds that stand for a score of 0 or 1."""
BY_LENGTH = 0.4
"""A phrase is ranked by its push over this power of its number of words: any longer one moves the score more."""
DANGLING = 0.8
"""Factor for a phrase that ends in a function word, such as "another meeting that"."""
NOTICEABLE, STRONG = 0.15, 0.4
"""Log odds from which a phrase is named, and from which one that speaks against the answer is named too."""
ABOVE_NOISE = 1.5
"""A phrase is named if it moves the score this many times as far as the median phrase of its length."""
_FEW = 4
"""Phrases of one length below which a median says nothing."""
NAMED = 2
"""Phrases and turns named on either side."""
MOSTLY = 0.5
"""Share of the log odds, from where no text is read to the score, that the reason called main accounts for."""
WEAK = math.log(3)
"""Log odds below which a text is weak evidence: the odds change by less than a factor of 3 (Jeffreys)."""
WIDEST, SHOWN, LEAST_SHOWN = 60, 12, 0.01
"""Characters of a piece, rows, and the smallest push in a table."""
_FUNCTION_WORDS = """
a an the and or but of to in on at by for from with as is are was were be been am it its it's i i'm you he
she we they me my your his her our their this that these those there do does did have has had will would can
could if than then that's there's what's he's she's we're they're you're i've you've we've they've i'd i'll
you'd you'll we'll they'll it'll so just too very not no what how when who which because another all one up out
about some any
في من على إلى عن مع هذا هذه ذلك تلك الذي التي أن إن لي لك له لها لنا لهم
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""Words that are never a reason alone, since they say nothing to a reader; the table has them."""
_TOGETHER = "No phrase decides alone; the words together do."
ALONE = "A single word: how it was meant depends on what was said before."
LOG_ODDS = (
    "The push of a word or an earlier turn is what it adds to the log odds of {}, found by leaving it "
    "out: +0.7 doubles the odds, -0.7 halves them. Words work together, so pushes need not add up."
)
_SENTENCE_END = re.compile(r"[.!?…。！？؟][\"'”’)]*$")
BY_ENCODER = "Answered by `encoder`, the most accurate detector in the package for English."


def answer_text(
    text: str,
    *,
    context: Sequence[str] = (),
    detector: str = AUTO,
    prevalence: float | None = None,
    in_detail: bool = False,
) -> Explanation:
    """Label one text with a saved detector, and name the phrases and turns that its score depends on.

    `prevalence` is the share of sarcastic texts where it comes from; the score is for that share. "auto" is
    `encoder` for English where its weights have been pulled, and `base` elsewhere. `in_detail` shows every word.
    """
    if not text.strip():
        raise ConfigError("there is no word to judge: give a text")
    name = best_detector(text, detector)
    loaded = load_at(name, prevalence)
    notes = [*_unread(loaded, text, context), *([BY_ENCODER] if name == ENCODER else [])]
    return loaded.explain(text, context=context, model=name, notes=notes, in_detail=in_detail)


def _unread(detector: Detector, text: str, context: Sequence[str]) -> list[str]:
    """Return what of the text or its context the model did not read, if anything."""
    if context and detector.predictor.context.turns == 0:
        return ["The context was NOT read: this model reads the response only; train one that reads turns."]
    members = getattr(detector.predictor, "members_", [detector.predictor])
    found = [getattr(getattr(each, "options", None), "max_tokens", None) for each in members]
    limits = [limit for limit in found if limit is not None]
    if not limits or len(text.split()) <= min(limits):
        return []
    what = "this model" if len(limits) == len(members) else "the encoder in this model"
    return [f"Only the beginning of the text was read: {what} reads at most {min(limits)} words."]


@dataclass(frozen=True, slots=True)
class Influence:
    """A piece of the text, the log odds of sarcasm it adds (below 0: removes), and the score without it."""

    text: str
    push: float
    without: float


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Result):
    """The answer to a text, and what each word, the main phrases and each turn before it contribute.

    There are no words where there is nothing to explain: in a language that is not supported, in a text
    that its author marked, or in one of more than 200 words.
    """

    example: Example
    prediction: Prediction
    words: tuple[Influence, ...] = ()
    phrases: tuple[Influence, ...] = ()
    context: tuple[Influence, ...] = ()
    model: str = ""
    notes: tuple[str, ...] = ()
    bands: Bands | None = None
    category: str = ""
    """The kind of sarcasm that the detector judges, such as irony; empty for sarcasm as a whole."""
    card: Card | None = None
    in_detail: bool = False
    """Show the push of every word, too."""

    def __repr__(self) -> str:
        return f"<Explanation of {len(self.words)} words: {self.answer}, score {self.score}>"

    @property
    def label(self) -> bool | None:
        """True for sarcastic; None where the detector cannot tell."""
        return self.prediction.label

    @property
    def score(self) -> float | None:
        """The score of the whole, from 0 to 1; None for a language that is not supported."""
        return self.prediction.score

    @property
    def answer(self) -> str:
        """One of: sarcastic, not sarcastic, cannot tell, not supported; of one category: irony, not irony."""
        what = self.category or "sarcastic"
        if self.label is None:
            return self.prediction.raw.partition(":")[0] if self.bands else CANNOT_TELL
        return what if self.label else f"not {what}"

    def in_words(self) -> list[str]:
        """Return the answer, what its score means, and what it depends on, as sentences for everybody."""
        score, raw = self.score, self.prediction.raw
        if score is None:
            return [f"{NOT_SUPPORTED}: {looks_like(self.prediction, self.bands)}" if self.bands
                    else f"no answer could be read: {raw!r}"]  # fmt: skip
        if raw == NO_WORDS:
            return [raw]
        if raw and self.label is not None:
            return [self.answer, f"The text is {raw}."]
        told = meaning(self.prediction, self.bands, self.card, guess_language(self.example.response.text))
        return [f"{self.answer}: {told}", *(self.reasons() if self.words else ()), *self.notes]

    def reasons(self) -> list[str]:
        """Return the phrases and turns that the score depends on, one sentence each."""
        pieces = sorted(
            [*self.phrases, *(turn for turn in self.context if abs(turn.push) >= NOTICEABLE)],
            key=lambda piece: -abs(piece.push),
        )
        sides = {up: [piece for piece in pieces if (piece.push > 0) is up][:NAMED] for up in (True, False)}
        if not pieces:
            return [ALONE if len(self.words) == 1 and not self.context else _TOGETHER]
        if self.label is None:
            return [self._side(up, sides[up]) for up in (True, False) if sides[up]]
        lines = []
        places = _places(self.bands)
        if sides[self.label]:
            first, *others = sides[self.label]
            prior = self.bands.prevalence if self.bands else 0.5
            share = first.push / (log_odds(self.score or 0.0) - log_odds(prior) or math.inf)
            lines.append(f"{'Mostly' if share >= MOSTLY else 'Partly'} because of {self._name(first)}: without it "
                         f"the score {'falls' if self.label else 'rises'} from {self.score:.{places}f} to "
                         f"{first.without:.{places}f}.")  # fmt: skip
            lines += [f"Also because of {self._name(each)}: {each.without:.{places}f} without it." for each in others]
        against = [piece for piece in sides[not self.label] if abs(piece.push) >= STRONG]
        if against:
            lines.append(self._side(not self.label, against))
        if not sides[self.label]:
            lines.append(_TOGETHER)
        return lines

    def _side(self, up: bool, pieces: Sequence[Influence]) -> str:
        places = _places(self.bands)
        named = " and ".join(f"{self._name(piece)} ({piece.without:.{places}f} without it)" for piece in pieces)
        verb = "points" if len(pieces) == 1 else "point"
        return f"{named[0].upper()}{named[1:]} {verb} {'to' if up else 'away from'} {self.category or 'sarcasm'}."

    def _name(self, piece: Influence) -> str:
        said = "what was said before, " if piece in self.context else ""
        return f"{said}“{_short(bare_word(piece.text))}”"

    def strongest(self, most: int = SHOWN, least: float = LEAST_SHOWN) -> list[Influence]:
        """Return the words and turns with the largest pushes."""
        pieces = [piece for piece in (*self.context, *self.words) if abs(piece.push) >= least]
        return sorted(pieces, key=lambda piece: -abs(piece.push))[:most]

    def summary(self) -> Summary:
        """Return the answer in words; in detail, with the words and turns that have the largest pushes."""
        notes = self.in_words()
        if not self.in_detail:
            return Summary(notes=tuple(notes))
        no, yes = label_words(self.category)[::-1]
        rows = tuple((_short(p.text), f"{p.push:+.2f}", yes if p.push > 0 else no) for p in self.strongest())
        if not rows:
            return Summary(notes=(*notes, "Leaving out a single word or turn does not change the score."))
        return Summary((Table(("left out", "push, log odds", "towards"), rows),), tuple(notes))

    def as_dict(self) -> dict[str, object]:
        """Return the answer, and what every phrase, word and turn contributes."""
        language = guess_language(self.example.response.text)
        return {
            "answer": self.answer, "label": self.label, "score": self.score, "raw": self.prediction.raw,
            "prevalence": self.bands.prevalence if self.bands else None,
            "calibrated_on": self.card.calibrated_on(language) if self.card else None,
            "weak": is_weak(self.prediction, self.bands), "model": self.model,
            "in_words": self.in_words(), "phrases": [asdict(phrase) for phrase in self.phrases],
            "words": [asdict(word) for word in self.words], "context": [asdict(turn) for turn in self.context],
        }  # fmt: skip

    def write_page(self, path: Path) -> None:
        """Write a page with the conversation, the reasons, a bar per word, and the numbers."""
        from deadpan.detect.chart import influence_chart
        from deadpan.page import Page

        if path.suffix.lower() not in (".html", ".htm"):
            raise ConfigError(f"{path}: the page is HTML: give a name that ends in .html")
        first, *others = self.in_words()
        page = Page(f"Why the answer is: {self.answer}", f"By the model {self.model}. {first[0].upper()}{first[1:]}")
        note = "" if self.score is None else f"score {self.score:.2f}"
        page.conversation(self.example, None if self.category else self.label, note=note)
        for line in others:
            page.note(line)
        rows = tuple((piece.text, piece.push) for piece in (*self.words, *self.context))
        if rows:
            title = "What each word pushes towards, in log odds"
            chart = influence_chart(rows, label_words(self.category)[::-1])
            page.figure(chart, title, Table(("left out", "push, log odds"), rows))
            page.note(LOG_ODDS.format(self.category or "sarcasm"))
        page.write(path)


# ------------------------------------------------------------ what a score means


def meaning(prediction: Prediction, bands: Bands | None, card: Card | None, language: str) -> str:
    """Return what a score means: a probability only where it was calibrated, and on which texts."""
    score = prediction.score or 0.0
    if bands is None:
        return f"score {score:.2f} from 0 to 1, which is not calibrated: no probability."
    places = _places(bands)
    if prediction.label is None:
        low, high = bands.undecided(language) or (0.0, 1.0)
        risk = card.risk(language) if card else None
        wrong = "" if risk is None else f"; even beyond it {risk:.0%} of answers are wrong"
        shown, low_shown, high_shown = (f"{number:.{places}f}" for number in (score, low, high))
        return f"the score {shown} is too close to call, between {low_shown} and {high_shown}{wrong}."
    weak = "weak evidence, " if is_weak(prediction, bands) else ""
    texts = card.calibrated_on(language) if card else None
    if texts is None:
        return f"{weak}score {score:.{places}f} where {bands.prevalence:.{places - 2}%} of texts are sarcastic."
    chance, rate = f"{score:.{places - 2}%}", f"{bands.prevalence:.{places - 2}%}"
    return f"{weak}sarcasm is {chance} probable (calibrated on {texts}) where {rate} of texts are sarcastic."


def _places(bands: Bands | None) -> int:
    """Return the decimals of a score; where few texts are sarcastic, all scores begin with 0.0."""
    rarer = min(bands.prevalence, 1 - bands.prevalence) if bands else 0.5
    return max(2, 1 - math.floor(math.log10(rarer)))


def is_weak(prediction: Prediction, bands: Bands | None) -> bool | None:
    """Return whether a text changes the odds by less than a factor of 3; None without calibrated scores."""
    if bands is None or prediction.score is None:
        return None
    return abs(log_odds(prediction.score) - log_odds(bands.prevalence)) < WEAK


def looks_like(prediction: Prediction, bands: Bands | None) -> str:
    """Return which language a text seems to be in, and which ones the detector knows."""
    known = [NAMES[language] for language in (bands.languages if bands else ())]
    return f"this looks like {prediction.raw.partition(': ')[2]}; this detector knows {', '.join(known)}"


def log_odds(score: float) -> float:
    """Return the log odds of a probability, within limits."""
    if score <= 0 or score >= 1:
        return _FARTHEST if score >= 1 else -_FARTHEST
    return max(-_FARTHEST, min(_FARTHEST, math.log(score / (1 - score))))


# ------------------------------------------------------------ what it depends on


def explain(
    detector: Detector,
    example: Example,
    *,
    prediction: Prediction | None = None,
    model: str = "",
    notes: Sequence[str] = (),
    most: int = MOST_READ,
) -> Explanation:
    """Answer a text, and predict it again without each phrase and without each turn that is read.

    `prediction` is that of the whole, if it is known. What is left without a phrase counts as being in the
    language of the whole. About `most` words are read at most, unless leaving out single words takes more.
    """
    text = example.response.text
    words = [match.span() for match in re.finditer(r"\S+", text)]
    if not words:
        raise ConfigError("there is no word to explain: give a text")
    language = guess_language(text)
    whole = prediction or detector.predict_in(language, [example])[0]
    said = Explanation(
        example, whole, model=model, notes=tuple(notes), bands=detector.bands, category=detector.category,
        card=detector.card,
    )  # fmt: skip
    if whole.score is None or whole.raw in (MARKED, NO_WORDS):
        return said
    if len(words) > MOST_WORDS:
        return replace(said, notes=(*said.notes, f"Longer than {MOST_WORDS} words: no phrases are named."))
    spans = _spans(text, words, max(1, min(LONGEST_PHRASE, most // len(words) ** 2)))
    turns = detector.predictor.context.turns
    # Leaving out one of the turns that are read brings the one before them into view.
    read = range(len(example.context))[-turns:] if turns else range(len(example.context) if turns is None else 0)
    variants = [*_without(example, words, spans), *(_without_turn(example, place) for place in read)]
    scores: list[float] = []
    for start in range(0, len(variants), AT_ONCE):
        answers = detector.predict_in(language, variants[start : start + AT_ONCE])
        scores += [whole.score if answer.score is None else answer.score for answer in answers]
    full = log_odds(whole.score)

    def influence(piece: str, score: float) -> Influence:
        return Influence(piece, full - log_odds(score), score)

    found = {
        span: influence(text[words[span[0]][0] : words[span[1] - 1][1]], score)
        for span, score in zip(spans, scores, strict=False)
    }
    context = [influence(example.context[at].text, s) for at, s in zip(read, scores[len(spans) :], strict=True)]
    return replace(
        said, words=tuple(found[at, at + 1] for at in range(len(words))), phrases=tuple(_choose(found)),
        context=tuple(context),
    )  # fmt: skip


def _spans(text: str, words: Sequence[tuple[int, int]], longest: int) -> list[tuple[int, int]]:
    """Return the runs of words that cross no end of a sentence, as positions of words."""
    found = []
    for start in range(len(words)):
        for end in range(start + 1, min(start + longest, len(words)) + 1):
            found.append((start, end))
            if _SENTENCE_END.search(text[slice(*words[end - 1])]):
                break
    return found


def _without(example: Example, words: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> list[Example]:
    text, speaker = example.response.text, example.response.speaker
    rests = (f"{text[: words[start][0]]}{text[words[end - 1][1] :]}".strip() for start, end in spans)
    return [replace(example, response=Turn(speaker, rest)) for rest in rests]


def _without_turn(example: Example, place: int) -> Example:
    return replace(example, context=(*example.context[:place], *example.context[place + 1 :]))


def _choose(found: Mapping[tuple[int, int], Influence]) -> list[Influence]:
    """Return the phrases that stand out from others of their length, the strongest first; none overlap."""
    by_length: dict[int, list[float]] = {}
    for (start, end), piece in found.items():
        by_length.setdefault(end - start, []).append(abs(piece.push))
    noise = {length: ABOVE_NOISE * median(rows) if len(rows) > _FEW else 0.0 for length, rows in by_length.items()}
    ranked: list[tuple[float, int, int, Influence]] = []
    for (start, end), piece in found.items():
        words = [bare_word(word).casefold() for word in piece.text.split()]
        told = [word for word in words if word not in FUNCTION_WORDS and _says_something(word)]
        if told and abs(piece.push) >= max(NOTICEABLE, noise[end - start]):
            dangling = DANGLING if words[-1] in FUNCTION_WORDS else 1.0
            ranked.append((dangling * abs(piece.push) / (end - start) ** BY_LENGTH, start, end, piece))
    chosen: list[tuple[float, int, int, Influence]] = []
    for row in sorted(ranked, key=lambda row: (-row[0], row[1:3])):
        if all(row[2] <= start or row[1] >= end for _, start, end, _ in chosen):
            chosen.append(row)
    return [piece for *_, piece in chosen]


def bare_word(text: str) -> str:
    """Return a piece without the punctuation around it; a sign alone stays."""
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
    text = " ".join(_visible(text).split())
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


IN_TABLES = 2_000
"""Words predicted to explain one row of a table."""


def reasons(detector: Detector) -> Callable[[Example, Prediction], str]:
    """Return a function from an example and its prediction to the main reasons, for a column of a table."""

    def reason(example: Example, prediction: Prediction) -> str:
        if prediction.score is None:
            return prediction.raw or "the answer could not be read"
        if prediction.raw in (MARKED, NO_WORDS):
            return prediction.raw
        explanation = explain(detector, example, prediction=prediction, most=IN_TABLES)
        return " ".join((*(explanation.reasons() if explanation.words else ()), *explanation.notes))

    return reason
