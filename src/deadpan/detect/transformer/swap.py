"""Swapped speakers, as in KoCoSa: most dialogues begin with A, which should not be informative."""

from __future__ import annotations

from collections.abc import Sequence

from deadpan.detect.context import Context
from deadpan.draws import draw
from deadpan.records import Example, Turn
from deadpan.text import render_turn

OTHER_NAME = {"A": "B", "B": "A"}


def swapped_pair(context: Context, example: Example) -> tuple[str, str]:
    """Return `Context.texts` with A and B swapped."""
    turns = context.conversation(example)
    *before, response = (render_turn(Turn(OTHER_NAME.get(t.speaker, t.speaker), t.text)) for t in turns)
    return "\n".join(before), response


def training_pairs(
    context: Context, examples: Sequence[Example], share: float, seed: int
) -> list[tuple[str, str]]:
    """Return the pairs of all examples, about `share` of them swapped; drawn by id."""
    below = int(share * 2**64)
    return [
        swapped_pair(context, example)
        if int.from_bytes(draw(seed, f"swap {example.id}")[:8], "big") < below
        else context.texts(example)
        for example in examples
    ]
