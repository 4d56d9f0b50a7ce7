"""Calls to a language model: cached, retried, bounded in number and in cost."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from deadpan.errors import ConfigError, DeadpanError, ModelError
from deadpan.llm import embedded
from deadpan.llm.budget import Budget
from deadpan.llm.cache import Cache, cache_key
from deadpan.llm.endpoint import Answer, Endpoint, ask, connect, find_endpoint, find_url, request_body
from deadpan.llm.loop import background, run, submit
from deadpan.llm.messages import Message, Messages, Reply, conversation
from deadpan.llm.prices import find_price
from deadpan.llm.retries import Backoff, Failed
from deadpan.llm.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")
OnReply = Callable[[int, Reply], None]
FIXED = frozenset({"concurrency", "max_cost"})


class Client:
    """One set of settings, one budget, one limit on calls at a time. Safe to share between threads.

    Randomness and time are arguments, so that a test of the waiting does not wait.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        cache: Cache | None = None,
        backoff: Backoff | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.settings = settings or Settings()
        self.cache = cache or Cache()
        self.backoff = backoff or Backoff()
        self._sleep = sleep
        self._clock = clock
        # The embedded model answers one at a time: more at once would only wait there, and time out.
        self._slots = asyncio.Semaphore(1 if self.settings.embedded else self.settings.concurrency)
        self._budget = Budget(self.settings.max_cost)
        self._connections: dict[Endpoint, AsyncOpenAI] = {}

    @property
    def spent(self) -> float:
        """US dollars spent by this client, answers from the cache not counted."""
        return self._budget.spent

    def complete(self, messages: Messages, replicate: int = 0, **changes: Any) -> Reply:
        """One answer; `changes` are settings for this call alone, such as max_tokens."""
        return run(self._complete(messages, replicate, self._changed(changes)))

    async def acomplete(self, messages: Messages, replicate: int = 0, **changes: Any) -> Reply:
        """The same, awaited on any event loop."""
        return await _awaited(self._complete(messages, replicate, self._changed(changes)))

    def complete_many(
        self, many: Sequence[Messages], replicate: int = 0, *, on_reply: OnReply | None = None, **changes: Any
    ) -> list[Reply]:
        """Answers to many, in order; `on_reply` hears of each as it comes, on another thread.

        After an error no call is begun, those under way end and are cached, and then it is raised.
        """
        return run(self._all(many, replicate, self._changed(changes), on_reply))

    async def acomplete_many(
        self, many: Sequence[Messages], replicate: int = 0, *, on_reply: OnReply | None = None, **changes: Any
    ) -> list[Reply]:
        """The same, awaited on any event loop."""
        return await _awaited(self._all(many, replicate, self._changed(changes), on_reply))

    def try_many(
        self, many: Sequence[Messages], replicate: int = 0, *, on_reply: OnReply | None = None, **changes: Any
    ) -> list[Reply | DeadpanError]:
        """The same with every call made: an error stands in the place of its answer."""
        return run(self._many(many, replicate, self._changed(changes), on_reply, stop=False))

    def close(self) -> None:
        """Close the connections; a later call opens them again."""
        if self._connections:
            run(self._close())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------ on the background loop

    async def _complete(self, messages: Messages, replicate: int, settings: Settings) -> Reply:
        turns = conversation(messages)
        source = embedded.identity(settings.embedded) if settings.embedded else find_url(settings)
        key = cache_key(source, settings, turns, replicate)
        if settings.cache and (known := self.cache.get(key)):
            return known
        price = find_price(settings)
        if price is None and settings.max_cost is not None:
            raise ConfigError(
                f"max_cost cannot be kept, the price of {settings.model} is not known: "
                f"give price = [input, output] in US dollars per million tokens"
            )
        estimate = price.estimate(turns, settings.max_tokens) if price else 0.0
        async with self._slots, self._budget.room(estimate) as charge:
            answer, seconds, retried = await self._persist(turns, replicate, settings)
            cost = price.cost(answer.usage) if price and answer.usage else None
            if settings.embedded:
                cost = 0.0
            refused = answer.usage is None and answer.stop_reason == "content_filter"
            charge(0.0 if refused else estimate if cost is None else cost)
        reply = Reply(
            answer.text, answer.stop_reason, answer.usage, cost, seconds, answer.model, False, retried
        )
        if settings.cache:
            self.cache.put(key, reply)
        return reply

    async def _persist(
        self, turns: list[Message], replicate: int, settings: Settings
    ) -> tuple[Answer, float, tuple[str, ...]]:
        """Ask until answered or out of attempts."""
        retried: list[str] = []
        while True:
            endpoint = await self._endpoint(settings)
            body = request_body(endpoint, settings, turns, replicate)
            connection = self._connection(endpoint, settings)
            started = self._clock()
            try:
                answer = await ask(connection, endpoint, body, settings.timeout)
                return answer, self._clock() - started, tuple(retried)
            except Failed as failure:
                if len(retried) >= settings.retries:
                    raise ModelError(_gave_up(endpoint, len(retried) + 1, failure)) from None
                await self._sleep(self.backoff.wait(len(retried), failure))
                retried.append(failure.reason)

    async def _endpoint(self, settings: Settings) -> Endpoint:
        """Looked up for every attempt: an embedded server that crashed is started anew."""
        if not settings.embedded:
            return find_endpoint(settings)
        server = await asyncio.to_thread(embedded.embedded_server, settings.embedded, settings.threads)
        return Endpoint(server.url, server.key, server.name)

    def _connection(self, endpoint: Endpoint, settings: Settings) -> AsyncOpenAI:
        if endpoint not in self._connections:
            self._connections[endpoint] = connect(endpoint, settings.timeout)
        return self._connections[endpoint]

    async def _all(
        self, many: Sequence[Messages], replicate: int, settings: Settings, on_reply: OnReply | None
    ) -> list[Reply]:
        replies: list[Reply] = []
        for result in await self._many(many, replicate, settings, on_reply, stop=True):
            if isinstance(result, DeadpanError):
                raise result
            replies.append(result)
        return replies

    async def _many(
        self,
        many: Sequence[Messages],
        replicate: int,
        settings: Settings,
        on_reply: OnReply | None,
        stop: bool,
    ) -> list[Reply | DeadpanError]:
        """A few workers take the messages in turn, so that an error can leave the rest untouched."""
        results: dict[int, Reply | DeadpanError] = {}
        waiting = iter(range(len(many)))
        failed = False

        async def work() -> None:
            nonlocal failed
            for place in waiting:
                try:
                    reply = results[place] = await self._complete(many[place], replicate, settings)
                except DeadpanError as bad:
                    results[place] = bad
                    failed = True
                else:
                    if on_reply:
                        on_reply(place, reply)
                if failed and stop:
                    return

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.settings.concurrency, len(many))):
                group.create_task(work())
        return [results[place] for place in sorted(results)]

    async def _close(self) -> None:
        connections, self._connections = self._connections, {}
        for connection in connections.values():
            await connection.close()

    def _changed(self, changes: dict[str, Any]) -> Settings:
        if fixed := FIXED & changes.keys():
            raise ConfigError(f"{min(fixed)} is set when a Client is made, not for one call")
        return self.settings.changed(**changes)


# ---------------------------------------------------------------- without a Client

_shared: dict[tuple[int, Settings], Client] = {}
_shared_lock = threading.Lock()


def complete(messages: Messages, settings: Settings | None = None, replicate: int = 0) -> Reply:
    """One answer. Calls with equal settings share a Client, and so its budget and its connections."""
    return _client(settings or Settings()).complete(messages, replicate)


async def acomplete(messages: Messages, settings: Settings | None = None, replicate: int = 0) -> Reply:
    """The same, awaited on any event loop."""
    return await _client(settings or Settings()).acomplete(messages, replicate)


def _client(settings: Settings) -> Client:
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


def _gave_up(endpoint: Endpoint, attempts: int, failure: Failed) -> str:
    tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
    return (
        f"{endpoint.model} at {endpoint.url or 'the API'} did not answer in {tries} (last: {failure}): "
        f"check the server, or raise retries or timeout"
    )
