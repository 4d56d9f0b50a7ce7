"""Models that understand nothing: what a score has to be read against."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from deadpan.bench.asking import Question, Reply
from deadpan.bench.items import LETTERS, OPTIONS
from deadpan.draws import draw
from deadpan.errors import ConfigError
from deadpan.registry import unknown

PREFIX = "baseline/"
Choose = Callable[[Question, int], int]


class Baseline:
    """Answers by a rule, at once and for nothing."""

    def __init__(self, name: str, seed: int) -> None:
        if name not in RULES:
            raise ConfigError(unknown("baseline", PREFIX + name, [PREFIX + each for each in RULES]))
        self.name = name
        self.seed = seed

    async def ask(self, question: Question, max_tokens: int) -> Reply:
        """The letter its rule chooses, in the form models are asked for."""
        letter = LETTERS[RULES[self.name](question, self.seed)]
        return Reply(f"Final Answer: {letter}", "stop", PREFIX + self.name)


def _random(question: Question, seed: int) -> int:
    number = int.from_bytes(draw(seed, f"random:{question.item.id}:{question.run}"), "big")
    return number % OPTIONS


def _first(question: Question, seed: int) -> int:
    return 0


def _longest(question: Question, seed: int) -> int:
    shown = [question.item.options[place] for place in question.order]
    return max(range(OPTIONS), key=lambda at: (len(shown[at]), -at))


def _similar(question: Question, seed: int) -> int:
    """The option nearest in sense to the context and the utterance, by the embedded vectors."""
    from deadpan.bench.similarity import embedded
    from deadpan.vectors import cosine

    vectors, item = embedded(), question.item
    before = " ".join([*(turn.text for turn in item.context), item.utterance])
    shown = vectors.sentences([item.options[place] for place in question.order])
    return int(cosine(vectors.sentences([before]), shown)[0].argmax())


RULES: Mapping[str, Choose] = {
    "random": _random,
    "first": _first,
    "longest": _longest,
    "similar": _similar,
}
