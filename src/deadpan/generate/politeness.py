"""Levels of politeness per speaker, in Korean by the endings of sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from deadpan.errors import ConfigError, ModelError, need, reason_of
from deadpan.generate.folder import SPEAKERS
from deadpan.generate.language import Language
from deadpan.generate.plan import PolitenessPlan
from deadpan.records import Turn

Level = str
Judge = Callable[[str], Level]
"""A text's level: "polite", "plain" or "" where it is unknown."""

_POLITE, _PLAIN = "polite", "plain"
_POLITE_ENDINGS = ("요", "죠", "니다", "습니까", "ᆸ니까", "시오", "소서")
# Endings of notes ("맛있음"), which are neither.
_NOMINAL = ("음", "ᆷ", "ㅁ", "기")
# Connectives that end a sentence as plain talk does; others ("없어서...") only break it off.
_TRAILING_PLAIN = ("니", "냐", "네", "지", "나", "자", "어", "아", "다", "거든", "래")
_POLITE_WORDS = frozenset({"네", "예", "넵", "네네", "아니요", "아뇨", "여보세요"})
_PLAIN_WORDS = frozenset({"응", "어", "엉", "웅", "그래", "아니", "야", "ㅇㅇ", "오냐"})
_AFTER = ("SF", "SP", "SS", "SE", "SO", "SW", "Z_CODA", "W_EMOJI", "SSO", "SSC")


@cache
def _kiwi() -> Any:
    return need("kiwipiepy", "ko").Kiwi()


def korean_level(text: str) -> Level:
    """Return the level of a text by the endings of its sentences, else by a yes or no in it.

    One polite ending makes it polite: the polite still say "와, 대단하구나" to themselves, not the reverse.
    """
    spoken = [(token.form, token.tag) for token in _kiwi().tokenize(text)]
    levels = {_ending(spoken, place) for place in range(len(spoken))} - {""}
    if levels:
        return _POLITE if _POLITE in levels else _PLAIN
    words = [form for form, tag in spoken if tag == "IC"]
    if any(word in _POLITE_WORDS for word in words):
        return _POLITE
    return _PLAIN if any(word in _PLAIN_WORDS for word in words) else ""


def _ending(spoken: Sequence[tuple[str, str]], place: int) -> Level:
    """Return the level of the ending at a position, if a sentence ends there."""
    form, tag = spoken[place]
    if tag not in ("EF", "EC", "JX") or form in _NOMINAL or not (tag == "EF" or _ends_here(spoken, place)):
        return ""
    if form.endswith(_POLITE_ENDINGS):
        return _POLITE
    if tag == "EF" and not _has_yo(spoken, place):
        return _PLAIN
    return _PLAIN if tag == "EC" and form in _TRAILING_PLAIN and not _has_yo(spoken, place) else ""


def _has_yo(spoken: Sequence[tuple[str, str]], place: int) -> bool:
    return tuple(spoken[place + 1 : place + 2]) == (("요", "JX"),)


def _ends_here(spoken: Sequence[tuple[str, str]], place: int) -> bool:
    """Return whether only punctuation, laughter and a final 요 follow until the next sentence or the end."""
    for form, tag in spoken[place + 1 :]:
        if tag in ("SF", "SE"):
            return True
        if tag not in _AFTER and (form, tag) != ("요", "JX"):
            return False
        if tag == "SP":
            return False
    return True


def classifier(folder: str, polite_label: str) -> Judge:
    """Load a sequence classifier from a local folder or the hub's cache; nothing is downloaded."""
    transformers, torch = need("transformers", "neural"), need("torch", "neural")
    try:
        words = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as bad:
        raise ModelError(
            f"politeness.classifier {folder}: no weights here ({reason_of(bad, 120)}); fetch them first"
        ) from None
    labels = dict(model.config.id2label)
    if polite_label not in labels.values():
        raise ConfigError(f"politeness.polite_label {polite_label!r}: the model has {', '.join(labels.values())}")
    model.eval()

    def judge(text: str) -> Level:
        with torch.inference_mode():
            scores = model(**words(text, truncation=True, return_tensors="pt")).logits[0]
        return _POLITE if labels[int(scores.argmax())] == polite_label else _PLAIN

    return judge


def open_judge(plan: PolitenessPlan, language: Language) -> Judge | None:
    """Return the judge of this plan; None for a language without levels."""
    if plan.method == "classifier":
        return classifier(plan.classifier, plan.polite_label)
    if plan.method == "none" or language.facts.politeness.method == "none":
        return None
    _kiwi()
    return korean_level


def speaker_levels(turns: Iterable[Turn], judge: Judge) -> dict[str, Level]:
    """Return the levels of A and B by the majority of their turns; a tie is unknown."""
    votes: dict[str, Counter[str]] = {speaker: Counter() for speaker in SPEAKERS}
    for turn in turns:
        if level := judge(turn.text):
            votes.setdefault(turn.speaker, Counter())[level] += 1
    return {speaker: _majority(counted) for speaker, counted in votes.items()}


def _majority(votes: Counter[str]) -> Level:
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def level_names(levels: Mapping[str, Level], language: Language) -> dict[str, str]:
    """Return levels in the language's own words, for prompts and records."""
    words = language.facts.politeness
    names = {_POLITE: words.polite, _PLAIN: words.plain, "": words.unknown}
    return {speaker: names[level] for speaker, level in levels.items()}


def inconsistency(turns: Sequence[Turn], asked: Mapping[str, str], language: Language, judge: Judge) -> str:
    """Return why politeness is inconsistent: not the requested level, or a switch; else empty."""
    levels_of: dict[str, set[str]] = {}
    for turn in turns:
        if level := judge(turn.text):
            levels_of.setdefault(turn.speaker, set()).add(level)
    wanted = {language.facts.politeness.polite: _POLITE, language.facts.politeness.plain: _PLAIN}
    for speaker, levels in sorted(levels_of.items()):
        if len(levels) > 1:
            return f"{speaker} switches"
        want = wanted.get(asked.get(speaker, ""))
        if want and want not in levels:
            return f"{speaker} should be {asked[speaker]}"
    return ""
