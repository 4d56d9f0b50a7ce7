"""Baselines that choose by a rule: what the score of a model is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deadpan.bench.items.item import LETTERS
from deadpan.bench.runs.asking import GivenAnswer, PosedItem
from deadpan.draws import draw
from deadpan.errors import ConfigError
from deadpan.registry import unknown

PREFIX = "baseline/"
Choose = Callable[[PosedItem, int], int]


class Baseline:
    """A rule that chooses a letter, free of charge."""

    def __init__(self, name: str, seed: int) -> None:
        if name not in RULES:
            raise ConfigError(unknown("baseline", PREFIX + name, [PREFIX + rule for rule in RULES]))
        self.name = name
        self.seed = seed

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Answer with the letter the rule chooses, in the requested form."""
        letter = LETTERS[RULES[self.name](posed, self.seed)]
        return GivenAnswer(f"Final Answer: {letter}", "stop", PREFIX + self.name)


def _random(posed: PosedItem, seed: int) -> int:
    number = int.from_bytes(draw(seed, f"random:{posed.item.id}:{posed.run}"), "big")
    return number % len(posed.item.options)


def _first(posed: PosedItem, seed: int) -> int:
    return 0


def _longest(posed: PosedItem, seed: int) -> int:
    shown = [posed.item.options[place] for place in posed.order]
    return max(range(len(shown)), key=lambda at: (len(shown[at]), -at))


def _similar(posed: PosedItem, seed: int) -> int:
    """Choose the option most similar to the context and the utterance, by the embedded vectors."""
    from deadpan.bench.items.similarity import option_similarity

    item = posed.item
    before = " ".join(
        [*(turn.text for turn in item.context), item.utterance, *(turn.text for turn in item.after)]
    )
    return int(option_similarity(item, before)[list(posed.order)].argmax())


RULES: Mapping[str, Choose] = {
    "random": _random,
    "first": _first,
    "longest": _longest,
    "similar": _similar,
}
