"""Anything that answers items: a language model, a baseline, or an object of the user's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from deadpan.bench.items.item import LETTERS
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem
from deadpan.draws import draw
from deadpan.errors import ConfigError
from deadpan.llm import Answer, HttpTransport, LLMSettings, Message, StopReason, Transport, Usage
from deadpan.registry import unknown


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The answer of a model. Tokens are 0 where the provider does not report them."""

    text: str
    stop_reason: StopReason = "stop"
    returned: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    counted: bool = True
    """True if the provider reported token counts; without them the cost is unknown."""


@runtime_checkable
class Answerer(Protocol):
    """Something that answers items without a server, such as a baseline.

    It raises `Failed` where a retry may help, else a DeadpanError.
    """

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Make one attempt."""
        ...


def connect(settings: LLMSettings, seed: int = 0) -> Answerer | Transport:
    """Return what answers for a model; a missing key or an unknown provider is an error at once."""
    if settings.model.startswith(BASELINE_PREFIX):
        return Baseline(settings.model.removeprefix(BASELINE_PREFIX), seed)
    transport = HttpTransport()
    transport.check(settings)
    return transport


class ItemTransport:
    """A `Transport` around an `Answerer`: it finds the item that a prompt and a run stand for."""

    def __init__(self, answerer: Answerer, posed: Sequence[PosedItem]) -> None:
        self.answerer = answerer
        self.posed = {(each.prompt, each.run): each for each in posed}

    async def send(self, messages: Sequence[Message], settings: LLMSettings, replicate: int) -> Answer:
        """Make one attempt."""
        posed = self.posed[messages[-1]["content"], replicate]
        given = await self.answerer.ask(posed, settings.max_tokens or 0)
        usage = Usage(given.input_tokens, given.output_tokens, given.cached_tokens) if given.counted else None
        return Answer(given.text, given.stop_reason, usage, given.returned)

    def identity(self, settings: LLMSettings) -> str:
        """Return the name of the model."""
        return settings.model

    def check(self, settings: LLMSettings) -> None:
        """Do nothing: nothing can be missing."""

    async def close(self) -> None:
        """Do nothing: there are no connections."""


# ---------------------------------------------------------------- baselines


class Baseline:
    """A rule that chooses a letter, free of charge: what the score of a model is compared with."""

    def __init__(self, name: str, seed: int) -> None:
        if name not in _RULES:
            known = [BASELINE_PREFIX + rule for rule in _RULES]
            raise ConfigError(unknown("baseline", BASELINE_PREFIX + name, known))
        self.name = name
        self.seed = seed

    async def ask(self, posed: PosedItem, max_tokens: int) -> GivenAnswer:
        """Answer with the letter the rule chooses, in the requested form."""
        letter = LETTERS[_RULES[self.name](posed, self.seed)]
        return GivenAnswer(f"Final Answer: {letter}", "stop", BASELINE_PREFIX + self.name)


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
    from deadpan.bench.items.probes import option_similarity

    item = posed.item
    before = " ".join([*(turn.text for turn in item.context), item.utterance, *(turn.text for turn in item.after)])
    return int(option_similarity(item, before)[list(posed.order)].argmax())


_RULES: Mapping[str, Callable[[PosedItem, int], int]] = {
    "random": _random,
    "first": _first,
    "longest": _longest,
    "similar": _similar,
}
