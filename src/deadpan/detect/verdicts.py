"""Answers in three values (sarcastic, not sarcastic, cannot tell), thresholds, and the language of a text."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System
from deadpan.errors import ConfigError, DataError
from deadpan.formats.labels import CANNOT_TELL, NOT_SUPPORTED
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction
from deadpan.text import strip_markers

MARKED = "marked as sarcastic by its author"
MARKED_SCORE = 0.99
NO_WORDS = f"{CANNOT_TELL}: there are no words in it"
EVEN = 0.5
_SPOKEN_OF = re.compile(r"#\w+(?=\s+(?:is|are|was|means|detection|detectors?|research|tags?|hashtags?)\b)")
"""A tag that is the subject of its sentence, as in "#sarcasm is hard to hear", marks nothing."""
RULES = ("f1", "balanced")
DEFAULT_THRESHOLD = 0.5
SHRINKAGE = 100
"""Sarcastic examples that weigh as much as a known prevalence in the choice of a threshold."""
FOLDS = 5
"""Folds whose out-of-fold scores a threshold is chosen from."""
Threshold = str | float
NAMES = {
    "en": "English", "ko": "Korean", "ar": "Arabic", "de": "German", "fr": "French", "es": "Spanish",
    "it": "Italian", "pt": "Portuguese", "nl": "Dutch", "sv": "a Scandinavian language", "pl": "Polish",
    "tr": "Turkish", "id": "Indonesian", "vi": "Vietnamese", "fi": "Finnish", "ro": "Romanian",
    "cs": "Czech", "hu": "Hungarian", "sw": "Swahili", "tl": "Tagalog", "hi": "Hindi", "la": "Latin",
    "fa": "Persian or Urdu", "ja": "Japanese", "zh": "Chinese",
    "": "another language",
}  # fmt: skip
SCRIPTS = {"HANGUL": "ko", "ARABIC": "ar", "HIRAGANA": "ja", "KATAKANA": "ja", "CJK": "zh", "LATIN": "latin"}
_PERSIAN = set("پچژگکیٹڈڑںھہےۓ")
_FOREIGN = set("ßäöüåøæñ¿¡ãõąęłśźżćńşğıçěřůőűțșđơư")
_ENDINGS = {
    "de": re.compile("(ung|ungen|lich|liche|liches|licher|lichen|keit|heit|isch|ische|isches|ischer)$"),
    "it": re.compile("(zione|zioni|issim[oaie]|mente|ità|aggio|ezza|tore|trice)$"),
    "es": re.compile("(ción|ciones|idad|idades|ísim[oa]s?|miento|mientos|ito|ita|ados?|adas?)$"),
    "fr": re.compile("(eux|euse|eusement|ième|oire|ette|elle|eaux)$"),
}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_ASCII_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
"""The same for plain letters in lower case, in half the time."""
MOST_READ = 2000
"""Characters of a text that are looked at."""
_ASCII, _ASCII_LETTERS = re.compile("[\x00-\x7f]+"), re.compile("[A-Za-z]+")
_MARKS, _LETTERS = re.compile("[@#/]|www"), re.compile("[A-Za-z]{2,}")
_OPENING = re.compile(r"[A-Za-z]{2,}(?=\s)")
_LONE = re.compile("[a-zᄀ-ᇿ]")
"""Letters that are no word alone, unlike a Korean syllable."""
_NOISE = re.compile(r"https?://\S+|www\.\S+|\b[\w.-]+\.[a-z]{2,4}/\S*|[@#]\w+")
_TAG = re.compile(r"[@#]\w+")
SYLLABLES = {"ko": 2, "ja": 2, "zh": 2}
"""Latin letters that a character stands for, at least: tags and links make Korean posts look Latin."""
PERSIAN_SHARE = 0.08
"""Share of letters that Arabic lacks; Arabic posts have a few of them, as ornaments or in names."""


def check_prevalence(prevalence: float) -> float:
    """Return a share of sarcastic texts if it is one: above 0, below 1."""
    if isinstance(prevalence, bool) or not isinstance(prevalence, int | float) or not 0 < prevalence < 1:
        raise ConfigError(f"prevalence {prevalence!r}: give the share of sarcastic texts, such as 0.14")
    return float(prevalence)


def at_prevalence(score: float, prevalence: float, known: float = EVEN) -> float:
    """Return a probability that holds where `known` of the texts are sarcastic for another prevalence."""
    if score in (0.0, 1.0):
        return score
    odds = score / (1 - score) * prevalence / (1 - prevalence) * (1 - known) / known
    return odds / (1 + odds)


def rescaled(score: float, slope: float, shift: float) -> float:
    """Return a probability whose log odds are multiplied by `slope` and moved by `shift`."""
    if score in (0.0, 1.0) or (slope, shift) == (1.0, 0.0):
        return score
    return 1 / (1 + math.exp(-max(-500.0, min(500.0, slope * math.log(score / (1 - score)) + shift))))


@dataclass(frozen=True, slots=True)
class Bands:
    """For each language the two scores between which a detector cannot tell.

    They hold where half of the texts are sarcastic; scores that are shown hold for `prevalence`. A language
    without a band is not supported. `scales` are slope and shift of the log odds where a system's own scores
    are not calibrated.
    """

    prevalence: float
    languages: Mapping[str, tuple[float, float]]
    scales: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_prevalence(self.prevalence)
        for language, (low, high) in self.languages.items():
            if not 0 <= low <= high <= 1:
                raise ConfigError(f"band of {language}: 0 <= low <= high <= 1, got {low} and {high}")

    @classmethod
    def from_dict(cls, state: Mapping[str, Any]) -> Self:
        """Read what `as_dict` returned."""
        bands = {str(name): (float(low), float(high)) for name, (low, high) in state["languages"].items()}
        scales = {str(name): (float(a), float(b)) for name, (a, b) in state.get("scales", {}).items()}
        return cls(float(state["prevalence"]), bands, scales)

    def as_dict(self) -> dict[str, object]:
        """Return the bands for a file."""
        return {
            "prevalence": self.prevalence,
            "languages": {name: list(band) for name, band in self.languages.items()},
            "scales": {name: list(scale) for name, scale in self.scales.items()},
        }

    def at(self, prevalence: float) -> Bands:
        """Return the same bands with scores for another prevalence."""
        return replace(self, prevalence=check_prevalence(prevalence))

    def undecided(self, language: str) -> tuple[float, float] | None:
        """Return the two shown scores between which a detector cannot tell; None without a band."""
        if language not in self.languages:
            return None
        low, high = (at_prevalence(edge, self.prevalence) for edge in self.languages[language])
        # Beyond the band, an answer still needs a score on its own side of EVEN.
        return min(low, EVEN), max(high, EVEN)

    def judge(
        self, examples: Sequence[Example], predictions: Sequence[Prediction], languages: Sequence[str]
    ) -> list[Prediction]:
        """Return answers for predictions whose scores hold for an even prevalence, and texts in `languages`.

        The label is None where the detector cannot tell; `raw` says why. An answer never contradicts the
        score that is shown: where sarcasm is rare, more is needed to call a text sarcastic. A text without
        words has the prevalence as its score, one in a language without support has none.
        """
        return [self._judge(*row) for row in zip(examples, predictions, languages, strict=True)]

    def _judge(self, example: Example, prediction: Prediction, language: str) -> Prediction:
        text = example.response.text
        if not _is_simple(text) and strip_markers(_SPOKEN_OF.sub(" ", text))[1]:
            return Prediction(example.id, True, MARKED_SCORE, MARKED)
        if not has_words(text):
            return Prediction(example.id, None, self.prevalence, NO_WORDS)
        if language not in self.languages:
            return Prediction(example.id, None, None, f"{NOT_SUPPORTED}: {NAMES.get(language, language)}")
        if prediction.score is None:
            return prediction
        low, high = self.languages[language]
        score = rescaled(prediction.score, *self.scales.get(language, (1.0, 0.0)))
        shown = at_prevalence(score, self.prevalence)
        if low < score < high or (score >= high and shown < EVEN) or (score <= low and shown > EVEN):
            return Prediction(example.id, None, shown, CANNOT_TELL)
        return Prediction(example.id, score >= high, shown)


def check_threshold(threshold: Threshold) -> Threshold:
    """Return the threshold if it is a rule or a number from 0 to 1."""
    if isinstance(threshold, str) and threshold in RULES:
        return threshold
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not 0 <= float(threshold) <= 1:
        raise ConfigError(f"threshold {threshold!r}: choose f1, balanced, or a number from 0 to 1")
    return threshold


def check_choice(threshold: Threshold, prevalence: float | None) -> None:
    """Refuse a prevalence beside a number: it is a rule that chooses a threshold for a prevalence."""
    if prevalence is not None and not isinstance(threshold, str):
        raise ConfigError(
            f"prevalence {prevalence} has no effect on a threshold of {threshold}: a prevalence needs the threshold "
            "f1 or balanced"
        )


def parse_threshold(word: str) -> Threshold:
    """Return f1, balanced, or the number that was typed."""
    try:
        return check_threshold(word if word in RULES else float(word))
    except ValueError:
        raise ConfigError(f"threshold {word!r}: choose f1, balanced, or a number from 0 to 1") from None


def choose_threshold(
    examples: Sequence[Example], predictions: Sequence[Prediction], rule: Threshold, prevalence: float | None = None
) -> float:
    """Return the threshold with the best F1 of the sarcastic class, or the best balanced accuracy.

    It lies midway between two scores that occur; of equally good ones, the nearest to 0.5 is returned. The
    predictions must come from models that were not trained on these examples. With `prevalence`, F1 is that
    of a target with this share of sarcastic texts, and the threshold is drawn towards the one that calls this
    share sarcastic: the fewer sarcastic examples there are, the more.
    """
    if not isinstance(rule, str):
        return float(rule)
    score_of = {p.example_id: p.score for p in predictions}
    rows = [(score_of[e.id], e.label) for e in examples if e.label is not None]
    scored = [(score, label) for score, label in rows if score is not None]
    scores = np.array([score for score, _ in scored], dtype=np.float64)
    labels = np.array([label for _, label in scored], dtype=bool)
    if labels.all() or not labels.any():
        raise DataError(
            "a threshold can only be chosen from scores of examples of both labels: give more examples, "
            "or a number such as 0.5"
        )
    order = np.argsort(-scores, kind="stable")
    weights = _weights(labels, prevalence)[order]
    quality = _quality(labels[order], weights, rule)
    ranked = scores[order]
    cuttable = np.append(ranked[:-1] > ranked[1:], True)  # equal scores fall on one side
    middles = np.append((ranked[:-1] + ranked[1:]) / 2, ranked[-1] / 2)
    best = quality[cuttable].max()
    candidates = middles[cuttable & (quality >= best - 1e-12)]
    chosen = float(candidates[np.argmin(np.abs(candidates - 0.5))])
    if prevalence is None:
        return chosen
    called = np.cumsum(weights) / weights.sum()
    expected = float(ranked[min(int(np.searchsorted(called, prevalence)), len(ranked) - 1)])
    trust = int(labels.sum()) / (int(labels.sum()) + SHRINKAGE)
    return trust * chosen + (1 - trust) * expected


def _weights(labels: NDArray[np.bool_], prevalence: float | None) -> NDArray[np.float64]:
    """Return weights of examples under which `prevalence` of them are sarcastic."""
    if prevalence is None:
        return np.ones(len(labels))
    sides = prevalence / labels.sum(), (1 - prevalence) / (~labels).sum()
    weights: NDArray[np.float64] = np.where(labels, *sides).astype(np.float64) * len(labels)
    return weights


def _quality(labels: NDArray[np.bool_], weights: NDArray[np.float64], rule: str) -> NDArray[np.float64]:
    """Return the score of calling the first 1, 2, ... rows sarcastic."""
    n_true, n_false = weights[labels].sum(), weights[~labels].sum()
    hits, calls = np.cumsum(weights * labels), np.cumsum(weights)
    if rule == "f1":
        return np.asarray(2 * hits / (calls + n_true), dtype=np.float64)
    if rule == "balanced":
        return np.asarray((hits / n_true + 1 - (calls - hits) / n_false) / 2, dtype=np.float64)
    raise ConfigError(f"unknown rule {rule!r}: choose from {', '.join(RULES)}")


def out_of_fold_threshold(
    make: Callable[[], System],
    examples: Sequence[Example],
    rule: Threshold,
    *,
    prevalence: float | None = None,
    k: int = FOLDS,
    progress: Progress = silent,
) -> float:
    """Choose a threshold from scores that every labelled example gets from a model not trained on it.

    Folds cross no group or sequence, and copies and near copies of a test text are excluded from its training
    fold.
    """
    from deadpan.duplicates import copy_clusters
    from deadpan.splits import folds

    if not isinstance(rule, str):
        return float(rule)
    kept = [example for example in examples if example.label is not None]
    copies = dict(zip([e.id for e in kept], copy_clusters(e.response.text for e in kept).tolist(), strict=True))
    predictions: list[Prediction] = []
    try:
        for number, fold in enumerate(folds(kept, k, seed=1)):
            progress("threshold: fold", number, k)
            tested = {copies[example.id] for example in fold.test}
            system = make().fit([example for example in fold.train if copies[example.id] not in tested])
            predictions += system.predict(fold.test)
        return choose_threshold(kept, predictions, rule, prevalence)
    except (ConfigError, DataError) as problem:
        raise DataError(
            f"too few examples to choose a threshold in {k} folds ({problem}): use a number such as 0.5"
        ) from None


def at_threshold(predictions: Iterable[Prediction], threshold: float) -> list[Prediction]:
    """Return the same scores labelled by another threshold; a prediction without a score keeps its label."""
    return [p if p.score is None else replace(p, label=p.score > threshold) for p in predictions]


def has_words(text: str) -> bool:
    """Return whether a text has words besides links, names and tags; one letter, or one repeated, is none."""
    if (found := _OPENING.match(text)) and len(set(found[0].lower())) > 1:
        return True  # most texts begin with a word, which settles it
    if text.isascii() and (found := _LETTERS.search(_without_noise(text))) and len(set(found[0].lower())) > 1:
        return True
    letters = {c for c in _NOISE.sub(" ", _plain(text)).lower() if c.isalpha()}
    return len(letters) > 1 or any(not _LONE.match(letter) for letter in letters)


def guess_language(text: str) -> str:
    """Return a code of NAMES; empty for a language without one. A text without letters is English."""
    if text.isascii():
        return _latin(_without_noise(text).lower())
    plain = _NOISE.sub(" ", _plain(text))
    scripts = Counter(map(_script, filter(str.isalpha, _ASCII.sub("", plain))))
    if latin := sum(map(len, _ASCII_LETTERS.findall(plain))):
        scripts["latin"] += latin
    if not scripts:
        return "en"
    if scripts["ja"]:  # Japanese has Chinese characters too; a single kana may be a face
        scripts["ja"] += scripts.pop("zh", 0)
    script = max(scripts, key=lambda name: scripts[name] * SYLLABLES.get(name, 1))
    if script == "ar":  # Persian and Urdu use the Arabic script with letters of their own
        return "fa" if sum(letter in _PERSIAN for letter in plain) > PERSIAN_SHARE * scripts["ar"] else "ar"
    return _latin(plain.lower().replace("’", "'")) if script == "latin" else script


def _is_simple(text: str) -> bool:
    """Return whether a text is short, of plain letters, and has no links, names, tags or marks: most are."""
    return text.isascii() and len(text) <= MOST_READ and not _MARKS.search(text)


def _without_noise(text: str) -> str:
    """Return a text of plain letters without links, names, tags and marks of sarcasm."""
    if _is_simple(text):
        return text
    said = strip_markers(text[:MOST_READ])[0]
    # Looking for an address without http at every word is slow, and pointless without a slash.
    return (_NOISE if "/" in said or "www" in said else _TAG).sub(" ", said)


def _plain(text: str) -> str:
    """Return the beginning without marks of sarcasm, full-width and ornamental letters as plain ones."""
    return unicodedata.normalize("NFKC", strip_markers(text[:MOST_READ])[0])


@cache
def _script(letter: str) -> str:
    name = unicodedata.name(letter, "")
    return next((code for word, code in SCRIPTS.items() if name.startswith(word)), "")


@cache
def _frequent() -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Return the frequent words of each language, and those of any but English."""
    table = tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))
    # A letter alone is no sign: "w. bush", "my w-neck".
    languages = {name: frozenset(word for word in words.split() if len(word) > 1) for name, words in table.items()}
    return languages, frozenset().union(*(words for name, words in languages.items() if name != "en"))


def _by_endings(words: list[str]) -> str:
    """Return a language by suffixes that are rare in English, "" for another one, "en" if none is seen."""
    long = [word for word in words if len(word) > 3]
    for language, endings in _ENDINGS.items():
        if sum(bool(endings.search(word)) for word in long if len(word) > 5) * 3 >= max(len(long), 1):
            return language
    on_vowels = [word for word in long if word[-1] in "aoi"]
    return "" if len(on_vowels) > 1 and len(on_vowels) > 0.6 * len(long) else "en"


def _latin(text: str) -> str:
    plain = text.isascii()
    words = set((_ASCII_WORD if plain else _WORD).findall(text))
    languages, elsewhere = _frequent()
    english = len(words & languages["en"])
    # Most texts are English: no other language can have more hits than there are words of any other.
    if plain and english and english >= len(words & elsewhere):
        return "en"
    hits = {language: len(words & known) for language, known in languages.items()}
    most = max(hits.values())
    foreign = 0 if plain else sum(letter in _FOREIGN for letter in text)
    if not most:
        language = _by_endings([word for word in _WORD.findall(text) if len(word) > 1])
        return "" if foreign and language == "en" else language
    if english >= most and english * 2 >= foreign:
        return "en"
    return "en" if english == most else next(name for name in languages if hits[name] == most)
