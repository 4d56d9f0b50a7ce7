"""Fifty at once, and kill -9: no acknowledged judgment is lost, none is doubled."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack

import pytest

from studio.crowd import (
    Server,
    crowd,
    lost_and_doubled,
    many,
    moments,
    offered,
    percentile,
    postgres,
    prepare,
    together,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ANNOTATORS, SAVES = 50, 5000


@pytest.fixture(params=["sqlite", "postgresql"])
def server(request, tmp_path_factory):
    home = tmp_path_factory.mktemp("load")
    with ExitStack() as stack:
        url = ""
        if request.param == "postgresql":
            pytest.importorskip("psycopg")
            try:
                url = stack.enter_context(postgres())
            except (LookupError, PermissionError) as missing:
                pytest.skip(str(missing))
        found = Server(home, url)
        yield found
        if found.process and found.process.poll() is None:
            found.kill()


def test_fifty_annotators_and_five_thousand_saves(server, tmp_path):
    token = prepare(server, tmp_path / "study")
    server.start()
    people = crowd(server, token, ANNOTATORS)
    many(people, SAVES)
    assert sum(len(person.acknowledged) for person in people) == SAVES
    assert lost_and_doubled(server, people, tmp_path / "out") == (0, 0)
    assert "locked" not in server.log() and "Error" not in server.log()
    latencies = offered(people, rate=50.0, seconds=4.0)
    # The bar of 250 ms is for two idle cores and is measured by benchmarks/studio.py; here others work too,
    # so what is asked is that nothing is lost at that rate either.
    assert len(latencies) == 200 and percentile(latencies, 0.95) < 60.0
    assert lost_and_doubled(server, people, tmp_path / "again") == (0, 0)


def test_two_answers_at_the_same_moment_finish_the_item(server, tmp_path):
    """Neither may take the item for unfinished because it did not see the other."""
    token = prepare(server, tmp_path / "study", n_items=40)
    server.start()
    (person,) = crowd(server, token, 1)
    given = ({"response": "sarcasm"}, {"context": "normal"})
    for _ in range(40):
        windows = [person.second_window() for _ in given]
        together(windows, lambda window, number: window.save(answers=given[number]))
        person.next_item()
    person.close()
    (status,) = server.command("status", "load")
    assert [worker["done"] for worker in status["workers"]] == [40]


def test_kill_nine_at_ten_random_moments(server, tmp_path):
    token = prepare(server, tmp_path / "study")
    server.start()
    people = crowd(server, token, 20)
    over = threading.Event()

    def work(person, number):
        while not over.is_set():
            person.save(patience=240.0)

    failures: list[BaseException] = []

    def run() -> None:
        try:
            together(people, work)
        except BaseException as failure:  # noqa: BLE001 - looked at below
            failures.append(failure)

    load = threading.Thread(target=run)
    load.start()
    try:
        for pause in moments(seed=7, n=10, low=0.3, high=1.5):
            time.sleep(pause)
            server.kill()
            server.start()
    finally:
        over.set()
        load.join()
    assert failures == []
    assert sum(len(person.acknowledged) for person in people) > 100
    assert lost_and_doubled(server, people, tmp_path / "out") == (0, 0)
