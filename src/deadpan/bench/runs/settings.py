"""Settings of a run: what is asked and how, everything but the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from deadpan.arguments import check_whole
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.prompts import (
    OWN,
    REASONED,
    ZERO_SHOT,
    OwnPrompt,
    options_order,
    render_prompt,
    template_texts,
)
from deadpan.bench.items.sets import ItemSet, limited
from deadpan.bench.runs.folder import RunPlan
from deadpan.llm import EMBEDDED_PREFIX, LLMSettings, Price, find_price
from deadpan.llm.batches import HALF
from deadpan.llm.messages import explained
from deadpan.llm.settings import KEY_ENV, TIMEOUT, is_hosted
from deadpan.records import Item

BASELINE_PREFIX = "baseline/"
LIMITS = (128, 512, 2048, 8192, 32768)
"""Token limits: a cut-off answer is requested again with the next."""
HOSTED_LIMIT = 131_072
"""One more limit, above what hosted models can write: their own maximum then holds."""
LAST_LINE = "\nFinal Answer: "
LONGEST_EXPLANATION = 240
"""Characters: the prompt asks for two or three sentences, and a small model hardly ever stops by itself."""


@dataclass(frozen=True, slots=True)
class PosedItem:
    """One item in one run, as the model sees it."""

    item: Item
    run: int
    order: tuple[int, ...]
    prompt: str


def posed_items(
    items: Sequence[Item], runs: int, seed: int, shuffle: bool, texts: Mapping[str, str] | None = None
) -> list[PosedItem]:
    """Return everything to ask. Runs of one item follow each other: a server can reuse its cache."""
    posed = []
    for item in items:
        for run in range(1, runs + 1):
            order = options_order(item, run, seed, shuffle)
            posed.append(PosedItem(item, run, order, render_prompt(item, order, texts)))
    return posed


@dataclass(frozen=True, slots=True)
class Sampling:
    """Sampling settings of a run, apart from the prompt; named as in `LLMSettings`."""

    temperature: float | None = 0.7
    top_p: float | None = 0.95
    seed: int = 0
    timeout: float | None = None
    """Seconds per attempt; None: those of `LLMSettings`, and more for large token limits."""
    concurrency: int = 8
    base_url: str = ""
    key_env: str = KEY_ENV
    reasoning_effort: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The items to ask and the way to ask them. `posed` replaces the items of the set, for a judge."""

    set: ItemSet
    runs: int = 5
    limit: int | None = None
    sample: int | None = None
    max_tokens: int = LIMITS[0]
    escalate: bool = True
    shuffle: bool = False
    retries: int = 5
    max_cost: float | None = None
    price: Mapping[str, tuple[float, float]] = field(default_factory=dict, hash=False)
    """Per model: US dollars per million input and output tokens, in place of the table's."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ZERO_SHOT
    posed: tuple[PosedItem, ...] = field(default=(), repr=False)
    constrain: bool | None = None
    """True if the model can only write a letter; None: embedded models only."""
    batch: bool = False
    """Ask through the provider's batch interface, at half the price."""
    own_text: str = field(default="", repr=False)
    """The text of a prompt of the user's own, whose name is then `prompt`."""

    def with_prompt(self, own: OwnPrompt) -> RunSettings:
        """Return the same run with a prompt of the user's own; options are shown in another order in every run."""
        return replace(self, prompt=own.name, own_text=own.text, shuffle=True)

    @property
    def texts(self) -> dict[str, str]:
        """The prompt, word for word, per language."""
        return {"en": self.own_text} if self.own_text else template_texts(self.prompt)

    def __post_init__(self) -> None:
        check_whole(self.runs, "runs", 1)
        self._base("any")  # a value that no server accepts is an error
        limited(self.set.items, self.limit, self.sample)

    def _base(self, model: str) -> LLMSettings:
        """Return the settings that every model gets."""
        sampling = self.sampling
        return LLMSettings(
            model=model,
            base_url=sampling.base_url,
            key_env=sampling.key_env,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=self.max_tokens,
            reasoning_effort=sampling.reasoning_effort,
            extra=sampling.extra,
            timeout=TIMEOUT if sampling.timeout is None else sampling.timeout,
            retries=self.retries,
            concurrency=sampling.concurrency,
            max_cost=self.max_cost,
            price=(0.0, 0.0) if model.startswith(BASELINE_PREFIX) else self.price.get(model),
            cache=False,  # independent runs must not replay each other's answers
        )

    def call_settings(self, plan: RunPlan) -> LLMSettings:
        """Return what is sent with every question."""
        local, reasoned = is_local(plan.model), plan.prompt == REASONED
        options = max((len(item.options) for item in self.set.items), default=len(LETTERS))
        letters = tuple(LETTERS[:options]) if plan.constrained else ()
        form = explained(LAST_LINE, letters, LONGEST_EXPLANATION) if letters and reasoned else {}
        batched: dict[str, Any] = {}
        if self.batch and (price := self.find_price(plan.model)):
            batched = {"price": (price.input, price.output)}
        if self.batch:  # everything goes out at once
            batched["concurrency"] = max(1, len(plan.items) * plan.runs)
        return self._base(plan.model).changed(
            **batched,
            extra={**self.sampling.extra, **form},
            seed=self.sampling.seed * 1000 if local else None,
            stop=("\n",) if local and not reasoned else (),
            choices=() if reasoned else letters,
        )

    def find_price(self, model: str) -> Price | None:
        """Return US dollars per million tokens, in a batch half of them; None if the price is unknown."""
        price = find_price(self._base(model))
        if price is None or not self.batch:
            return price
        return Price(HALF * price.input, HALF * price.output, as_of=f"{price.as_of}, in batches at half".lstrip(", "))

    @property
    def items(self) -> list[Item]:
        return limited(self.set.items, self.limit, self.sample, self.sampling.seed)

    @property
    def partial(self) -> bool:
        """True if only a part of the set is asked."""
        return len(self.items) < len(self.set.items)

    def limits(self, model: str) -> tuple[int, ...]:
        """Return the token limits to try in turn, a local model has one."""
        # A character of Korean may be several tokens of a small model.
        least = LIMITS[2] if is_local(model) else LIMITS[1]
        first = max(self.max_tokens, least) if self.prompt == REASONED else self.max_tokens
        if not self.escalate or is_local(model):
            return (first,)
        hosted = not model.startswith(BASELINE_PREFIX) and is_hosted(self._base(model))
        steps = (*LIMITS, HOSTED_LIMIT) if hosted else LIMITS
        return (first, *(step for step in steps if step > first))

    def constrained(self, model: str) -> bool:
        """Return whether the model can only write a letter: in the direct prompt, not for explanations.

        An embedded model that reasons first can only end with a letter: it takes a grammar, others take JSON.
        """
        wanted = is_local(model) if self.constrain is None else self.constrain
        letter = self.prompt.startswith((ZERO_SHOT, OWN)) or (self.prompt == REASONED and is_local(model))
        return wanted and letter and not model.startswith(BASELINE_PREFIX)

    def to_ask(self) -> list[PosedItem]:
        """Return every item and run to ask."""
        if self.posed:
            return list(self.posed)
        return posed_items(self.items, self.runs, self.sampling.seed, self.shuffle, self.texts)

    def plan(self, model: str) -> RunPlan:
        """Return the plan that the run folder stores."""
        price = self.find_price(model)
        known = {} if price is None else {"input": price.input, "output": price.output, "as_of": price.as_of}
        return RunPlan(
            model=model,
            set=self.set.label,
            set_hash=self.set.hash,
            visibility=self.set.visibility,
            items=tuple(item.id for item in self.items),
            set_size=len(self.set.items),
            runs=self.runs,
            expected=len(self.posed) or None,
            prompt=self.prompt,
            prompt_texts=self.texts | self._posed_hash(),
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            limits=self.limits(model),
            seed=self.sampling.seed,
            shuffle=self.shuffle,
            price=known,
            base_url="" if is_local(model) else self.sampling.base_url,
            reasoning_effort=self.sampling.reasoning_effort,
            extra=dict(self.sampling.extra),
            constrained=self.constrained(model),
        )

    def _posed_hash(self) -> dict[str, str]:
        """Return a hash of other questions than the set's: marks of other texts must not be resumed."""
        if not self.posed:
            return {}
        prompts = "\x1f".join(posed.prompt for posed in self.posed)
        return {"sha256 of all": sha256(prompts.encode()).hexdigest()}


def is_local(model: str) -> bool:
    """Return whether a model runs on this machine: it gets one request at a time and one token limit."""
    return model.startswith(EMBEDDED_PREFIX)
