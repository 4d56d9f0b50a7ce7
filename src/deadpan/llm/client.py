"""Calls to a language model: cached, journaled, retried, and limited in number and in cost."""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import os
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from deadpan.errors import ConfigError, DeadpanError, ModelError
from deadpan.journal import Journal
from deadpan.llm.calls import Cache, CallRecord, cache_key, call_key, find_call, now, record_call, reserve_call
from deadpan.llm.costs import Budget, Price, find_price
from deadpan.llm.messages import Message, Messages, Reply, StopReason, choice_probabilities, conversation, unwrap
from deadpan.llm.retries import NOTHING, Backoff, Breaker, Failed, Silent, Unavailable
from deadpan.llm.settings import LLMSettings
from deadpan.llm.transport import Answer, HttpTransport, Transport

T = TypeVar("T")
OnReply = Callable[[int, Reply], None]
FIXED = frozenset({"concurrency", "max_cost"})
EMPTY_RETRIES = 2


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: its messages, its settings, and what tells it from others."""

    messages: list[Message]
    settings: LLMSettings
    replicate: int
    tag: str

    def record(self, **result: Any) -> CallRecord:
        return CallRecord(self.tag, self.replicate, at=now(), **result)


class Client:
    """One set of settings, one budget, one limit on calls at a time. Safe to share between threads.

    - `journal`: keeps what was sent and returned; a call it holds is answered from it and never made again.
    - `budget`: share one between clients that spend together; else the client has its own, which starts with
      what the journal says was paid.
    - `breaker`: raises `Unavailable` after several failed calls in a row.
    - `transport`: makes the attempts; HTTP to an OpenAI-compatible server unless given.
    - `backoff`, `sleep`, `clock`: time and randomness, as arguments for tests.
    """

    def __init__(
        self,
        settings: LLMSettings | None = None,
        *,
        cache: Cache | None = None,
        journal: Journal | None = None,
        budget: Budget | None = None,
        breaker: Breaker | None = None,
        transport: Transport | None = None,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.settings = _settings(settings)
        if journal is not None and not isinstance(journal, Journal):
            raise ConfigError(f"journal is {journal!r}: pass an open journal, Journal(path)")
        if budget is not None and not isinstance(budget, Budget):
            raise ConfigError(f"budget is {budget!r}: pass a Budget, or LLMSettings(max_cost=...)")
        self.cache = Cache() if cache is None else cache
        self.journal = journal
        spent = journal.paid if journal else 0.0
        self.budget = Budget(self.settings.max_cost, spent=spent) if budget is None else budget
        self.breaker = Breaker() if breaker is None else breaker
        self.transport = HttpTransport() if transport is None else transport
        self.backoff = Backoff() if backoff is None else backoff
        self.retried: Counter[str] = Counter()
        """Reasons of the retries made by this client."""
        self.unsupported: set[str] = set()
        """Parameters that the server does not take and that were therefore not sent."""
        self._sleep = sleep
        self._clock = clock
        # The embedded model answers one at a time: more at once would only wait there, and time out.
        self._slots = {True: asyncio.Semaphore(1), False: asyncio.Semaphore(self.settings.concurrency)}

    def __repr__(self) -> str:
        limit = "" if self.budget.limit is None else f" of ${self.budget.limit:.2f}"
        return f"<Client {self.settings.model}: ${self.spent:.4f}{limit} spent>"

    @property
    def spent(self) -> float:
        """US dollars spent on this client's budget; with a journal, earlier starts of the run included."""
        return self.budget.spent

    def check(self, *others: LLMSettings) -> None:
        """Raise what would stop the first call, before any work: a missing key, an unknown price."""
        for settings in others or (self.settings,):
            self.transport.check(settings)
            self._price(settings)

    def complete(self, messages: Messages, replicate: int = 0, **options: Any) -> Reply:
        """Return one answer. `options` are settings for this call alone, such as max_tokens, and

        - `settings`: other LLMSettings for this call; the client's concurrency and max_cost still hold;
        - `tag`: a name for what is asked, kept in the journal; calls with different tags are different calls.
        """
        return run_on_loop(self._complete(self._call(messages, replicate, options)))

    async def acomplete(self, messages: Messages, replicate: int = 0, **options: Any) -> Reply:
        """Return one answer, awaited on any event loop."""
        return await _awaited(self._complete(self._call(messages, replicate, options)))

    def complete_many(
        self, many: Sequence[Messages], replicate: int = 0, *, on_reply: OnReply | None = None, **options: Any
    ) -> list[Reply]:
        """Return many answers, in order. `on_reply` is called with each as it arrives, on another thread.

        After an error no call is started, those in flight end and are cached, and then it is raised.
        """
        return run_on_loop(self._many(many, replicate, options, on_reply))

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        run_on_loop(self.transport.close())

    async def aclose(self) -> None:
        """Close the connections, awaited on any event loop."""
        await _awaited(self.transport.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ on the background loop

    async def _complete(self, call: _Call) -> Reply:
        settings = call.settings
        key = call_key(settings, call.messages, call.replicate, call.tag) if self.journal else ""
        if self.journal and (record := find_call(self.journal, key)):
            return self._chosen(record.reply(), settings)
        cached_as = ""
        if settings.cache:
            identity = self.transport.identity(settings)
            cached_as = cache_key(identity, settings, call.messages, call.replicate)
            if known := self.cache.get(cached_as):
                self._record(key, call, known)
                return self._chosen(known, settings)
        price = self._price(settings)
        estimate = price.estimate(call.messages, settings.max_tokens) if price else 0.0
        async with self._slots[bool(settings.embedded)], self.budget.reserve(estimate) as charge:
            reserved = estimate if self.journal else 0.0
            if reserved and self.journal:
                reserve_call(self.journal, key, call.tag, reserved)
            try:
                answer, seconds, retried = await self._attempts(key, call)
            except DeadpanError:
                if reserved and self.journal:
                    reserve_call(self.journal, key, call.tag, -reserved)
                raise
            cost = price.cost(answer.usage) if price and answer.usage else None
            if settings.embedded:
                cost = 0.0
            refused = answer.usage is None and answer.stop_reason == "content_filter"
            paid = 0.0 if refused else estimate if cost is None else cost
            charge(paid)
            reply = Reply(
                answer.text,
                _choice_stop(answer, settings),
                answer.usage,
                cost,
                seconds,
                answer.model,
                False,
                retried,
                answer.unsupported,
                answer.first_tokens,
            )
            self._record(key, call, reply, answer, paid, reserved)
        if cached_as:
            self.cache.put(cached_as, reply)
        return self._chosen(reply, settings)

    async def _attempts(self, key: str, call: _Call) -> tuple[Answer, float, tuple[str, ...]]:
        """Make attempts until one is answered or none is left."""
        retried: list[str] = []
        while True:
            self.breaker.check()
            started = self._clock()
            try:
                answer = await self.transport.send(call.messages, call.settings, call.replicate)
                self._heard(answer)
                self.unsupported.update(answer.unsupported)
                taken = self._clock() - started if answer.seconds is None else answer.seconds
                return answer, taken, tuple(retried)
            except Failed as failed:
                self._record_failure(key, call, failed, self._clock() - started)
                retries = call.settings.retries
                if len(retried) >= (retries if failed.most is None else min(failed.most, retries)):
                    gave_up = _gave_up(call, len(retried) + 1, failed, self.breaker.heard)
                    raise self.breaker.failed(gave_up) from None
                await self._sleep(self.backoff.wait(len(retried), failed))
                retried.append(failed.reason)
                self.retried[failed.reason] += 1
            except ModelError as bad:
                raise self.breaker.failed(bad) from None

    def _heard(self, answer: Answer) -> None:
        """Count an answer; an empty one of a model that has never said anything is a failed attempt."""
        if not (answer.text.strip() or self.breaker.heard) and answer.stop_reason in ("stop", "other"):
            failed = Failed("empty", "an empty answer", most=EMPTY_RETRIES)
            failed.request = answer.request
            raise failed
        self.breaker.succeeded()

    def _price(self, settings: LLMSettings) -> Price | None:
        """Return the price of a model; an unknown one cannot be kept within a limit."""
        price = find_price(settings)
        if price is None and self.budget.limit is not None:
            raise ConfigError(
                f"max_cost cannot be enforced: the price of {settings.model} is not known: "
                f"give price = [input, output] in US dollars per million tokens"
            )
        return price

    def _record(
        self,
        key: str,
        call: _Call,
        reply: Reply,
        answer: Answer | None = None,
        paid: float = 0.0,
        reserved: float = 0.0,
    ) -> None:
        """Add an answered call to the journal; one from the cache was not sent."""
        if self.journal:
            request = answer.request if answer else {}
            made = CallRecord.of(reply, tag=call.tag, replicate=call.replicate, request=request)
            record_call(self.journal, key, made, paid, reserved)

    def _record_failure(self, key: str, call: _Call, failed: Failed, seconds: float) -> None:
        if self.journal:
            result = {"request": failed.request, "error": str(failed)[:300], "seconds": round(seconds, 4)}
            record_call(self.journal, key, call.record(**result))

    @staticmethod
    def _chosen(reply: Reply, settings: LLMSettings) -> Reply:
        """Take a choice out of its JSON."""
        if not settings.choices:
            return reply
        text = unwrap(reply.text, settings.choices)
        likely = choice_probabilities(settings.choices, reply.first_tokens)
        return dataclasses.replace(reply, text=text, probabilities=likely)

    async def _many(
        self, many: Sequence[Messages], replicate: int, options: dict[str, Any], on_reply: OnReply | None
    ) -> list[Reply]:
        """Let a few workers take the messages in turn, so that an error can leave the rest unasked."""
        replies: dict[int, Reply] = {}
        errors: dict[int, DeadpanError] = {}
        waiting = iter(range(len(many)))

        async def work() -> None:
            for place in waiting:
                try:
                    replies[place] = await self._complete(self._call(many[place], replicate, options))
                except DeadpanError as bad:
                    errors[place] = bad
                else:
                    if on_reply:
                        on_reply(place, replies[place])
                if errors:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.concurrency, len(many))):
                group.create_task(work())
        if errors:
            raise errors[min(errors)]
        return [replies[place] for place in range(len(many))]

    def _call(self, messages: Messages, replicate: int, options: dict[str, Any]) -> _Call:
        changes = dict(options)
        settings = changes.pop("settings", None) or self.settings
        tag = str(changes.pop("tag", ""))
        if fixed := FIXED & changes.keys():
            raise ConfigError(f"{min(fixed)} is set when a Client is made, not for one call")
        return _Call(conversation(messages), settings.changed(**changes), replicate, tag)


# ---------------------------------------------------------------- without a Client

_shared: dict[tuple[int, LLMSettings], Client] = {}
_shared_lock = threading.Lock()


def complete(messages: Messages, settings: LLMSettings | None = None, replicate: int = 0) -> Reply:
    """Return one answer of a language model.

    `messages` is a text, or a list of {"role": ..., "content": ...}. `settings` names the model and how it
    samples; without them the embedded model answers. Another `replicate` is another answer to the same
    question. Calls with equal settings share a Client, and so its budget and connections.

    complete("Is this sarcastic? Lovely weather.", LLMSettings(model="gpt-4o-mini")).text
    """
    return _client(_settings(settings)).complete(messages, replicate)


async def acomplete(messages: Messages, settings: LLMSettings | None = None, replicate: int = 0) -> Reply:
    """Return one answer, awaited on any event loop."""
    return await _client(_settings(settings)).acomplete(messages, replicate)


def _settings(settings: object) -> LLMSettings:
    """Return the settings, or the defaults for None; anything else is an error that says what to pass."""
    if settings is None:
        return LLMSettings()
    if not isinstance(settings, LLMSettings):
        raise ConfigError(f"settings must be LLMSettings, got {settings!r}: pass LLMSettings(model=NAME)")
    return settings


def _client(settings: LLMSettings) -> Client:
    own = (os.getpid(), settings)  # a forked child shares no connection with its parent
    with _shared_lock:
        if not _shared:
            background()  # first, so that at exit it stops last
            atexit.register(close_shared)
        if own not in _shared:
            _shared[own] = Client(settings)
        return _shared[own]


def close_shared() -> None:
    """Close the connections of the clients that `complete` made, and forget what they spent."""
    with _shared_lock:
        for own in [own for own in _shared if own[0] == os.getpid()]:
            _shared.pop(own).close()


async def _awaited(work: Coroutine[Any, Any, T]) -> T:
    if asyncio.get_running_loop() is background():
        return await work
    return await asyncio.wrap_future(submit(work))


def _choice_stop(answer: Answer, settings: LLMSettings) -> StopReason:
    """Return why an answer ended: one letter that filled the limit of one token is complete."""
    whole = unwrap(answer.text, settings.choices) in settings.choices
    return "stop" if whole and answer.stop_reason == "max_tokens" else answer.stop_reason


def _gave_up(call: _Call, attempts: int, failed: Failed, heard: bool) -> ModelError:
    if failed.final is not None:
        return failed.final
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    model, server = call.settings.model, call.settings.base_url or "its server"
    if failed.reason in NOTHING and not heard:
        return Silent(
            f"{model} at {server} returned nothing in {tries} ({failed}): "
            f"check that a chat model of this name answers there"
        )
    return ModelError(
        f"{model} at {server} did not answer in {tries} (last: {failed}): check the server, or raise retries or timeout"
    )


CALL_FAILED = "call_failed"
"""The reason of a question that got no answer; another start of the run may get one."""


class Unreadable(Exception):
    """An answer that is not in the form asked for. `kind` is a word to count by."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(f"{kind}: {detail}" if detail else kind)
        self.kind = kind
        self.detail = detail


@dataclass(slots=True)
class Outcome(Generic[T]):
    """The result of asking: a value, or the reason why there is none.

    `raw` is the text of the last answer, `retried` the reasons of the tries before it, `replies` all answers.
    """

    value: T | None = None
    reason: str = ""
    detail: str = ""
    raw: str = ""
    retried: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)


async def ask(
    client: Client, messages: Messages, read: Callable[[Reply], T], tries: int = 3, *, first: int = 0, **options: Any
) -> Outcome[T]:
    """Ask until `read` returns a value instead of raising `Unreadable`; each try is a new replicate.

    Replicates are counted from `first`.

    A refused or empty answer is never read; one that was cut off and cannot be read counts as `cut_off`.
    A call that fails ends the tries with the reason `call_failed`; `Unavailable`, `CostLimit` and errors in
    the settings are raised, because the next question would fail too. `options` go to `Client.acomplete`.
    """
    outcome: Outcome[T] = Outcome()
    for replicate in range(first, first + tries):
        if outcome.reason:
            outcome.retried.append(outcome.reason)
        try:
            reply = await client.acomplete(messages, replicate, **options)
        except Unavailable:
            raise
        except ModelError as bad:
            outcome.reason, outcome.detail, outcome.raw = CALL_FAILED, str(bad), ""
            return outcome
        outcome.replies.append(reply)
        outcome.raw = reply.text
        try:
            outcome.value, outcome.reason, outcome.detail = _read(reply, read), "", ""
            return outcome
        except Unreadable as bad:
            outcome.reason, outcome.detail = bad.kind, bad.detail
    return outcome


def _read(reply: Reply, read: Callable[[Reply], T]) -> T:
    """Read an answer. The reason of a refused, empty or cut-off one says so."""
    if reply.stop_reason == "content_filter":
        raise Unreadable("refused", reply.text[:120])
    if not reply.text.strip():
        raise Unreadable("empty_answer")
    try:
        return read(reply)
    except Unreadable as bad:
        if reply.stop_reason == "max_tokens":
            raise Unreadable("cut_off", str(bad)) from None
        raise


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_owner = 0


def background() -> asyncio.AbstractEventLoop:
    """Return the loop, started on first use; a forked child does not inherit the thread and gets its own."""
    global _loop, _thread, _owner
    with _lock:
        if _loop is None or _owner != os.getpid():
            _loop, _owner = asyncio.new_event_loop(), os.getpid()
            _thread = threading.Thread(target=_loop.run_forever, name="deadpan-llm", daemon=True)
            _thread.start()
            atexit.register(_stop, _loop, _thread, _owner)
        return _loop


def submit(work: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the loop and return its future."""
    return asyncio.run_coroutine_threadsafe(work, background())


def run_on_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the loop and return its result; an interrupt here cancels it there."""
    loop = background()
    if _thread is threading.current_thread():
        work.close()
        raise RuntimeError("a callback of a call cannot wait for another call: use the async functions")
    future = asyncio.run_coroutine_threadsafe(work, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _stop(loop: asyncio.AbstractEventLoop, thread: threading.Thread, owner: int) -> None:
    if owner != os.getpid():
        return
    loop.call_soon_threadsafe(loop.stop)
    thread.join(timeout=2)
    if not thread.is_alive():
        loop.close()
