"""Many items at a time, results in the order of the items, and never more than a few in memory."""

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
"""Items begun per worker: one slow answer lets the others run this far ahead before they wait for it."""


class _Stopped(Exception):
    """The end of an item that was not begun, since another failed."""


def in_order(work: Callable[[T], Coroutine[Any, Any, R]], items: Iterable[T], workers: int) -> Iterator[R]:
    """The result for each item. After an error nothing new is begun, what is under way ends, it is raised.

    The work runs on the loop of `deadpan.llm`, where the calls run: a thread for each item would spend
    more time waiting for its turn than the call takes.
    """
    slots, stopped = asyncio.Semaphore(workers), False
    begun: deque[Future[R]] = deque()

    async def in_turn(item: T) -> R:
        async with slots:
            if stopped:
                raise _Stopped
            return await work(item)

    try:
        for item in items:
            begun.append(submit(in_turn(item)))
            if len(begun) >= workers * AHEAD:
                yield begun[0].result()
                begun.popleft()
        while begun:
            yield begun[0].result()
            begun.popleft()
    finally:
        stopped = True
        wait(begun)
