"""Concurrent work on many items: results in the order of the items, only a few of them in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from deadpan.llm.loop import submit

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""Items started per worker: the others may run this far ahead of one slow answer."""


class _Stopped(Exception):
    """Raised for an item that was not started because another one failed."""


def in_order(work: Callable[[T], Coroutine[Any, Any, R]], items: Iterable[T], workers: int) -> Iterator[R]:
    """Yield the result of each item. After an error no item is started, those in progress end, it is raised.

    The work runs on the loop of `deadpan.llm`, where the calls run: a thread for each item would spend
    more time switching than the call takes.
    """
    slots, stopped = asyncio.Semaphore(workers), False
    started: deque[Future[R]] = deque()

    async def in_turn(item: T) -> R:
        async with slots:
            if stopped:
                raise _Stopped
            return await work(item)

    try:
        for item in items:
            started.append(submit(in_turn(item)))
            if len(started) >= workers * AHEAD:
                yield started[0].result()
                started.popleft()
        while started:
            yield started[0].result()
            started.popleft()
    finally:
        stopped = True
        wait(started)
