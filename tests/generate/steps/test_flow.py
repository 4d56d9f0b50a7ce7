"""Many items at a time: in order, bounded, and orderly when one fails."""

from __future__ import annotations

import asyncio

import pytest

from deadpan.generate.steps.flow import AHEAD, in_order


def test_results_come_in_the_order_of_the_items() -> None:
    async def work(number: int) -> int:
        await asyncio.sleep(0.002 * (number % 3))
        return number * number

    assert list(in_order(work, range(40), workers=4)) == [number * number for number in range(40)]


def test_no_more_at_a_time_than_workers_and_few_ahead() -> None:
    running = most = taken = 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return number

    def items() -> object:
        nonlocal taken
        for number in range(60):
            taken = number + 1
            yield number

    for number in in_order(work, items(), workers=3):  # type: ignore[arg-type]
        assert taken - number <= 3 * AHEAD
    assert most == 3


def test_after_an_error_what_is_under_way_ends_and_nothing_is_begun() -> None:
    begun, ended = set[int](), set[int]()

    async def work(number: int) -> int:
        begun.add(number)
        await asyncio.sleep(0.01 * (number + 1))
        if number == 0:
            raise ValueError("no")
        ended.add(number)
        return number

    with pytest.raises(ValueError, match="no"):
        list(in_order(work, range(50), workers=2))
    assert begun - ended == {0}
    assert len(begun) < 2 * AHEAD


def test_one_who_stops_listening_leaves_nothing_running() -> None:
    begun, ended = set[int](), set[int]()

    async def work(number: int) -> int:
        begun.add(number)
        await asyncio.sleep(0.002)
        ended.add(number)
        return number

    results = in_order(work, range(50), workers=2)
    assert next(results) == 0
    results.close()  # type: ignore[attr-defined]
    assert begun == ended
