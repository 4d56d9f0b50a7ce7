"""Settings of a run: everything about it but the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

from deadpan.arguments import check_whole
from deadpan.bench.items.prompts import REASONED, ZERO_SHOT, template_texts
from deadpan.bench.items.sets import ItemSet, limited
from deadpan.bench.runs.asking import PosedItem, posed_items
from deadpan.bench.runs.baselines import PREFIX
from deadpan.bench.runs.folder import RunPlan
from deadpan.bench.runs.providers import (
    Sampling,
    check_number,
    inspect_version,
    is_local,
    output_limit,
    price_of,
)
from deadpan.errors import ConfigError
from deadpan.records import Item

LIMITS = (128, 512, 2048, 8192, 32768)
"""Token limits: a cut-off answer is requested again with the next, up to the model's own maximum."""


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
    price: tuple[float, float] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ZERO_SHOT
    posed: tuple[PosedItem, ...] = field(default=(), repr=False)
    constrain: bool | None = None
    """True if the model can only write a letter; None: embedded models only."""

    def __post_init__(self) -> None:
        check_whole(self.runs, "runs", 1)
        at_least = (("max_tokens", 1), ("retries", 0), ("max_cost", 0))
        for name, least in at_least:
            check_number(name, getattr(self, name), least)
        if self.price is not None and min(self.price) < 0:
            raise ConfigError("price is negative: give US dollars per million input and output tokens")
        limited(self.set.items, self.limit, self.sample)

    @property
    def items(self) -> list[Item]:
        return limited(self.set.items, self.limit, self.sample, self.sampling.seed)

    @property
    def partial(self) -> bool:
        """True if only a part of the set is asked."""
        return len(self.items) < len(self.set.items)

    def limits(self, model: str) -> tuple[int, ...]:
        """Return the token limits to try in turn, up to the model's own maximum; a local model has one."""
        # A character of Korean may be several tokens of a small model.
        least = LIMITS[2] if is_local(model) else LIMITS[1]
        first = max(self.max_tokens, least) if self.prompt == REASONED else self.max_tokens
        if not self.escalate or is_local(model):
            return (first,)
        largest = None if self.sampling.base_url or model.startswith(PREFIX) else output_limit(model)
        steps = {*LIMITS, largest or LIMITS[-1]}
        higher = (step for step in steps if first < step <= (largest or LIMITS[-1]))
        return (first, *sorted(higher))

    def constrained(self, model: str) -> bool:
        """Return whether the model can only write a letter: in the direct prompt, not for explanations.

        An embedded model that reasons first can only end with a letter: it takes a grammar, others take JSON.
        """
        wanted = is_local(model) if self.constrain is None else self.constrain
        letter = self.prompt == ZERO_SHOT or (self.prompt == REASONED and is_local(model))
        return wanted and letter and not model.startswith(PREFIX)

    def to_ask(self) -> list[PosedItem]:
        """Return every item and run to ask."""
        if self.posed:
            return list(self.posed)
        return posed_items(self.items, self.runs, self.sampling.seed, self.shuffle, self.prompt)

    def plan(self, model: str) -> RunPlan:
        """Return the plan that the run folder stores."""
        price = price_of(model, self.price)
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
            prompt_texts=template_texts(self.prompt) | self._posed_hash(),
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            limits=self.limits(model),
            seed=self.sampling.seed,
            shuffle=self.shuffle,
            price=known,
            inspect="" if model.startswith(PREFIX) else inspect_version(),
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
