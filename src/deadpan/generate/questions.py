"""The steps that ask the model: questions, the strict reading of answers, and forms they cannot leave."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from deadpan.generate.folder import SPEAKERS, Draft, render_dialogue
from deadpan.generate.language import Language
from deadpan.llm import LLMSettings, Message, Unreadable, assistant, user
from deadpan.llm.client import submit
from deadpan.records import Turn
from deadpan.text import fold

_MAX_TURNS = 12
_UNKNOWN_INTIMACY = "3"
_MARKUP = re.compile(r"^[\s>#*_`\-•]*|[*_`]+(?=\s*[:：(])|[\s*_`]+$")
_TURN = re.compile(r"([A-Za-z])\s*[:：]\s*(.*)")
_NAMED = re.compile(r"[\(（\[]\s*([A-Za-z])\s*[\)）\]]")
_QUOTES = '"“”‘’「」『』'
_EMPTY = re.compile(r"[\s.…\-_*<>\[\]{}()/?!~]*")


def prompt_values(language: Language, draft: Draft) -> dict[str, str]:
    """Return what a prompt for a new dialogue may name in braces."""
    unknown = language.facts.politeness.unknown
    return {
        # KoCoSa joins theme and summary by a hyphen without spaces.
        "situation": f"{draft.theme}-{draft.summary}" if language.preset else draft.situation,
        "intimacy": draft.intimacy or _UNKNOWN_INTIMACY,
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
    _check_texts(language, (*context, response), parts.explanations)
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
    if len(context) > _MAX_TURNS:
        raise Unreadable("too_many_turns", str(len(context)))
    _check_texts(language, context)
    return context


def _check_texts(language: Language, turns: Sequence[Turn], others: Sequence[str] = ()) -> None:
    """Check that no text is empty, no turn repeats another, and all are in the language."""
    texts = [turn.text for turn in turns]
    if any(_EMPTY.fullmatch(text) for text in (*texts, *others)):
        raise Unreadable("hollow_text")
    if len({fold(text) or text for text in texts}) < len(texts):
        raise Unreadable("repeats_itself")
    if not language.matches([*texts, *others]):
        raise Unreadable("wrong_language")


def read_line(answer: str) -> str:
    """Return the text of an answer of one line, without a speaker's letter and quotation marks."""
    line = _MARKUP.sub("", only_line(answer))
    named = _TURN.fullmatch(line)
    text = (named[2] if named else line).strip().strip(_QUOTES).strip()
    if _EMPTY.fullmatch(text):
        raise Unreadable("hollow_text")
    if repeats_itself(text):
        raise Unreadable("repeats_itself", text[:80])
    return text


def only_line(answer: str) -> str:
    """Return the only line of an answer; one of several lines is Unreadable."""
    written = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if len(written) != 1:
        raise Unreadable("not_one_line", f"{len(written)} lines")
    return written[0]


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
    if len(context) > _MAX_TURNS:
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


# Sentences of a line at most; turns of a dialogue.
_SENTENCES, _TURNS = 2, (3, 6)
_ENDS = "[.!?~]"
_GAP = "..."

DIALOGUE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"speaker": {"type": "string", "enum": list(SPEAKERS)}, "text": {"type": "string"}},
                "required": ["speaker", "text"],
                "additionalProperties": False,
            },
        },
        "explanation": {"type": "string"},
        "speaker": {"type": "string", "enum": list(SPEAKERS)},
        "response": {"type": "string"},
    },
    "required": ["turns", "explanation", "speaker", "response"],
    "additionalProperties": False,
}
"""A dialogue as JSON, its fields in the order in which they are written."""
_AS_JSON = "Write the same parts as one JSON object with turns, explanation, speaker and response."


def structured_settings(settings: LLMSettings, structured: str, language: Language) -> LLMSettings:
    """Return settings that enforce the form of a whole dialogue: a grammar, a JSON schema, or nothing."""
    if structured == "json":
        return settings.changed(schema=DIALOGUE_SCHEMA)
    if structured == "auto" and settings.embedded:
        return settings.changed(extra={**settings.extra, "grammar": dialogue_grammar(language)})
    return settings


def structured_messages(messages: list[Message], language: Language) -> list[Message]:
    """Return a prompt whose examples are answered in JSON."""
    changed = []
    for message in messages:
        if message["role"] == "assistant":
            written = read_dialogue(language, message["content"])
            changed.append(assistant(as_json(written.context, written.explanation, written.response)))
        else:
            changed.append(message)
    return [*changed[:-1], user(f"{changed[-1]['content']}\n\n{_AS_JSON}")]


def line_grammar(language: Language, name: str = "root") -> str:
    """Return a grammar of one line: a sentence or two in the language's characters, each with its end."""
    letters = language.facts.characters
    inside = f"[,{letters}]" if letters else r"[^\n.!?~]"
    # A sentence that reaches its length without an end would stop in the middle of a word.
    more = f'(" " sentence){{0,{_SENTENCES - 1}}}'
    return f"{name} ::= sentence {more}\nsentence ::= {inside}{{1,{language.facts.sentence}}} {_ENDS}{{1,3}}"


def frame_grammar(language: Language, frame: str) -> str:
    """Return a grammar of one sentence in a frame: fixed words, and a gap wherever the frame has dots.

    A gap has no comma: after one a small model takes back what the frame says ("Thank you for that, but").
    """
    letters = language.facts.characters
    gap = f"[{letters}]" if letters else r"[^\n,.!?~]"
    fixed = [json.dumps(part, ensure_ascii=False) if part else "" for part in frame.split(_GAP)]
    longest = language.facts.sentence * 2 // 3
    return f"root ::= {' gap '.join(fixed).strip()} {_ENDS}\ngap ::= {gap}{{1,{longest}}}"


def scene_grammar(language: Language, first: str = SPEAKERS[0]) -> str:
    """Return a grammar of turns by A and B in turn, without a response; `first` begins."""
    fewest, most = _TURNS[0], _TURNS[1] - 2
    order = "ab" if first == SPEAKERS[0] else "ba"
    scenes = " | ".join(" ".join(order[at % 2] for at in range(count)) for count in range(fewest, most + 1))
    return f"root ::= {scenes}\n{_turn_rules(language)}"


def dialogue_grammar(language: Language) -> str:
    """Return a grammar of a dialogue: turns, explanation, the response of the one who did not speak last."""
    words = language.facts.words
    forms = []
    for count in range(_TURNS[0], _TURNS[1] + 1):
        turns = " ".join("ab"[at % 2] for at in range(count))
        label = json.dumps(f"{words.response[0]} ({SPEAKERS[count % 2]}): ", ensure_ascii=False)
        forms.append(f"{turns} why {label} line")
    why = f"why ::= {json.dumps(f'{words.explanation[0]}: ', ensure_ascii=False)} line"
    newline = r'"\n"'
    return f"root ::= {' | '.join(forms)}\n{why} {newline}\n{_turn_rules(language)}"


def _turn_rules(language: Language) -> str:
    newline = r'"\n"'
    turns = [f'{name.lower()} ::= "{name}: " line {newline}' for name in SPEAKERS]
    return "\n".join([*turns, line_grammar(language, "line")])


def as_json(context: tuple[Turn, ...], explanation: str, response: Turn) -> str:
    """Return a dialogue in the form of `SCHEMA`."""
    turns = [{"speaker": turn.speaker, "text": turn.text} for turn in context]
    whole = {"turns": turns, "explanation": explanation, "speaker": response.speaker}
    return json.dumps({**whole, "response": response.text}, ensure_ascii=False)


def lines_of_json(answer: str, language: Language) -> str:
    """Return an answer in JSON as the lines that `read_dialogue` reads; any other answer as it is."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        value = json.loads(answer[start : end + 1]) if 0 <= start < end else None
        if not isinstance(value, dict):
            return answer
        words = language.facts.words
        turns = [f"{turn['speaker']}: {_one_line(turn['text'])}" for turn in value["turns"]]
        return "\n".join(
            [
                *turns,
                f"{words.explanation[0]}: {_one_line(value['explanation'])}",
                f"{words.response[0]} ({value['speaker']}): {_one_line(value['response'])}",
            ]
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return answer


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


_T = TypeVar("_T")
_R = TypeVar("_R")

# Items started per worker: the others may run this far ahead of one slow answer.
_AHEAD = 4


class _Stopped(Exception):
    """Raised for an item that was not started because another one failed."""


def in_order(work: Callable[[_T], Coroutine[Any, Any, _R]], items: Iterable[_T], workers: int) -> Iterator[_R]:
    """Yield the result of each item. After an error no item is started, those in progress end, it is raised.

    The work runs on the loop of `deadpan.llm`, where the calls run: a thread for each item would spend
    more time switching than the call takes.
    """
    slots, stopped = asyncio.Semaphore(workers), False
    started: deque[Future[_R]] = deque()

    async def in_turn(item: _T) -> _R:
        async with slots:
            if stopped:
                raise _Stopped
            return await work(item)

    try:
        for item in items:
            started.append(submit(in_turn(item)))
            if len(started) >= workers * _AHEAD:
                yield started[0].result()
                started.popleft()
        while started:
            yield started[0].result()
            started.popleft()
    finally:
        stopped = True
        wait(started)


_THEME_WORDS = 8
_SUMMARY_CHARACTERS = 300
_DASH = re.compile(r"\s*[-–—]\s+|\s+[-–—]\s*")
_TIGHT_DASH = re.compile(r"[-–—]")
_WRAP = "*_`\"'“”‘’ \t"


def read_situation(language: Language, answer: str) -> tuple[str, str]:
    """Return (theme, summary) of an answer `theme - summary`; anything else is Unreadable."""
    line = only_line(answer).strip(_WRAP)
    for word in language.facts.words.situation:
        line = re.sub(rf"^{re.escape(word)}\s*[:：]\s*", "", line, flags=re.IGNORECASE)
    parts = _DASH.split(line, maxsplit=1)
    if len(parts) == 1:
        parts = _TIGHT_DASH.split(line, maxsplit=1)
    theme, summary = (part.strip(_WRAP) for part in parts) if len(parts) == 2 else ("", "")
    if not theme or not summary:
        raise Unreadable("no_theme_or_summary", line[:80])
    if len(theme.split()) > _THEME_WORDS or len(summary) > _SUMMARY_CHARACTERS:
        raise Unreadable("too_long", line[:80])
    if not language.matches([summary]):
        raise Unreadable("wrong_language", line[:80])
    return theme, summary


def read_finding(language: Language, answer: str) -> str:
    """Return the reason if the model finds the dialogue abnormal, empty if normal; else it is Unreadable."""
    words = language.facts.words
    first = answer.strip().partition("\n")[0].strip(" *_`\"'“”")
    # The longer word first: "abnormal" holds "normal".
    choices = [(word, True) for word in words.abnormal] + [(word, False) for word in words.normal]
    for word, abnormal in sorted(choices, key=lambda choice: -len(choice[0])):
        if match := re.match(rf"(?:[^:：]{{0,20}}[:：]\s*)?{re.escape(word)}(?!\w)[\s*_`.:：–—-]*(.*)", first, re.I):
            return (match[1].strip() or word) if abnormal else ""
    raise Unreadable("no_finding", first[:80])


# Smallest share of the sarcastic response's words; below it, words alone tell the two apart.
_MIN_SHARED = 0.25
_QUOTES_AND_MARKUP = '"“”‘’「」『』*_` '


def read_sincere(language: Language, draft: Draft, answer: str) -> str:
    """Return the sincere response; one that is identical or shares too few words is Unreadable."""
    line = only_line(answer)
    labels = "|".join(re.escape(word) for word in language.facts.words.sincere)
    match = re.fullmatch(rf"[*_`\s]*(?:{labels})\s*(?:\([AB]\))?[*_`\s]*[:：]\s*(.*)", line, re.IGNORECASE)
    if not match:
        raise Unreadable("no_sincere_response", line[:80])
    words = re.sub(r"^[AB]\s*[:：]\s*", "", match[1].strip(_QUOTES_AND_MARKUP)).strip(_QUOTES_AND_MARKUP)
    if not words:
        raise Unreadable("empty_answer")
    sarcastic = draft.response.text if draft.response else ""
    if fold(words) == fold(sarcastic):
        raise Unreadable("same_as_sarcastic")
    if shared_words(sarcastic, words) < _MIN_SHARED:
        raise Unreadable("shares_too_little", words[:80])
    if not language.matches([words]):
        raise Unreadable("wrong_language", words[:80])
    return words


def shared_words(one: str, other: str) -> float:
    """Return the share of one text's words that the other has too.

    Words outside ASCII match if their first two characters do: Korean nouns carry particles.
    """
    there = set(fold(other).split())
    words = set(fold(one).split())
    if not words:
        return 0.0
    return sum(any(_same_stem(word, candidate) for candidate in there) for word in words) / len(words)


def _same_stem(one: str, other: str) -> bool:
    if one == other:
        return True
    both = not one.isascii() and not other.isascii() and min(len(one), len(other)) >= 2
    return both and one[:2] == other[:2]


@dataclass(frozen=True, slots=True)
class AskedStep:
    """The prompt of a step, filled in for a draft, and the fields of the draft that its answer gives.

    `read` raises `Unreadable` for an answer that gives none. `keeps_unread`: a draft whose answer stays
    unreadable goes on without it, and is counted.
    """

    prompt: str
    values: Callable[[Language, Draft], Mapping[str, str]]
    read: Callable[[Language, Draft, str], Mapping[str, Any]]
    keeps_unread: bool = False

    def messages(self, language: Language, draft: Draft) -> list[Message]:
        """Return the question about one draft, after the examples of its prompt."""
        return language.prompts[self.prompt].messages(**self.values(language, draft))

    def add(self, language: Language, draft: Draft, answer: str) -> Draft:
        """Return the draft with the answer read into it."""
        return replace(draft, **self.read(language, draft, answer))


def _sincere_values(language: Language, draft: Draft) -> dict[str, str]:
    response = draft.response or Turn("", "")
    dialogue = render_dialogue(draft.context)
    return {"dialogue": dialogue, "speaker": response.speaker, "response": response.text}


def _dialogue_fields(language: Language, draft: Draft, answer: str) -> dict[str, Any]:
    new = read_dialogue(language, lines_of_json(answer, language))
    return {"context": new.context, "explanation": new.explanation, "response": new.response}


ASKED_STEPS: Mapping[str, AskedStep] = {
    "situation": AskedStep(
        "situation",
        lambda language, draft: {"dialogue": render_dialogue(draft.source)},
        lambda language, draft, answer: dict(zip(("theme", "summary"), read_situation(language, answer), strict=True)),
    ),
    "dialogue": AskedStep("dialogue", prompt_values, _dialogue_fields),
    "abnormal": AskedStep(
        "abnormal",
        lambda language, draft: {"dialogue": render_dialogue(draft.turns)},
        lambda language, draft, answer: {"suspect": read_finding(language, answer)},
        keeps_unread=True,
    ),
    "contrast": AskedStep(
        "sincere",
        _sincere_values,
        lambda language, draft, answer: {"sincere": read_sincere(language, draft, answer)},
        keeps_unread=True,
    ),
}
"""The question of every step of a plan that asks the model."""
