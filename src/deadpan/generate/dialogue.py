"""The new dialogue: turns, then the explanation, then the sarcastic response. Read strictly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from deadpan.generate.caller import Malformed
from deadpan.generate.draft import SPEAKERS, Draft
from deadpan.generate.language import Language
from deadpan.generate.ledger import Said
from deadpan.generate.script import in_language
from deadpan.llm import Message
from deadpan.records import Turn
from deadpan.text import fold

MOST_TURNS = 12
UNKNOWN_INTIMACY = "3"
_MARKUP = re.compile(r"^[\s>#*_`\-•]*|[*_`]+(?=\s*[:：(])|[\s*_`]+$")
_TURN = re.compile(r"([A-Za-z])\s*[:：]\s*(.*)")
_NAMED = re.compile(r"[\(（\[]\s*([A-Za-z])\s*[\)）\]]")
_QUOTES = '"“”‘’「」『』'
_HOLLOW = re.compile(r"[\s.…\-_*<>\[\]{}()/?!~]*")


def dialogue_messages(language: Language, draft: Draft) -> list[Message]:
    """The question for one situation, with its two examples."""
    unknown = language.facts.politeness.unknown
    return language.prompts["dialogue"].messages(
        situation=draft.situation,
        intimacy=draft.intimacy or UNKNOWN_INTIMACY,
        politeness_a=draft.politeness.get("A") or unknown,
        politeness_b=draft.politeness.get("B") or unknown,
    )


@dataclass(slots=True)
class _Parts:
    """An answer taken apart line by line."""

    turns: list[Turn] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    responses: list[Turn] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """A dialogue that could be read."""

    context: tuple[Turn, ...]
    explanation: str
    response: Turn


def read_dialogue(language: Language, said: Said) -> Written:
    """The dialogue in an answer; Malformed tells the kind of misalignment, the paper's and a few more."""
    parts = _take_apart(language, said.text)
    if not parts.turns:
        raise Malformed("no_dialogue")
    if len(parts.explanations) > 1 or len(parts.responses) > 1 or parts.restarts:
        raise Malformed("two_dialogues")
    if not parts.explanations:
        raise Malformed("missing_explanation")
    if not parts.responses:
        raise Malformed("missing_response")
    if parts.strangers:
        raise Malformed("extra_text", parts.strangers[0][:80])
    context, response = _joined(parts.turns), parts.responses[0]
    _check_speakers(context, response)
    texts = [*(turn.text for turn in context), response.text, parts.explanations[0]]
    if any(_HOLLOW.fullmatch(text) for text in texts):
        raise Malformed("hollow_text")
    if len({fold(turn.text) or turn.text for turn in (*context, response)}) <= len(context):
        raise Malformed("repeats_itself")
    if not in_language(texts, language.facts.letters, language.facts.common_words):
        raise Malformed("wrong_language")
    return Written(context, parts.explanations[0], response)


def _check_speakers(context: Sequence[Turn], response: Turn) -> None:
    """Two people, both of whom spoke, and the one who answers is not the one who spoke last."""
    people = {turn.speaker for turn in (*context, response)}
    if not response.speaker:
        raise Malformed("missing_speaker")
    if not people <= set(SPEAKERS):
        raise Malformed("third_speaker", min(people - set(SPEAKERS)))
    if len(context) > MOST_TURNS:
        raise Malformed("too_many_turns", str(len(context)))
    if response.speaker == context[-1].speaker:
        raise Malformed("answers_itself")


def _take_apart(language: Language, text: str) -> _Parts:
    words = language.facts.words
    explanation, response = _label(words.explanation), _label(words.response)
    heading = _label(words.situation)
    parts = _Parts()
    for raw in text.strip().splitlines():
        line = _MARKUP.sub("", raw)
        if not line or set(line) <= set("-=_* "):
            continue
        if found := response.match(line):
            parts.responses.append(_response(found))
        elif found := explanation.match(line):
            parts.explanations.append(found["rest"].strip())
        elif turn := _TURN.fullmatch(line):
            if parts.responses or parts.explanations:
                parts.restarts += 1
            parts.turns.append(Turn(turn[1].upper(), turn[2].strip().strip(_QUOTES)))
        elif heading.match(line):
            parts.restarts += bool(parts.turns)
        elif parts.turns or not line.endswith((":", "：")):
            parts.strangers.append(line)
    return parts


@cache
def _label(words: tuple[str, ...]) -> re.Pattern[str]:
    """`Explanation: ...`, `Response (A): ...`; the longer of two labels first."""
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(
        rf"(?:\d[.)]\s*)?(?:{either})\s*(?P<who>[\(（\[][^\)）\]]*[\)）\]])?\s*[*_`]*\s*[:：]\s*(?P<rest>.*)",
        re.IGNORECASE,
    )


def _response(found: re.Match[str]) -> Turn:
    """The speaker stands in brackets after the label, or before the words."""
    words = found["rest"].strip().lstrip("*_` ")
    named = _NAMED.match(found["who"] or "")
    speaker = named[1].upper() if named else ""
    if inner := _TURN.fullmatch(words):
        if speaker and inner[1].upper() != speaker:
            raise Malformed("missing_speaker", "two speakers for one response")
        speaker, words = inner[1].upper(), inner[2]
    return Turn(speaker, words.strip().strip(_QUOTES).strip())


def _joined(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Consecutive lines of one speaker are one turn, as in the sources."""
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1].speaker == turn.speaker:
            joined[-1] = Turn(turn.speaker, f"{joined[-1].text} {turn.text}")
        else:
            joined.append(turn)
    return tuple(joined)
