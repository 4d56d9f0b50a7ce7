"""Forms that an answer cannot leave: grammars for the embedded model, a JSON schema for other servers."""

from __future__ import annotations

import json
from typing import Any

from deadpan.generate.draft import SPEAKERS
from deadpan.generate.language import Language
from deadpan.generate.steps.dialogue import read_dialogue
from deadpan.llm import LLMSettings, Message, assistant, user
from deadpan.records import Turn

SENTENCES, TURNS = 2, (3, 6)
"""Sentences of a line at most; turns of a dialogue."""
ENDS = "[.!?~]"
GAP = "..."

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "turns": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "speaker": {"type": "string", "enum": list(SPEAKERS)},
                    "text": {"type": "string"},
                },
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
AS_JSON = "Write the same parts as one JSON object with turns, explanation, speaker and response."


def structured_settings(settings: LLMSettings, structured: str, language: Language) -> LLMSettings:
    """Return settings that enforce the form of a whole dialogue: a grammar, a JSON schema, or nothing."""
    if structured == "json":
        return settings.changed(schema=SCHEMA)
    if structured == "auto" and settings.embedded:
        return settings.changed(extra={**settings.extra, "grammar": dialogue_grammar(language)})
    return settings


def structured_messages(messages: list[Message], language: Language) -> list[Message]:
    """Return a prompt whose examples are answered in JSON."""
    changed = []
    for message in messages:
        if message["role"] == "assistant":
            changed.append(assistant(_example_as_json(message["content"], language)))
        else:
            changed.append(message)
    return [*changed[:-1], user(f"{changed[-1]['content']}\n\n{AS_JSON}")]


def _example_as_json(answer: str, language: Language) -> str:
    written = read_dialogue(language, answer)
    return as_json(written.context, written.explanation, written.response)


def line_grammar(language: Language, name: str = "root") -> str:
    """Return a grammar of one line: a sentence or two in the language's characters, each with its end."""
    letters = language.facts.characters
    inside = f"[,{letters}]" if letters else r"[^\n.!?~]"
    # A sentence that reaches its length without an end would stop in the middle of a word.
    more = f'(" " sentence){{0,{SENTENCES - 1}}}'
    return f"{name} ::= sentence {more}\nsentence ::= {inside}{{1,{language.facts.sentence}}} {ENDS}{{1,3}}"


def frame_grammar(language: Language, frame: str) -> str:
    """Return a grammar of one sentence in a frame: fixed words, and a gap wherever the frame has dots.

    A gap has no comma: after one a small model takes back what the frame says ("Thank you for that, but").
    """
    letters = language.facts.characters
    gap = f"[{letters}]" if letters else r"[^\n,.!?~]"
    fixed = [json.dumps(part, ensure_ascii=False) if part else "" for part in frame.split(GAP)]
    longest = language.facts.sentence * 2 // 3
    return f"root ::= {' gap '.join(fixed).strip()} {ENDS}\ngap ::= {gap}{{1,{longest}}}"


def scene_grammar(language: Language, first: str = SPEAKERS[0]) -> str:
    """Return a grammar of turns by A and B in turn, without a response; `first` begins."""
    fewest, most = TURNS[0], TURNS[1] - 2
    order = "ab" if first == SPEAKERS[0] else "ba"
    scenes = " | ".join(" ".join(order[at % 2] for at in range(count)) for count in range(fewest, most + 1))
    return f"root ::= {scenes}\n{_turn_rules(language)}"


def dialogue_grammar(language: Language) -> str:
    """Return a grammar of a dialogue: turns, explanation, the response of the one who did not speak last."""
    words = language.facts.words
    forms = []
    for count in range(TURNS[0], TURNS[1] + 1):
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
