"""Asking a model everything, so that nothing is lost, nothing is asked twice and nothing goes unseen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Self

from deadpan.bench.asking import Answerer, Question, questions
from deadpan.bench.baselines import PREFIX
from deadpan.bench.calls import Call, Journal, Key, RowFacts, by_key, make_row, next_limit, read_calls
from deadpan.bench.folder import JOURNAL, Plan, begin, check_free, finish, slug
from deadpan.bench.prompts import ZERO_SHOT, template_texts
from deadpan.bench.providers import InspectModel, Sampling, connect, inspect_version, is_local, price_of
from deadpan.bench.rows import Row
from deadpan.bench.sets import ItemSet, limited
from deadpan.errors import ConfigError
from deadpan.llm import CostLimit, Price, Usage
from deadpan.llm.retries import Backoff, Failed
from deadpan.locks import alone_in
from deadpan.records import Item

LIMITS = (128, 512, 2048)
"""An answer cut off at one is asked again with the next."""


@dataclass(slots=True)
class State:
    """How a model's run stands, for a table that people watch."""

    model: str
    total: int
    done: int = 0
    resumed: int = 0
    calls: int = 0
    retries: int = 0
    escalated: int = 0
    errors: int = 0
    spent: float = 0.0
    unpriced: bool = False
    state: str = "waiting"


@dataclass(frozen=True, slots=True)
class Job:
    """Everything about a run but the model."""

    set: ItemSet
    runs: int = 5
    limit: int | None = None
    max_tokens: int = LIMITS[0]
    escalate: bool = True
    shuffle: bool = False
    retries: int = 5
    max_cost: float | None = None
    price: tuple[float, float] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ZERO_SHOT
    asked: tuple[Question, ...] = ()
    """Other questions than the set's own, such as those to a judge."""

    @property
    def items(self) -> list[Item]:
        return limited(self.set.items, self.limit)

    def limits(self, model: str) -> tuple[int, ...]:
        """The ladder of limits; a local model has one rung."""
        more = self.escalate and not is_local(model)
        return (self.max_tokens, *(limit for limit in LIMITS if limit > self.max_tokens and more))

    def _asked_hash(self) -> dict[str, str]:
        """What questions of one's own were: marks of other explanations are not gone on with."""
        if not self.asked:
            return {}
        prompts = "\x1f".join(question.prompt for question in self.asked)
        return {"sha256 of all": sha256(prompts.encode()).hexdigest()}

    def plan(self, model: str) -> Plan:
        """What the run folder says was asked."""
        if self.runs < 1:
            raise ConfigError(f"--runs needs 1 or more, got {self.runs}")
        price = price_of(model, self.price)
        known = {} if price is None else {"input": price.input, "output": price.output, "as_of": price.as_of}
        return Plan(
            model=model,
            set=self.set.label,
            set_hash=self.set.hash,
            visibility=self.set.visibility,
            items=tuple(item.id for item in self.items),
            set_size=len(self.set.items),
            runs=self.runs,
            expected=len(self.asked) or None,
            prompt=self.prompt,
            prompt_texts=template_texts(self.prompt) | self._asked_hash(),
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            limits=self.limits(model),
            seed=self.sampling.seed,
            shuffle=self.shuffle,
            price=known,
            inspect="" if model.startswith(PREFIX) else inspect_version(),
            base_url="" if is_local(model) else self.sampling.base_url,
        )


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, as an argument: tests bring their own."""

    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    tick: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    backoff: Backoff = field(default_factory=Backoff)


def run_models(
    models: Sequence[str],
    job: Job,
    out: Path,
    *,
    watch: Callable[[Sequence[State]], None] = lambda states: None,
    clock: Clock | None = None,
    answerers: dict[str, Answerer] | None = None,
) -> list[tuple[Path, bool]]:
    """Run every model, side by side; each one's folder and whether it is complete.

    All models are connected before any is asked: a wrong name must not be found out after money was spent.
    """
    if len(set(models)) < len(models):
        raise ConfigError("a model is named twice: name each once, --runs asks it several times")
    plans = [(out / slug(model), job.plan(model)) for model in models]
    for folder, plan in plans:
        check_free(folder, plan)
    budget, time_ = Budget(job.max_cost), clock or Clock()
    runners = [_Runner.take_up(job, plan, folder, budget, time_) for folder, plan in plans]
    # A model that has answered everything need not even be there.
    unfinished = [runner for runner in runners if runner.pending]
    ready = answerers or {each.plan.model: connect(each.plan.model, job.sampling) for each in unfinished}
    with ExitStack() as held:  # two runs in one folder would ask, and pay for, everything twice
        for folder, plan in plans:
            held.enter_context(alone_in(folder))
            begin(folder, plan)
        _ask(unfinished, ready, lambda: watch([runner.state for runner in runners]))
        return [(folder, finish(folder, plan, _rows(job, plan, folder))) for folder, plan in plans]


def _ask(runners: Sequence[_Runner], answerers: Mapping[str, Answerer], changed: Callable[[], None]) -> None:
    """All that is pending, side by side."""

    async def everything() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for runner in runners:
                    group.create_task(runner.run(answerers[runner.plan.model], changed))
        finally:
            for model in answerers.values():
                if isinstance(model, InspectModel):
                    await model.close()

    try:
        asyncio.run(everything())
    except ExceptionGroup as several:
        raise _first(several) from None


def _first(group: ExceptionGroup) -> Exception:
    """One error for one line; the others are most often the same."""
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, ExceptionGroup) else inner


class Budget:
    """What all models together may spend."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0

    def check(self) -> None:
        """Refuse the next request once the limit is reached."""
        if self.limit is not None and self.spent >= self.limit:
            raise CostLimit(
                f"--max-cost of ${self.limit:.2f} reached (${self.spent:.4f} spent): what was answered is "
                "kept; raise it and run the same command to go on"
            )


@dataclass(slots=True)
class _Runner:
    """One model's run: some workers, one queue, one journal."""

    job: Job
    plan: Plan
    folder: Path
    state: State
    budget: Budget
    clock: Clock
    earlier: dict[Key, list[Call]]
    pending: list[Question]

    @classmethod
    def take_up(cls, job: Job, plan: Plan, folder: Path, budget: Budget, clock: Clock) -> Self:
        """A run as its journal leaves it: what is still to ask, and what earlier sessions spent."""
        calls = read_calls(folder / JOURNAL)
        earlier = by_key(calls)
        pending = [
            question
            for question in _asked(job)
            if next_limit(earlier.get((question.item.id, question.run), []), plan.limits) is not None
        ]
        done = plan.total - len(pending)
        state = State(plan.model, plan.total, done=done, resumed=done, state="waiting" if pending else "done")
        runner = cls(job, plan, folder, state, budget, clock, earlier, pending)
        for call in calls:
            runner._pay(call)
        return runner

    async def run(self, answerer: Answerer, changed: Callable[[], None]) -> None:
        """Ask all that is pending; what is answered is in the journal at once."""
        self.state.state = "running"
        changed()
        workers = 1 if is_local(self.plan.model) else self.job.sampling.concurrency
        with Journal(self.folder / JOURNAL, secret=not self.job.set.public) as journal:
            queue = iter(self.pending)
            async with asyncio.TaskGroup() as group:
                for _ in range(min(workers, len(self.pending))):
                    group.create_task(self._work(queue, answerer, journal, changed))
        self.state.state = "done" if not self.state.errors else "incomplete"
        changed()

    async def _work(
        self, queue: Iterator[Question], answerer: Answerer, journal: Journal, changed: Callable[[], None]
    ) -> None:
        """Take questions until there are none; all workers share the queue."""
        price = price_of(self.plan.model, self.job.price)
        for question in queue:
            calls = list(self.earlier.get((question.item.id, question.run), []))
            failures = 0
            while (limit := next_limit(calls, self.plan.limits)) is not None:
                self.budget.check()
                call, failed = await self._attempt(answerer, question, limit, price)
                journal.add(call)
                calls.append(call)
                self._count(call)
                if failed is not None:
                    failures += 1
                    if failures > self.job.retries:
                        self.state.errors += 1
                        break
                    await self.clock.sleep(self.clock.backoff.wait(failures - 1, failed))
                elif next_limit(calls, self.plan.limits) is not None:
                    self.state.escalated += 1
            self.state.done += 1
            changed()

    async def _attempt(
        self, answerer: Answerer, question: Question, limit: int, price: Price | None
    ) -> tuple[Call, Failed | None]:
        began = self.clock.tick()
        blank = Call(question.item.id, question.run, limit, at=self.clock.now().isoformat(timespec="seconds"))
        try:
            reply = await answerer.ask(question, limit)
        except Failed as failed:
            seconds = round(self.clock.tick() - began, 4)
            return replace(blank, error=str(failed)[:300], seconds=seconds), failed
        usage = Usage(reply.input_tokens, reply.output_tokens, reply.cached_tokens)
        call = replace(
            blank,
            text=reply.text,
            stop_reason=reply.stop_reason,
            returned=reply.returned,
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost=price.cost(usage) if price is not None and reply.counted else None,
            seconds=round(self.clock.tick() - began, 4),
        )
        return call, None

    def _count(self, call: Call) -> None:
        self.state.calls += 1
        self.state.retries += bool(call.error)
        self._pay(call)

    def _pay(self, call: Call) -> None:
        """Money of this session and of those before it alike: the limit is on the whole run."""
        self.state.spent += call.cost or 0.0
        self.state.unpriced = self.state.unpriced or (call.cost is None and not call.error)
        self.budget.spent += call.cost or 0.0


def _asked(job: Job) -> list[Question]:
    if job.asked:
        return list(job.asked)
    return questions(job.items, job.runs, job.sampling.seed, job.shuffle, job.prompt)


def _rows(job: Job, plan: Plan, folder: Path) -> list[Row]:
    """A row for everything asked, answered or not."""
    calls = by_key(read_calls(folder / JOURNAL))
    asked = _asked(job)
    orders = {(question.item.id, question.run): question.order for question in asked}
    facts = RowFacts(plan.model, plan.set, plan.set_hash, orders)
    return [make_row(q.item, q.run, calls.get((q.item.id, q.run), []), facts, plan.limits) for q in asked]
