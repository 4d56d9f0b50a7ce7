"""Asking models: concurrent, resumable, within a budget."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from deadpan.bench.items.prompts import REASONED, OwnPrompt
from deadpan.bench.runs.answerers import Answerer, ItemTransport, connect
from deadpan.bench.runs.folder import JOURNAL, AnswerRow, RunPlan, begin, check_resumable, finish, model_slug
from deadpan.bench.runs.journal import (
    BenchCall,
    Key,
    RowFacts,
    by_key,
    call_tag,
    make_row,
    next_limit,
    paid_for,
    read_bench_calls,
)
from deadpan.bench.runs.settings import BASELINE_PREFIX, PosedItem, RunSettings, is_local
from deadpan.errors import ConfigError, DataError, DeadpanError, ModelError
from deadpan.journal import Journal
from deadpan.llm import HOPELESS, Backoff, Budget, Client, Reply, Transport, Unavailable, user
from deadpan.llm.batches import BatchTransport
from deadpan.llm.calls import call_key, reservations, reserve_call
from deadpan.llm.client import run_on_loop
from deadpan.page.table import Cell, Table
from deadpan.progress import Progress
from deadpan.storage import lock_folder

BATCHES = "batches.sqlite"
SLOWEST = 20
"""Tokens per second that a model writes at least: without a timeout of one's own, a large limit gets more time."""


@dataclass(frozen=True, slots=True)
class RunClock:
    """Time as an argument, so that tests can replace it."""

    tick: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    backoff: Backoff = field(default_factory=Backoff)


def run_models(
    models: Sequence[str],
    settings: RunSettings,
    out: Path,
    *,
    watch: Watch = lambda states: None,
    clock: RunClock | None = None,
    answerers: Mapping[str, Answerer | Transport] | None = None,
    prompts: Sequence[OwnPrompt] = (),
) -> list[tuple[Path, bool]]:
    """Run every model at the same time; return each folder and whether its run is complete.

    With `prompts`, every model is then asked by each of them, one after the other; each is a run of its own.

    All models are connected before any is asked, so that a wrong name is found before money is spent. A model
    that fails for good does not stop the others; its error is raised when they are done.
    """
    if not models:
        raise ConfigError("no model to ask: name one, such as baseline/random")
    if len(set(models)) < len(models):
        raise ConfigError("a model is given twice: give each once; --runs repeats the questions")
    if Path(out).exists() and not Path(out).is_dir():
        raise DataError(f"{out}: is a file: choose another --out")
    ways = [settings, *map(settings.with_prompt, prompts)]
    asked = [(way, way.plan(model)) for way in ways for model in models]
    plans = [(way, plan, Path(out) / model_slug(plan.system)) for way, plan in asked]
    _check_folders([(folder, plan.system) for _, plan, folder in plans])
    for way, plan, folder in plans:
        way.call_settings(plan)
        check_resumable(folder, plan)
        check_price(plan.model, settings)
    budget, clock = Budget(settings.max_cost), clock or RunClock()
    runners = [_Runner.resume(way, plan, folder, budget, clock) for way, plan, folder in plans]
    # A model that has answered everything is not connected: it need not be available.
    unfinished = [runner for runner in runners if runner.pending]
    given = answerers or {}
    ready = {each.folder: given.get(each.plan.model) or each.connected() for each in unfinished}
    with ExitStack() as locks:  # two runs in one folder would pay for everything twice
        for _, plan, folder in plans:
            locks.enter_context(lock_folder(folder))
            begin(folder, plan)
        report = lambda: watch([runner.state for runner in runners])  # noqa: E731
        errors = run_on_loop(_ask(unfinished, ready, report))
        finished = [(folder, finish(folder, plan, _rows(way, plan, folder))) for way, plan, folder in plans]
    if errors:
        raise errors[0]
    return finished


def _check_folders(folders: Sequence[tuple[Path, str]]) -> None:
    """Raise for two models whose names give one folder, such as a/b and a-b, or for a prompt given twice."""
    taken: dict[Path, str] = {}
    for folder, system in folders:
        if folder in taken:
            raise ConfigError(
                f"{taken[folder]} and {system} would both be stored in {folder}: run one with another --out"
            )
        taken[folder] = system


def check_price(model: str, settings: RunSettings) -> None:
    """Raise for a model whose costs cannot be limited."""
    if settings.max_cost is not None and settings.find_price(model) is None:
        raise ConfigError(
            f"no price is known for {model}, so max_cost cannot be enforced: give --price {model} IN OUT (US "
            "dollars per million tokens), or no --max-cost"
        )


async def _ask(
    runners: Sequence[_Runner], answerers: Mapping[Path, Answerer | Transport], changed: Callable[[], None]
) -> list[DeadpanError]:
    """Ask everything that is pending; return the errors of models that failed for good."""
    found: list[DeadpanError] = []

    async def in_turn(own: Sequence[_Runner]) -> None:
        for each in own:  # one prompt after the other: the limit of concurrent requests is per model
            error = await each.run(answerers[each.folder], changed)
            if error is not None:
                found.append(error)
                return

    async with asyncio.TaskGroup() as group:
        for model in dict.fromkeys(each.plan.model for each in runners):
            group.create_task(in_turn([each for each in runners if each.plan.model == model]))
    return found


@dataclass(slots=True)
class _Runner:
    """The run of one model: some workers, one queue, one journal."""

    settings: RunSettings
    plan: RunPlan
    folder: Path
    state: RunState
    budget: Budget
    clock: RunClock
    earlier: dict[Key, list[BenchCall]]
    pending: list[PosedItem]
    failure: DeadpanError | None = None
    hopeless: ModelError | None = None
    """The last call that found no server, was denied, or got nothing."""

    @classmethod
    def resume(cls, settings: RunSettings, plan: RunPlan, folder: Path, budget: Budget, clock: RunClock) -> Self:
        """Read the journal: what is still to ask, and what earlier sessions spent."""
        calls, paid = read_bench_calls(folder / JOURNAL), paid_for(folder / JOURNAL)
        earlier = by_key(calls)
        pending = [
            posed
            for posed in settings.to_ask()
            if next_limit(earlier.get((posed.item.id, posed.run), []), plan.limits) is not None
        ]
        done = plan.total - len(pending)
        state = RunState(plan.model, plan.total, done, resumed=done, state="waiting" if pending else "done")
        runner = cls(settings, plan, folder, state, budget, clock, earlier, pending)
        # What calls cost that were lost to a kill, or came without token counts, is counted as well.
        state.spent, state.unpriced = paid, any(call.cost is None for call in calls)
        budget.spent += paid
        return runner

    def connected(self) -> Answerer | Transport:
        """Return what answers, checked."""
        settings, private = self.settings.call_settings(self.plan), not self.settings.set.public
        if not self.settings.batch or self.plan.model.startswith(BASELINE_PREFIX):
            return connect(settings, self.settings.sampling.seed)
        batches = BatchTransport(self.folder / BATCHES, private=private, sleep=self.clock.sleep)
        batches.check(settings)
        return batches

    async def run(self, answerer: Answerer | Transport, changed: Callable[[], None]) -> DeadpanError | None:
        """Ask everything that is pending; return the error that ended it early, if any."""
        self.state.state = "in a batch" if self.settings.batch else "running"
        changed()
        workers = 1 if is_local(self.plan.model) else self.settings.call_settings(self.plan).concurrency
        with Journal(self.folder / JOURNAL, private=not self.settings.set.public) as journal:
            if isinstance(answerer, BatchTransport):
                self._release(answerer, journal)
            client = self._client(answerer, journal)
            try:
                queue = iter(self.pending)
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(workers, len(self.pending))):
                        group.create_task(self._work(queue, client, changed))
            finally:
                await client.aclose()
        if self.state.calls == 0:  # too few rows for the circuit breaker, but none was answered
            self.failure = self.failure or self.hopeless
        self.state.state = "stopped" if self.failure else "incomplete" if self.state.errors else "done"
        changed()
        return self.failure

    def _release(self, batches: BatchTransport, journal: Journal) -> None:
        """Take back what was reserved for calls in known batches: their answers are still to come, and cost then."""
        reserved = reservations(journal)
        for posed in self.pending:
            limit = next_limit(self.earlier.get((posed.item.id, posed.run), []), self.plan.limits)
            settings = self.settings.call_settings(self.plan).changed(max_tokens=limit)
            tag, messages = call_tag(posed.item.id, posed.run, limit or 0), [user(posed.prompt)]
            key = call_key(settings, messages, posed.run, tag)
            if reserved.get(key, 0.0) > 0 and batches.knows(messages, settings, posed.run):
                reserve_call(journal, key, tag, -reserved[key])
                self.budget.spent -= reserved[key]
                self.state.spent -= reserved[key]

    def _client(self, answerer: Answerer | Transport, journal: Journal) -> Client:
        """Return the client of this model: the shared budget, its own journal and circuit breaker."""
        return Client(
            self.settings.call_settings(self.plan),
            journal=journal,
            budget=self.budget,
            transport=_as_transport(answerer, self.pending),
            backoff=self.clock.backoff,
            sleep=self.clock.sleep,
            clock=self.clock.tick,
        )

    async def _work(self, queue: Iterator[PosedItem], client: Client, changed: Callable[[], None]) -> None:
        """Ask one item after the other until the shared queue is empty or a worker has failed for good.

        Requests in flight at that time are finished and logged: they are paid for.
        """
        try:
            for posed in queue:
                if self.failure is not None:
                    return
                await self._ask_item(posed, client)
                self.state.retries = sum(client.retried.values()) + self.state.errors
                changed()
        except DeadpanError as error:
            self.failure = self.failure or error

    async def _ask_item(self, posed: PosedItem, client: Client) -> None:
        """Ask one item, with higher token limits where its answer is cut off."""
        item, run = posed.item.id, posed.run
        calls = list(self.earlier.get((item, run), []))
        while (limit := next_limit(calls, self.plan.limits)) is not None:
            tag = call_tag(item, run, limit)
            try:
                timeout = self.settings.sampling.timeout or max(client.settings.timeout, limit / SLOWEST)
                reply = await client.acomplete(posed.prompt, run, tag=tag, max_tokens=limit, timeout=timeout)
            except Unavailable:
                self.state.errors += 1
                raise
            except ModelError as error:  # one row without an answer; the journal says why
                self.state.errors += 1
                self.hopeless = error if isinstance(error, HOPELESS) else self.hopeless
                break
            calls.append(BenchCall(item, run, limit, stop_reason=reply.stop_reason, unsupported=reply.unsupported))
            self._count(reply)
            if next_limit(calls, self.plan.limits) is not None:
                self.state.escalated += 1
        self.state.done += 1

    def _count(self, reply: Reply) -> None:
        self.state.calls += reply.attempts
        self.state.spent += reply.cost or 0.0
        self.state.unpriced = self.state.unpriced or reply.cost is None


def _as_transport(answerer: Answerer | Transport, posed: Sequence[PosedItem]) -> Transport:
    return ItemTransport(answerer, posed) if isinstance(answerer, Answerer) else answerer


def _rows(settings: RunSettings, plan: RunPlan, folder: Path) -> list[AnswerRow]:
    """Return a row for everything asked, answered or not."""
    calls = by_key(read_bench_calls(folder / JOURNAL))
    asked = settings.to_ask()
    orders = {(posed.item.id, posed.run): posed.order for posed in asked}
    prompts = {(posed.item.id, posed.run): posed.prompt for posed in asked}
    reasoned = plan.prompt == REASONED
    facts = RowFacts(plan.model, plan.set, plan.set_hash, orders, prompts, plan.constrained, reasoned)
    return [make_row(p.item, p.run, calls.get((p.item.id, p.run), []), facts, plan.limits) for p in asked]


# ---------------------------------------------------------------- the state of a run, to watch


@dataclass(slots=True)
class RunState:
    """Progress of the run of one model."""

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


Watch = Callable[[Sequence[RunState]], None]


def state_table(states: Sequence[RunState], seconds: float) -> Table:
    """Return one row per model: progress, rate, time left and money spent."""
    rows: list[tuple[Cell, ...]] = []
    for state in states:
        rate = (state.done - state.resumed) / seconds if seconds > 0 else 0.0
        left = (state.total - state.done) / rate if rate and state.done < state.total else None
        progress = f"{state.state} {state.done:,}/{state.total:,}"
        time_left = None if left is None else "{}:{:02d}".format(*divmod(round(left), 60))
        rows.append((state.model, progress, f"{rate:.1f}/s", time_left, state.retries, state.errors, _money(state)))
    return Table(("model", "rows", "rate", "left", "retries", "errors", "spent"), tuple(rows))


def _money(state: RunState) -> str:
    """Return what is known to be spent; a model without a price is not free."""
    if not state.unpriced:
        return f"${state.spent:.4f}"
    return f"${state.spent:.4f} + unpriced" if state.spent else "no price"


def progress_watch(progress: Progress) -> Watch:
    """Return a watcher that reports rows over all models as one progress."""

    def report(states: Sequence[RunState]) -> None:
        spent = sum(state.spent for state in states)
        money = f", ${spent:.4f} spent" if spent else ""
        done, total = sum(state.done for state in states), sum(state.total for state in states)
        progress(f"asking {len(states)} models{money}", done, total)

    return report
