"""Asking a model until its answer can be read, a bounded number of times; every call kept in the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from deadpan.errors import ConfigError, DeadpanError, ModelError
from deadpan.generate.ledger import MICRO, Ledger, Said, as_said, call_key
from deadpan.generate.plan import PUBLISHED, Plan
from deadpan.llm import Client, Message, Settings, find_price
from deadpan.llm.endpoint import find_endpoint

T = TypeVar("T")
FAILED = "call_failed"
"""The reason of a drop that another start of the run may undo."""


class Malformed(Exception):
    """An answer that is not what was asked for: `kind` is a word to count by."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


@dataclass(slots=True)
class Outcome(Generic[T]):
    """What asking came to: a value, or why there is none; what was said last, and what went wrong before."""

    value: T | None = None
    reason: str = ""
    detail: str = ""
    raw: str = ""
    again: list[str] = field(default_factory=list)
    said: list[Said] = field(default_factory=list)


class Caller:
    """The models of a plan, with one budget and one ledger. A context manager: it closes its connections.

    It asks on the loop of `deadpan.llm` alone, so what it counts needs no lock.
    """

    def __init__(
        self, plan: Plan, ledger: Ledger, *, max_cost: float | None = None, client: Client | None = None
    ) -> None:
        self.plan = plan
        self.ledger = ledger
        self.stages = {stage: plan.settings(stage) for stage in PUBLISHED}
        first = next(iter(self.stages.values()))
        self.max_cost = first.max_cost if max_cost is None else max_cost
        self.workers = {
            stage: 1 if settings.embedded else settings.concurrency for stage, settings in self.stages.items()
        }
        self.retried: Counter[str] = Counter()
        self._paid_before = ledger.paid
        self._clients: dict[bool, Client] = {} if client is None else {False: client, True: client}
        self._in_a_row = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self._clients.values():
            client.close()

    @property
    def spent(self) -> float:
        """US dollars of this run, earlier starts included."""
        return self._paid_before + sum(client.spent for client in self._clients.values())

    def check(self) -> None:
        """Say before any work what would stop the first call: a key that is not set, a price nobody knows."""
        for stage in self.plan.stages:
            settings = self.stages[stage]
            if settings.embedded:
                continue
            find_endpoint(settings)
            if self.max_cost is not None and find_price(settings) is None:
                raise ConfigError(
                    f"--max-cost cannot be kept, the price of {settings.model} is not known: write "
                    f"price = [input, output] under [model], in US dollars per million tokens"
                )

    async def ask(
        self, stage: str, messages: Sequence[Message], read: Callable[[Said], T], tries: int | None = None
    ) -> Outcome[T]:
        """Ask until `read` makes something of an answer. Each try is another draw of the same question."""
        outcome: Outcome[T] = Outcome()
        for replicate in range(tries or self.plan.tries(stage)):
            if outcome.reason:
                outcome.again.append(outcome.reason)
            try:
                said = await self._said(stage, messages, replicate)
            except ModelError as bad:
                self._count_failure(bad)
                outcome.reason, outcome.detail, outcome.raw = FAILED, str(bad), ""
                return outcome
            outcome.said.append(said)
            try:
                outcome.value, outcome.reason, outcome.detail = _read(said, read), "", ""
                outcome.raw = said.text
                return outcome
            except Malformed as bad:
                outcome.reason, outcome.detail, outcome.raw = bad.kind, bad.detail, said.text
        return outcome

    async def _said(self, stage: str, messages: Sequence[Message], replicate: int) -> Said:
        settings = self.stages[stage]
        key = call_key(settings, messages, replicate)
        if known := self.ledger.get(key):
            return known
        reply = await self._client(settings).acomplete(messages, replicate, **_changes(settings))
        said = as_said(reply)
        self.ledger.put(key, said, 0 if reply.cached else round((reply.cost or 0.0) * MICRO))
        self._in_a_row = 0
        self.retried.update(() if reply.cached else reply.retried)
        return said

    def _client(self, settings: Settings) -> Client:
        """One client for the endpoints, which share a budget; one for the embedded model, which is free."""
        embedded = bool(settings.embedded)
        if embedded not in self._clients:
            left = None if self.max_cost is None else max(0.0, self.max_cost - self._paid_before)
            self._clients[embedded] = Client(settings.changed(max_cost=None if embedded else left))
        return self._clients[embedded]

    def _count_failure(self, error: ModelError) -> None:
        """One call that fails is one dialogue lost; many in a row mean that nobody is there."""
        self._in_a_row += 1
        if self._in_a_row >= self.plan.give_up_after:
            raise Unanswered(f"{self._in_a_row} calls in a row failed, the last: {error}")


class Unanswered(DeadpanError):
    """The server does not answer any more, so the run ends; what was answered is kept."""


def _changes(settings: Settings) -> dict[str, Any]:
    """The settings of one stage as changes to the client's own."""
    names = (
        "model", "base_url", "key_env", "temperature", "top_p", "max_tokens", "frequency_penalty", "stop",
        "seed", "extra", "timeout", "retries", "price", "cache", "threads",
    )  # fmt: skip
    return {name: getattr(settings, name) for name in names}


def _read(said: Said, read: Callable[[Said], T]) -> T:
    """Read an answer; one that was refused or cut off is called so, whatever else is wrong with it."""
    if said.stop == "content_filter":
        raise Malformed("refused", said.text[:120])
    if not said.text.strip():
        raise Malformed("empty_answer")
    try:
        return read(said)
    except Malformed as bad:
        if said.stop == "max_tokens":
            raise Malformed("cut_off", str(bad)) from None
        raise
