"""Asking until an answer can be read, and stopping when asking is of no use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from deadpan.errors import ConfigError
from deadpan.llm import CALL_FAILED, Breaker, Client, CostLimit, Outcome, Reply, Unavailable, Unreadable, ask
from scripted_server import Script, ok, send

Make = Callable[..., Client]


def number(reply: Reply) -> int:
    if not reply.text.isdigit():
        raise Unreadable("no_number", reply.text)
    return int(reply.text)


def asked(client: Client, text: str = "Hm?", tries: int = 3, **options: Any) -> Outcome[int]:
    return asyncio.run(ask(client, text, number, tries, **options))


def test_it_asks_until_the_answer_can_be_read(make: Make, server: Script) -> None:
    server.acts = [ok("well"), ok("", "stop"), ok("7")]
    outcome = asked(make())
    assert (outcome.value, outcome.reason, outcome.raw) == (7, "", "7")
    assert outcome.retried == ["no_number", "empty_answer"]
    assert [reply.text for reply in outcome.replies] == ["well", "", "7"]


def test_it_stops_after_its_tries_and_says_why(make: Make, server: Script) -> None:
    server.acts = [ok("no", "content_filter"), ok("well", "length")]
    outcome = asked(make(), tries=2)
    assert (outcome.value, outcome.reason, outcome.retried) == (None, "cut_off", ["refused"])
    assert outcome.raw == "well"
    assert len(server.requests) == 2


def test_each_try_is_another_draw(make: Make, server: Script) -> None:
    server.acts = [ok("well")]
    asked(make(seed=5), max_tokens=9)
    seeds = [body["seed"] for body in server.requests]
    assert len(set(seeds)) == 3 and {body["max_tokens"] for body in server.requests} == {9}


def test_a_failed_call_is_one_question_lost(make: Make, server: Script) -> None:
    server.acts = [send(400, {"error": {"message": "no"}}), ok("7")]
    client = make()
    assert asked(client).reason == CALL_FAILED
    assert asked(client, "again?").value == 7


@pytest.mark.parametrize(
    ("act", "calls", "words"),
    [
        (send(401, {"error": {"message": "bad key"}}), 3, "3 calls in a row failed.*check the key"),
        (send(402, {"error": {"message": "pay"}}), 3, "out of credit"),
        (send(403, {"error": {"message": "no"}}), 3, "check the key"),
        (send(429, {"error": {"message": "x", "code": "insufficient_quota"}}), 3, "out of credit"),
        (send(400, {"error": {"message": "no"}}), 10, "10 calls in a row failed.*refuses the call"),
    ],
)
def test_the_breaker_stops_a_run_that_cannot_succeed(
    make: Make, server: Script, act: Any, calls: int, words: str
) -> None:
    server.acts = [act]
    client = make()
    for place in range(calls - 1):
        assert asked(client, str(place)).reason == CALL_FAILED
    with pytest.raises(Unavailable, match=words):
        asked(client, "last")
    with pytest.raises(Unavailable, match=words):
        asked(client, "and after it")
    assert len(server.requests) == calls, "an open breaker sends nothing"


def test_a_server_that_is_not_there_is_named(make: Make, server: Script) -> None:
    server.shutdown()
    server.server_close()
    client = make()
    for place in range(2):
        assert "nothing listens at" in asked(client, str(place)).detail
    with pytest.raises(Unavailable, match=f"nothing listens at {server.url}"):
        asked(client, "last")


def test_an_answer_closes_the_breaker_and_rest_lets_a_call_through(make: Make, server: Script) -> None:
    time = [0.0]
    denied = send(401, {"error": {"message": "bad key"}})
    server.acts = [denied, denied, ok("1"), denied, denied, denied, ok("2")]
    client = make(breaker=Breaker(rest=5.0, clock=lambda: time[0]))
    reasons = [asked(client, str(place)).reason for place in range(5)]
    assert reasons == [CALL_FAILED, CALL_FAILED, "", CALL_FAILED, CALL_FAILED]
    with pytest.raises(Unavailable):
        asked(client, "5")
    time[0] = 6.0
    assert asked(client, "6").value == 2


def test_what_stops_every_question_is_raised(make: Make, server: Script) -> None:
    with pytest.raises(CostLimit):
        asked(make(model="m", price=(0, 1000), max_cost=0.0))
    with pytest.raises(ConfigError, match="price of m is not known"):
        asked(make(model="m", max_cost=1.0))
    assert server.requests == []


def test_check_says_it_before_any_work(make: Make, server: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="price of m is not known"):
        make(model="m", max_cost=1.0).check()
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        make(base_url="https://elsewhere.invalid/v1").check()
    make().check()
    assert server.requests == []


@pytest.mark.parametrize(
    "act",
    [ok(""), ok(None), send(200, {"choices": []}), send(200, b""), send(200, b"<html>")],
    ids=["empty", "null", "no choices", "no body", "a page"],
)
def test_a_model_that_returns_nothing_is_not_asked_for_long(make: Make, server: Script, act: Any) -> None:
    server.acts = [act]
    client = make()
    for place in range(2):
        assert "returned nothing in" in asked(client, str(place)).detail
    with pytest.raises(Unavailable, match=r"3 calls in a row failed.*a chat model of this name"):
        asked(client, "last")


def test_one_empty_answer_of_a_model_that_answers_is_an_answer(make: Make, server: Script) -> None:
    server.acts = [ok("1"), ok("")]
    client = make()
    assert asked(client, "first").value == 1
    assert asked(client, "second").reason == "empty_answer"
