"""Conversations as HTML: speakers left and right, the response set apart."""

from __future__ import annotations

from deadpan.page.markup import escape
from deadpan.palette import MARKS, word_for
from deadpan.records import Example, Turn


def render_conversation(example: Example, label: bool | None, note: str = "") -> str:
    """Return the context, dimmed, then the response with its label as word, shape and colour."""
    sides = _sides(example.context, example.response)
    turns = [_turn(turn, side) for turn, side in zip(example.context, sides, strict=True)]
    language = f' lang="{escape(example.language)}"' if example.language else ""
    word = word_for(label)
    verdict = f'<span class="label {word}"><span aria-hidden="true">{MARKS[word]}</span> {word}</span>'
    remark = f'<span class="dim">{escape(note)}</span>' if note else ""
    return (
        f'<div class="conversation">\n<div{language}>{"".join(turns)}'
        f"{_turn(example.response, f'right response {word}')}</div>\n"
        f'<p class="verdict">{verdict}{remark}</p></div>'
    )


def _turn(turn: Turn, side: str) -> str:
    speaker = f'<span class="speaker">{escape(turn.speaker)}</span>' if turn.speaker else ""
    # dir=auto: the browser sets an Arabic turn from right to left.
    return f'<div class="turn {side}">{speaker}<p dir="auto">{escape(turn.text)}</p></div>\n'


def _sides(context: tuple[Turn, ...], response: Turn) -> list[str]:
    """Return the side of each turn: the responding speaker is right; turns without names alternate."""
    if response.speaker and any(turn.speaker for turn in context):
        return ["right" if turn.speaker == response.speaker else "left" for turn in context]
    return ["left" if (len(context) - place) % 2 else "right" for place in range(len(context))]
