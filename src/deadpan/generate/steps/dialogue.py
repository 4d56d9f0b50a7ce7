"""The new dialogue: turns, then the explanation, then the sarcastic response, parsed strictly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from deadpan.generate.checks.script import in_language
from deadpan.generate.draft import SPEAKERS, Draft
from deadpan.generate.language import Language
from deadpan.llm import Message, Unreadable
from deadpan.records import Turn
from deadpan.text import fold

MOST_TURNS = 12
UNKNOWN_INTIMACY = "3"
_MARKUP = re.compile(r"^[\s>#*_`\-•]*|[*_`]+(?=\s*[:：(])|[\s*_`]+$")
_TURN = re.compile(r"([A-Za-z])\s*[:：]\s*(.*)")
_NAMED = re.compile(r"[\(（\[]\s*([A-Za-z])\s*[\)）\]]")
_QUOTES = '"“”‘’「」『』'
_EMPTY = re.compile(r"[\s.…\-_*<>\[\]{}()/?!~]*")


def dialogue_messages(language: Language, draft: Draft) -> list[Message]:
    """Return the prompt for one situation, with its two examples."""
    return language.prompts["dialogue"].messages(**prompt_values(language, draft))


def prompt_values(language: Language, draft: Draft) -> dict[str, str]:
    """Return what a prompt for a new dialogue may name in braces."""
    unknown = language.facts.politeness.unknown
    return {
        "situation": draft.situation,
        "intimacy": draft.intimacy or UNKNOWN_INTIMACY,
        "politeness_a": draft.politeness.get("A") or unknown,
        "politeness_b": draft.politeness.get("B") or unknown,
    }


@dataclass(slots=True)
class _Parts:
    """The lines of an answer by their role."""

    turns: list[Turn] = field(default_factory=list)
    explanations: list[str] = field(default_factory=list)
    responses: list[Turn] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class ParsedDialogue:
    """A dialogue parsed from an answer."""

    context: tuple[Turn, ...]
    explanation: str
    response: Turn


def read_dialogue(language: Language, answer: str) -> ParsedDialogue:
    """Return the dialogue in an answer; the kinds of Unreadable are KoCoSa's misalignments and a few more."""
    parts = _parse_lines(language, answer)
    if not parts.turns:
        raise Unreadable("no_dialogue")
    if len(parts.explanations) > 1 or len(parts.responses) > 1 or parts.restarts:
        raise Unreadable("two_dialogues")
    if not parts.explanations:
        raise Unreadable("missing_explanation")
    if not parts.responses:
        raise Unreadable("missing_response")
    if parts.strangers:
        raise Unreadable("extra_text", parts.strangers[0][:80])
    context, response = _joined(parts.turns), parts.responses[0]
    _check_speakers(context, response)
    texts = [*(turn.text for turn in context), response.text, parts.explanations[0]]
    if any(_EMPTY.fullmatch(text) for text in texts):
        raise Unreadable("hollow_text")
    if len({fold(turn.text) or turn.text for turn in (*context, response)}) <= len(context):
        raise Unreadable("repeats_itself")
    if not in_language(texts, language.facts.letters, language.facts.common_words):
        raise Unreadable("wrong_language")
    return ParsedDialogue(context, parts.explanations[0], response)


def read_scene(language: Language, answer: str) -> tuple[Turn, ...]:
    """Return the turns of an answer that has nothing but turns; anything else is Unreadable."""
    parts = _parse_lines(language, answer)
    if not parts.turns:
        raise Unreadable("no_dialogue")
    if parts.strangers or parts.responses or parts.explanations:
        raise Unreadable("extra_text", answer.strip()[-80:])
    context = _joined(parts.turns)
    if len(context) < 2 or not {turn.speaker for turn in context} <= set(SPEAKERS):
        raise Unreadable("one_speaker" if len(context) < 2 else "third_speaker")
    if len(context) > MOST_TURNS:
        raise Unreadable("too_many_turns", str(len(context)))
    texts = [turn.text for turn in context]
    if any(_EMPTY.fullmatch(text) for text in texts):
        raise Unreadable("hollow_text")
    if len({fold(text) or text for text in texts}) < len(texts):
        raise Unreadable("repeats_itself")
    if not in_language(texts, language.facts.letters, language.facts.common_words):
        raise Unreadable("wrong_language")
    return context


def read_line(answer: str) -> str:
    """Return the text of an answer of one line, without a speaker's letter and quotation marks."""
    written = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Unreadable("not_one_line", f"{len(written)} lines")
    line = _MARKUP.sub("", written[0])
    named = _TURN.fullmatch(line)
    text = (named[2] if named else line).strip().strip(_QUOTES).strip()
    if _EMPTY.fullmatch(text):
        raise Unreadable("hollow_text")
    if repeats_itself(text):
        raise Unreadable("repeats_itself", text[:80])
    return text


def repeats_itself(text: str) -> bool:
    """Return whether three words in a row occur three times: small models fall into loops."""
    words = text.split()
    runs = Counter(tuple(words[at : at + 3]) for at in range(len(words) - 2))
    return max(runs.values(), default=0) >= 3


def _check_speakers(context: Sequence[Turn], response: Turn) -> None:
    """Check that two people speak, and that the one who responds is not the one who spoke last."""
    people = {turn.speaker for turn in (*context, response)}
    if not response.speaker:
        raise Unreadable("missing_speaker")
    if not people <= set(SPEAKERS):
        raise Unreadable("third_speaker", min(people - set(SPEAKERS)))
    if len(context) > MOST_TURNS:
        raise Unreadable("too_many_turns", str(len(context)))
    if response.speaker == context[-1].speaker:
        raise Unreadable("answers_itself")


def _parse_lines(language: Language, text: str) -> _Parts:
    words = language.facts.words
    explanation, response = _label(words.explanation), _label(words.response)
    heading = _label(words.situation)
    parts = _Parts()
    for raw in text.strip().splitlines():
        line = _MARKUP.sub("", raw)
        if not line or set(line) <= set("-=_* "):
            continue
        if match := response.match(line):
            parts.responses.append(_response(match))
        elif match := explanation.match(line):
            parts.explanations.append(match["rest"].strip())
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
    """Return a pattern for lines such as `Explanation: ...` and `Response (A): ...`, longest label first."""
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(
        rf"(?:\d[.)]\s*)?(?:{either})\s*(?P<who>[\(（\[][^\)）\]]*[\)）\]])?\s*[*_`]*\s*[:：]\s*(?P<rest>.*)",
        re.IGNORECASE,
    )


def _response(match: re.Match[str]) -> Turn:
    """Return the response; its speaker is in brackets after the label, or before the words."""
    words = match["rest"].strip().lstrip("*_` ")
    named = _NAMED.match(match["who"] or "")
    speaker = named[1].upper() if named else ""
    if inner := _TURN.fullmatch(words):
        if speaker and inner[1].upper() != speaker:
            raise Unreadable("missing_speaker", "two speakers for one response")
        speaker, words = inner[1].upper(), inner[2]
    return Turn(speaker, words.strip().strip(_QUOTES).strip())


def _joined(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Join consecutive lines of one speaker to one turn, as in the sources."""
    joined: list[Turn] = []
    for turn in turns:
        if joined and joined[-1].speaker == turn.speaker:
            joined[-1] = Turn(turn.speaker, f"{joined[-1].text} {turn.text}")
        else:
            joined.append(turn)
    return tuple(joined)
