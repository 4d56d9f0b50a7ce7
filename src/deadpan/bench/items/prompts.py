"""Prompts, word for word. A changed word is a new version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from string import Formatter

from deadpan.bench.items.item import LETTERS
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.records import Item, Turn

ZERO_SHOT = "zero-shot/1"
REASONED = "reasoned/1"
EXPLAIN = "explain/1"
RUBRIC = "rubric/1"
OWN = "prompt-"
"""The name of a prompt of the user's own begins with it."""

_ASKED = {
    "en": """Read what happened and what was said, then answer the question. Exactly one option is best.

{context}

{speaker}: "{utterance}"

Question: {question}

{options}

""",
    "ko": """다음 상황과 대화를 읽고 질문에 답하십시오. 가장 알맞은 보기는 하나뿐입니다.

{context}

{speaker}: "{utterance}"

질문: {question}

{options}

""",
}
"""The beginning of both prompts that ask for a letter."""
TEMPLATES = {
    (ZERO_SHOT, "en"): _ASKED["en"]
    + """Reply with one line and nothing else, X being the letter of the best option:
Final Answer: X""",
    (ZERO_SHOT, "ko"): _ASKED["ko"]
    + """다른 말 없이 아래 형식의 한 줄로만 답하십시오. X는 가장 알맞은 보기의 글자입니다.
Final Answer: X""",
    (REASONED, "en"): _ASKED["en"]
    + """First explain in two or three sentences what the speaker means and why.
Then end with one line, X being the letter of the best option:
Final Answer: X""",
    (REASONED, "ko"): _ASKED["ko"]
    + """먼저 말하는 사람의 의도와 그 근거를 두세 문장으로 설명하십시오.
그런 다음 마지막 줄에 아래 형식으로 답하십시오. X는 가장 알맞은 보기의 글자입니다.
Final Answer: X""",
    (EXPLAIN, "en"): """Read what happened and what was said.

{context}

{speaker}: "{utterance}"

Question: {question}

Answer in one plain sentence of at most 30 words: say what the speaker means, not how they say it.""",
    (EXPLAIN, "ko"): """다음 상황과 대화를 읽으십시오.

{context}

{speaker}: "{utterance}"

질문: {question}

말하는 사람이 실제로 뜻하는 바를 쉬운 한 문장으로만 답하십시오.""",
    (RUBRIC, "en"): """You mark whether an explanation of a remark gets its meaning right.

{context}

{speaker}: "{utterance}"

Question: {question}

Reference answer: {reference}

Explanation to mark: {explanation}

Marks:
2 - says what the reference says, in whatever words, and nothing that contradicts it
1 - part of it: the right direction, but the target, the reason or the attitude is missing or vague
0 - another meaning, the literal meaning where the reference is not literal, or no answer

Reply with one line and nothing else, N being the mark:
Mark: N""",
}
NARRATORS = ("", "Narrator", "지문")
"""Speakers whose turns are narration, not speech."""
SPEAKER = {"en": "The speaker", "ko": "말하는 사람"}


def options_order(item: Item, run: int, seed: int, shuffle: bool) -> tuple[int, ...]:
    """Return the option shown at each letter; shuffled options have another order in every run."""
    places = range(len(item.options))
    if not shuffle:
        return tuple(places)
    return tuple(sorted(places, key=lambda place: draw(seed, f"{item.id}:{run}:{place}")))


def spoken_lines(turns: Sequence[Turn]) -> str:
    """Return turns as lines of a script; narration has no speaker."""
    return "\n".join(turn.text if turn.speaker in NARRATORS else f'{turn.speaker}: "{turn.text}"' for turn in turns)


END = "\0"
"""Marks the end of the utterance, where what follows it is inserted: the templates stay as they are."""


def render_prompt(item: Item, order: Sequence[int], texts: Mapping[str, str] | None = None) -> str:
    """Return the prompt of an item as the model reads it; `texts` are a template per language, or the paper's."""
    texts = texts or template_texts(ZERO_SHOT)
    language = item.language if item.language in texts else "en"
    prompt = texts[language].format(
        context=spoken_lines(item.context),
        speaker=item.speaker or SPEAKER[language],
        utterance=item.utterance + END,
        question=item.question,
        options="\n".join(f"{LETTERS[at]}. {item.options[place]}" for at, place in enumerate(order)),
    )
    return prompt.replace(f'{END}"', '"' + (f"\n{spoken_lines(item.after)}" if item.after else ""))


def template_texts(template: str) -> dict[str, str]:
    """Return the text of a template per language, for the manifest."""
    return {language: text for (name, language), text in TEMPLATES.items() if name == template}


@dataclass(frozen=True, slots=True)
class OwnPrompt:
    """A prompt from a file: the same text for every language."""

    name: str
    text: str

    @classmethod
    def read(cls, path: Path) -> OwnPrompt:
        """Read a template: plain text with {question}, {options} and others of its fields in braces."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig").strip()
            # A field is named as it stands in its braces: {options:d} and {question!r} are none.
            found = {
                f"{name}!{change}" if change else f"{name}:{form}" if form else name
                for _, name, form, change in Formatter().parse(text)
                if name is not None
            }
        except OSError as bad:
            raise DataError(f"{path}: cannot be read ({bad.strerror}): give a text file") from None
        except ValueError as bad:
            raise DataError(
                f"{path}: not a prompt ({bad}): give a text file; a brace is written {{{{ or }}}}"
            ) from None
        if strange := found - _FIELDS:
            raise ConfigError(f"{path}: unknown field {{{min(strange)}}}: use {_listed(_FIELDS)}")
        if missing := _NEEDED - found:
            raise ConfigError(f"{path}: no {_listed(missing)}: without them the model cannot answer")
        # Its text is in its name: a changed prompt is never taken for the same.
        return cls(f"{OWN}{path.stem}/{sha256(text.encode()).hexdigest()[:8]}", text)


_FIELDS = frozenset({"context", "speaker", "utterance", "question", "options"})
_NEEDED = frozenset({"utterance", "question", "options"})


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{{{name}}}" for name in sorted(names))
