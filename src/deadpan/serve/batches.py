"""Texts of many requests predicted together: what waits while a detector works goes into its next batch."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from deadpan.records import Example, Prediction
from deadpan.serve.refusals import Refusal

MOST = 8_192
"""Texts of one batch."""

Predict = Callable[[Sequence[Example]], list[Prediction]]


class Batches:
    """One detector, used by one thread at a time, whatever the number of requests."""

    def __init__(self, predict: Predict, waiting: int) -> None:
        self._predict = predict
        self._limit = waiting
        self._queue: deque[tuple[list[Example], asyncio.Future[list[Prediction]]]] = deque()
        self._waiting = 0
        self._worker: asyncio.Task[None] | None = None

    async def predict(self, examples: list[Example]) -> list[Prediction]:
        """Return one prediction per example, computed together with those of other requests."""
        if self._waiting + len(examples) > self._limit:
            raise Refusal(503, "busy", "too many texts are waiting: try again", retry_after=1)
        answer: asyncio.Future[list[Prediction]] = asyncio.get_running_loop().create_future()
        self._queue.append((examples, answer))
        self._waiting += len(examples)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work())
        return await answer

    async def _work(self) -> None:
        while self._queue:
            group = [self._queue.popleft()]
            size = len(group[0][0])
            while self._queue and size + len(self._queue[0][0]) <= MOST:
                group.append(self._queue.popleft())
                size += len(group[-1][0])
            try:
                texts = [example for examples, _ in group for example in examples]
                found = await asyncio.to_thread(self._predict, texts)
            except Exception as bad:  # noqa: BLE001 - every request of the batch must hear of it
                for _, answer in group:
                    if not answer.done():
                        answer.set_exception(bad)
            else:
                start = 0
                for examples, answer in group:
                    if not answer.done():
                        answer.set_result(found[start : start + len(examples)])
                    start += len(examples)
            self._waiting -= size
