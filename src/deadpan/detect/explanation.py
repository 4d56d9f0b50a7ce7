"""What moved a score: each word and each turn before it, left out one at a time, for any system at all."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction, Turn

MOST_WORDS = 200
FARTHEST = 12.0

Predict = Callable[[Sequence[Example]], list[Prediction]]


@dataclass(frozen=True, slots=True)
class Influence:
    """A piece of the text, and how many log odds of sarcasm it adds (below 0: takes away)."""

    text: str
    push: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score taken apart. The pieces need not add up: words work together."""

    example: Example
    label: bool
    score: float
    words: tuple[Influence, ...]
    context: tuple[Influence, ...]

    def as_dict(self) -> dict[str, object]:
        """For --json."""
        return {
            "label": self.label, "score": self.score,
            "words": [asdict(word) for word in self.words],
            "context": [asdict(turn) for turn in self.context],
        }  # fmt: skip


def explain(predict: Predict, example: Example) -> Explanation:
    """Ask again without each word of the response, and without each turn before it."""
    pieces = [match.span() for match in re.finditer(r"\S+", example.response.text)]
    if not pieces:
        raise ConfigError("there is no word to explain: give a text")
    if len(pieces) > MOST_WORDS:
        raise ConfigError(
            f"{len(pieces):,} words: an explanation can be read up to {MOST_WORDS}; cut the text"
        )
    text, speaker = example.response.text, example.response.speaker
    asked = [replace(example, id="whole")]
    for low, high in pieces:
        rest = f"{text[:low]}{text[high:]}".strip()
        asked.append(replace(example, id=f"word-{low}", response=Turn(speaker, rest)))
    for place in range(len(example.context)):
        rest_of = (*example.context[:place], *example.context[place + 1 :])
        asked.append(replace(example, id=f"turn-{place}", context=rest_of))
    answers = predict(asked)
    whole = answers[0]
    if whole.score is None or whole.label is None:
        raise ConfigError("this system's answer could not be read, so there is nothing to explain")
    full = _log_odds(whole.score)
    pushes = [0.0 if a.score is None else full - _log_odds(a.score) for a in answers[1:]]
    words = tuple(Influence(text[low:high], push) for (low, high), push in zip(pieces, pushes, strict=False))
    turns = tuple(
        Influence(turn.text, push) for turn, push in zip(example.context, pushes[len(pieces) :], strict=True)
    )
    return Explanation(example, whole.label, whole.score, words, turns)


def _log_odds(score: float) -> float:
    if score <= 0 or score >= 1:
        return FARTHEST if score >= 1 else -FARTHEST
    return max(-FARTHEST, min(FARTHEST, math.log(score / (1 - score))))
