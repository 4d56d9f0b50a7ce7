"""Many items at a time, results in the order of the items, and never more than a few in memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 4
"""Items begun per worker: one slow answer lets the others run this far ahead before they wait for it."""


def in_order(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """The result for each item. After an error nothing new is begun, what is under way ends, it is raised.

    Threads, because the work waits: the calls themselves run on the loop of `deadpan.llm`.
    """
    if workers == 1:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(workers, thread_name_prefix="deadpan-generate")
    begun: deque[Future[R]] = deque()
    try:
        for item in items:
            begun.append(pool.submit(work, item))
            if len(begun) >= workers * AHEAD:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
