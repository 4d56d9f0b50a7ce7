"""Contamination: has a model seen a set? It completes canaries, texts and orders of options from memory.

Every probe has a control that a model without memory of the set answers just as well, so that skill alone
does not look like memory: texts are compared with those of another item, orders with a shuffled order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deadpan.arguments import check_whole
from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.item import LETTERS, family
from deadpan.bench.items.prompts import spoken_lines
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.settings import BASELINE_PREFIX
from deadpan.bench.scores.score import mean_interval
from deadpan.draws import draw, sample
from deadpan.errors import ConfigError, DataError
from deadpan.llm import Client, LLMSettings, default_model, user
from deadpan.llm.settings import KEY_ENV
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Item
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.text import fold
from deadpan.validation import encode

_RUN = 5
"""Words in a row that count as verbatim; a shorter text must be whole."""
_SHOWN = 3
"""Options whose order is given; the next of the others is asked for."""
_PLACES = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

CONTINUE = """This is the beginning of a text. Continue it word for word, and write nothing else.

{begun}"""
NEXT_OPTION = """This is a question with lettered options. Write the text of option {letter} word for word, and nothing else.

{scene}

Question: {question}

{options}
{letter}."""  # noqa: E501
ORDER = """This is a question with lettered options in their original order; the last {left} are missing.

{scene}

Question: {question}

{options}

The missing options, sorted by the alphabet:
{missing}

Which of them is option {letter} in the original order? Write its text word for word, and nothing else."""


@dataclass(frozen=True, slots=True)
class MemoryProbe:
    """One way to show memory: the share of items that show it, that of the control, and the difference."""

    name: str
    memory: float
    control: float | None
    difference: Interval
    found: bool


@dataclass(frozen=True, slots=True)
class Contamination(Result):
    """The probes of one model on one set. Finding nothing does not prove that the set was not seen."""

    model: str
    set: str
    asked: int
    probes: tuple[MemoryProbe, ...] = field(repr=False)

    @property
    def contaminated(self) -> bool:
        return any(probe.found for probe in self.probes)

    def as_dict(self) -> dict[str, object]:
        """Return every probe and the verdict."""
        return {
            "model": self.model,
            "set": self.set,
            "asked": self.asked,
            "contaminated": self.contaminated,
            "probes": encode(self.probes),
        }

    def summary(self) -> Summary:
        """Return one row per probe, and the verdict."""
        rows: list[tuple[Cell, ...]] = [
            (each.name, each.memory, each.control, each.difference, "memory" if each.found else "none")
            for each in self.probes
        ]
        table = Table(("probe", "completed", "control", "difference", "shows"), tuple(rows))
        verdict = (
            f"{self.model} has seen {self.set}: its scores there are not comparable."
            if self.contaminated
            else f"No memory of {self.set} was found in {self.model}, which does not prove there is none."
        )
        return Summary((table,), (verdict, f"Asked about {self.asked} items; 95 % confidence intervals."))


@dataclass(frozen=True, slots=True)
class _Question:
    """A prompt about an item, the text that memory would give, and the text of the control if it has one."""

    probe: str
    family: str
    prompt: str
    wanted: str
    other: str = ""
    control: bool = False


def check_contamination(
    model: str | None = None,
    items: str | Path | ItemSet = DEFAULT_SET,
    *,
    sample: int = 40,
    base_url: str | None = "",
    key_env: str = KEY_ENV,
    max_cost: float | None = None,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> Contamination:
    """Test whether a model has seen a set; without `model` the embedded model is asked.

    It is asked to complete the canaries, then for `sample` items the second half of the scene, the last
    option, and the next option in the set's own order and in a shuffled one. Answers are at temperature 0.
    """
    name = default_model() if model is None else model
    if name.startswith(BASELINE_PREFIX):
        raise ConfigError(f"{name} only chooses letters: give a model that writes")
    opened = open_set(items, ask)
    chosen = _chosen(opened, check_whole(sample, "the sample", 2), seed)
    questions = [*_canaries(opened.items), *_texts(chosen), *_options(chosen), *_orders(chosen, seed)]
    settings = LLMSettings(
        model=name, base_url=base_url or "", key_env=key_env, temperature=0.0, max_tokens=96,
        max_cost=max_cost, seed=seed,
    )  # fmt: skip
    with Client(settings) as client:
        client.check()
        replies = client.complete_many([[user(each.prompt)] for each in questions])
    texts = [reply.text for reply in replies]
    return Contamination(name, opened.label, len(chosen), tuple(_probes(questions, texts, seed)))


def _chosen(items: ItemSet, count: int, seed: int) -> list[Item]:
    """Draw items, one of each family: the twins of a pair share nearly all their text."""
    first: dict[str, Item] = {}
    for item in items.items:
        first.setdefault(family(item), item)
    chosen = sample(first.values(), count, seed=seed, key=lambda item: item.id)
    if len(chosen) < 2:
        raise DataError(f"{items.label}: one family of items has no control: give a set of two or more")
    return chosen


# ---------------------------------------------------------------- questions


def _canaries(items: Sequence[Item]) -> list[_Question]:
    """Ask for the second half of every canary's id; canaries without an id cannot be told from a guess."""
    questions = []
    for canary in dict.fromkeys(item.canary for item in items):
        if match := _PLACES.search(canary):
            cut = match.start() + 9
            questions.append(
                _Question("canary", canary, CONTINUE.format(begun=canary[:cut]), canary[cut : match.end()])
            )
    return questions


def _texts(items: Sequence[Item]) -> list[_Question]:
    """Ask for the second half of every scene; the control is the second half of the next item's."""
    halves = [_halved(f"{spoken_lines(item.context)}\n{item.utterance}") for item in items]
    others = [*halves[1:], halves[0]]
    return [
        _Question("scene", family(item), CONTINUE.format(begun=begun), rest, other)
        for item, (begun, rest), (_, other) in zip(items, halves, others, strict=True)
    ]


def _halved(text: str) -> tuple[str, str]:
    words = text.split(" ")
    middle = len(words) // 2
    return " ".join(words[:middle]), " ".join(words[middle:])


def _options(items: Sequence[Item]) -> list[_Question]:
    """Ask for the last option, given the others; the control is the last option of the next item."""
    questions = []
    for item, other in zip(items, [*items[1:], items[0]], strict=True):
        order = tuple(range(len(item.options)))
        prompt = NEXT_OPTION.format(
            letter=LETTERS[order[-1]], scene=_scene(item), question=item.question, options=_lettered(item, order[:-1])
        )
        questions.append(_Question("last option", family(item), prompt, item.options[-1], other.options[-1]))
    return questions


def _orders(items: Sequence[Item], seed: int) -> list[_Question]:
    """Ask which option comes next, in the set's own order and in a shuffled one, which nobody has seen."""
    questions = []
    for item in items:
        places = range(len(item.options))
        shuffled = sorted(places, key=lambda place: draw(seed, f"order:{item.id}:{place}"))
        for order, control in ((tuple(places), False), (tuple(shuffled), True)):
            shown = min(_SHOWN, len(order) - 1)
            missing = sorted(item.options[place] for place in order[shown:])
            prompt = ORDER.format(
                left=len(missing), scene=_scene(item), question=item.question, letter=LETTERS[shown],
                options=_lettered(item, order[:shown]), missing="\n".join(f"- {text}" for text in missing),
            )  # fmt: skip
            wanted = item.options[order[shown]]
            questions.append(_Question("order", family(item), prompt, wanted, control=control))
    return questions


def _scene(item: Item) -> str:
    return f'{spoken_lines(item.context)}\n{item.speaker or "Speaker"}: "{item.utterance}"'


def _lettered(item: Item, order: Sequence[int]) -> str:
    return "\n".join(f"{LETTERS[at]}. {item.options[place]}" for at, place in enumerate(order))


# ---------------------------------------------------------------- answers


def _probes(questions: Sequence[_Question], texts: Sequence[str], seed: int) -> list[MemoryProbe]:
    """Return the probes: hits less hits of the control, per family."""
    hits: dict[str, dict[str, tuple[float, float]]] = {}
    for question, text in zip(questions, texts, strict=True):
        of = hits.setdefault(question.probe, {})
        memory, control = of.get(question.family, (0.0, 0.0))
        shown = float(_shows(question.probe, text, question.wanted))
        if question.control:
            control = shown
        else:
            memory = shown
            control = float(bool(question.other) and _shows(question.probe, text, question.other))
        of[question.family] = (memory, control)
    probes = []
    for name, pairs in hits.items():
        gaps = [memory - control for memory, control in pairs.values()]
        memory, control = (sum(pair[at] for pair in pairs.values()) / len(pairs) for at in (0, 1))
        difference = mean_interval(gaps, list(pairs), seed)
        # Nobody guesses 24 hexadecimal digits: one canary is enough.
        sure = memory > 0 if name == "canary" else difference.low is not None and difference.low > 0
        probes.append(MemoryProbe(name, memory, None if name == "canary" else control, difference, sure))
    return probes


def _shows(probe: str, text: str, wanted: str) -> bool:
    """Return whether an answer gives a text: the rest of an id, one option, or several words in a row."""
    if probe == "canary":
        return wanted in text
    given, true = _words(text), _words(wanted)
    run = len(true) if probe == "order" else min(_RUN, len(true))
    parts = {tuple(true[at : at + run]) for at in range(len(true) - run + 1)}
    return any(tuple(given[at : at + run]) in parts for at in range(len(given) - run + 1))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", fold(text))
