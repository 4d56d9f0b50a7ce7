"""Calls against a server that misbehaves in every way a test can think of."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from deadpan.errors import ConfigError, DataError, DeadpanError, MissingExtra, ModelError
from deadpan.llm import (
    Client,
    CostLimit,
    Denied,
    LLMSettings,
    Unreachable,
    Usage,
    acomplete,
    assistant,
    complete,
    system,
    user,
)
from deadpan.llm.client import close_shared
from deadpan.llm.messages import request_seed
from scripted_server import Script, completion, hang_up, ok, send, stall

Make = Callable[..., Client]


def test_an_answer_says_all_about_itself(make: Make, server: Script) -> None:
    reply = make().complete([system("Be dry."), user("Nice weather?"), assistant("No."), user("Rain?")])
    assert reply.text == "Sure."
    assert reply.stop_reason == "stop"
    assert reply.usage == Usage(100, 20)
    assert reply.cost == pytest.approx((100 * 0.15 + 20 * 0.6) / 1e6)
    assert reply.model == "gpt-4o-mini-2024-07-18"
    assert reply.seconds > 0
    assert (reply.attempts, reply.retried, reply.cached) == (1, (), False)
    assert [turn["role"] for turn in server.requests[0]["messages"]] == ["system", "user", "assistant", "user"]
    assert server.keys == ["Bearer sk-test"]


def test_settings_reach_the_server(make: Make, server: Script) -> None:
    client = make(
        model="openai/some-model",
        temperature=0.7,
        top_p=0.9,
        max_tokens=64,
        frequency_penalty=0.5,
        stop=("END",),
        seed=10,
        extra={"reasoning_effort": "low"},
    )
    client.complete("Hm?", replicate=3)
    sent = {key: value for key, value in server.requests[0].items() if key != "messages"}
    assert sent == {
        "model": "some-model",
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 64,
        "frequency_penalty": 0.5,
        "stop": ["END"],
        "seed": request_seed(10, server.requests[0]["messages"], 3),
        "reasoning_effort": "low",
    }


def test_prompts_do_not_share_their_draws() -> None:
    """With one seed for all prompts, a replicate would take the same quantile of every answer."""
    prompts = [[{"role": "user", "content": f"Item {n}"}] for n in range(200)]
    seeds = {request_seed(0, prompt, replicate) for prompt in prompts for replicate in range(5)}
    assert len(seeds) == 1000 and all(0 <= seed < 2**31 for seed in seeds)


def test_what_is_not_set_is_not_sent(make: Make, server: Script) -> None:
    make(max_tokens=None).complete("Hm?")
    assert set(server.requests[0]) == {"model", "messages"}


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (send(429, {"error": {"message": "slow down"}}), "http_429"),
        (send(500, {"error": {"message": "oops"}}), "http_500"),
        (send(503, b"<html>busy</html>", Content_Type="text/html"), "http_503"),
        (send(200, b'{"choices": [{"mess'), "garbage"),
        (send(200, b"<html>log in first</html>", Content_Type="text/html"), "garbage"),
        (send(200, b""), "garbage"),
        (send(200, b"\xff\xfe\x00"), "garbage"),
        (send(200, {"error": {"message": "upstream"}}), "garbage"),
        (send(200, {"choices": []}), "garbage"),
        (send(200, [1, 2]), "garbage"),
        (send(200, completion(text=[1])), "garbage"),
        (send(200, b'{"choices": [', declared=5000), "connection"),
        (hang_up, "connection"),
    ],
)
def test_a_passing_fault_is_tried_again(make: Make, server: Script, act: Any, reason: str) -> None:
    server.acts = [act, act, ok("There.")]
    reply = make().complete("Hm?")
    assert (reply.text, reply.retried, reply.attempts) == ("There.", (reason, reason), 3)
    assert len(server.requests) == 3, "the SDK must not retry by itself"


def test_a_server_that_stalls_is_given_up_on_and_tried_again(make: Make, server: Script) -> None:
    server.acts = [stall, ok("There.")]
    assert make(timeout=2.0).complete("Hm?").retried == ("timeout",)


def test_waits_grow_and_end(make: Make, server: Script, waits: list[float]) -> None:
    server.acts = [send(500, {})]
    with pytest.raises(ModelError, match=r"did not answer in 9 attempts \(last: http_500.*raise retries"):
        make(retries=8).complete("Hm?")
    assert len(server.requests) == 9
    assert waits == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_no_retries_means_one_attempt(make: Make, server: Script, waits: list[float]) -> None:
    server.acts = [hang_up]
    with pytest.raises(ModelError, match="in 1 attempt "):
        make(retries=0).complete("Hm?")
    assert (len(server.requests), waits) == (1, [])


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("3600", 60.0), ("0", 0.5), ("soon", 0.5)])
def test_retry_after_is_heeded_up_to_a_cap(
    make: Make, server: Script, waits: list[float], asked: str, waited: float
) -> None:
    server.acts = [send(429, {"error": {"message": "slow down"}}, Retry_After=asked), ok()]
    assert make().complete("Hm?").retried == ("http_429",)
    assert waits == [waited]


def test_no_server_at_all(make: Make, server: Script, waits: list[float]) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(Unreachable, match=f"nothing listens at {server.url}: start the server"):
        make(retries=9).complete("Hm?")
    assert len(waits) == 2, "a server that is not there is not worth all retries"


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("stop", "stop"),
        ("length", "max_tokens"),
        ("content_filter", "content_filter"),
        ("tool_calls", "other"),
        (None, "other"),
    ],
)
def test_stop_reasons_have_one_spelling(make: Make, server: Script, finish: str, reason: str) -> None:
    server.acts = [ok("Cut of", finish)]
    assert make().complete("Hm?").stop_reason == reason


def test_a_refusal_is_an_answer(make: Make, server: Script) -> None:
    policy = send(400, {"error": {"message": "policy", "code": "content_filter"}})
    server.acts = [ok(None, refusal="I won't."), policy]
    client = make()
    first, second = client.complete("Hm?"), client.complete("Hm?")
    assert (first.text, first.stop_reason) == ("I won't.", "content_filter")
    assert (second.text, second.stop_reason, second.cost) == ("", "content_filter", None)


@pytest.mark.parametrize(
    ("act", "kind", "words"),
    [
        (send(401, {"error": {"message": "bad key"}}), Denied, "check the key in OPENAI_API_KEY"),
        (send(402, {"error": "pay"}), Denied, "out of credit"),
        (send(403, {"error": "no"}), Denied, "check the key"),
        (send(404, {"error": {"message": "no such"}}), ConfigError, "no model 'gpt-4o-mini'"),
        (send(400, {"error": {"message": "too long"}}), ModelError, "too long"),
        (send(429, {"error": {"message": "pay", "code": "insufficient_quota"}}), Denied, "out of credit"),
    ],
)
def test_what_needs_a_person_is_not_tried_again(
    make: Make, server: Script, act: Any, kind: type[DeadpanError], words: str
) -> None:
    server.acts = [act]
    with pytest.raises(kind, match=words):
        make().complete("Hm?")
    assert len(server.requests) == 1


def test_a_missing_key_says_where_it_is_looked_for(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ConfigError, match="set OPENAI_API_KEY"):
        make(base_url="http://elsewhere.invalid/v1").complete("Hm?")
    with pytest.raises(ConfigError, match="set MY_KEY"):
        make(key_env="MY_KEY").complete("Hm?")
    monkeypatch.setenv("MY_KEY", "clé")
    with pytest.raises(ConfigError, match="copy it again"):
        make(key_env="MY_KEY").complete("Hm?")
    assert make(key_env="").complete("Hm?").text == "Sure."
    assert make().complete("Hm, again?").text == "Sure.", "a server on loopback may need no key"


def test_the_url_may_come_from_the_environment(make: Make, server: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("DEADPAN_LLM_URL", server.url + "/")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert make(base_url="").complete("Hm?").text == "Sure."
    with pytest.raises(ConfigError, match="http://host:port/v1"):
        make(base_url="localhost:8000").complete("Hm?")


@pytest.mark.parametrize(
    ("messages", "kind"),
    [
        ([], DataError),
        ("half \ud83d", DataError),
        ([{"role": "boss", "content": "x"}], ConfigError),
        ([{"role": "user", "content": None}], DataError),
    ],
)
def test_messages_no_server_could_take_are_not_sent(
    make: Make, server: Script, messages: Any, kind: type[DeadpanError]
) -> None:
    with pytest.raises(kind):
        make().complete(messages)
    assert server.requests == []


# ---------------------------------------------------------------- many, and at once


def test_many_keep_to_the_limit_and_use_it(make: Make, server: Script) -> None:
    gate = threading.Barrier(3, timeout=120)

    def act(handler: Any) -> None:
        gate.wait()  # nobody passes until three are here, so fewer at a time would fail
        ok()(handler)

    server.acts = [act]
    heard: list[int] = []
    client = make(concurrency=3, retries=0)
    replies = client.complete_many([f"{n}" for n in range(9)], on_reply=lambda n, _: heard.append(n))
    assert len(replies) == 9
    assert sorted(heard) == list(range(9))
    assert server.most == 3


def test_many_answers_stand_where_their_questions_stood(make: Make, server: Script) -> None:
    late = threading.Event()

    def echo(handler: Any, asked: str) -> None:
        if asked == "first":
            late.wait(120)  # answered last
        if asked == "last":
            late.set()
        ok(f"re {asked}")(handler)

    server.acts = [lambda handler: echo(handler, handler.asked)]
    replies = make().complete_many(["first", "middle", "last"])
    assert [reply.text for reply in replies] == ["re first", "re middle", "re last"]
    assert make().complete_many([]) == []


def test_threads_share_the_limit(make: Make, server: Script) -> None:
    gate = threading.Barrier(2, timeout=120)

    def act(handler: Any) -> None:
        gate.wait()
        ok()(handler)

    server.acts = [act]
    client = make(concurrency=2, retries=0)
    threads = [threading.Thread(target=client.complete, args=(f"{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(server.requests), server.most) == (6, 2)


def test_an_error_among_many_leaves_the_rest_unasked(make: Make, server: Script) -> None:
    server.acts = [ok(), send(400, {"error": {"message": "no"}}), ok()]
    client = make(concurrency=1)
    with pytest.raises(ModelError):
        client.complete_many(["a", "b", "c", "d"])
    assert len(server.requests) == 2


def test_async_on_any_loop(make: Make, server: Script) -> None:
    client = make()

    async def story() -> list[str]:
        one = await client.acomplete("a")
        inside = client.complete("d")  # as a notebook would, with a loop running
        return [reply.text for reply in (one, inside)]

    assert asyncio.run(story()) == ["Sure."] * 2
    assert asyncio.run(story()) == ["Sure."] * 2
    assert len(server.requests) == 2


def test_a_cancelled_call_frees_its_place(make: Make, server: Script) -> None:
    server.acts = [stall, ok("Next.")]
    client = make(concurrency=1)

    async def story() -> str:
        call = asyncio.ensure_future(client.acomplete("a"))
        while not server.requests:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return (await client.acomplete("b")).text

    assert asyncio.run(story()) == "Next."


def test_a_callback_that_waits_is_told_not_to(make: Make) -> None:
    client = make()
    seen: list[str] = []

    def on_reply(place: int, reply: object) -> None:
        with pytest.raises(RuntimeError, match="async"):
            client.complete("again")
        seen.append("told")

    client.complete_many(["a"], on_reply=on_reply)
    assert seen == ["told"]


def test_functions_without_a_client(server: Script) -> None:
    settings = LLMSettings(model="m", base_url=server.url, cache=False, price=(1, 2))
    assert complete("a", settings).text == "Sure."
    assert asyncio.run(acomplete("a", settings, replicate=1)).cost == pytest.approx(140 / 1e6)
    close_shared()
    assert len(server.requests) == 2


# ---------------------------------------------------------------- money


def test_spending_stops_before_the_line(make: Make, server: Script) -> None:
    client = make(model="m", price=(0, 1000), max_tokens=100, max_cost=0.25, cache=False)
    assert [client.complete("a").cost for _ in range(8)] == [0.02] * 8
    assert client.spent == pytest.approx(0.16)
    with pytest.raises(CostLimit, match=r"max_cost of \$0.25 reached: \$0.1600 spent"):
        client.complete("a")
    assert len(server.requests) == 8


def test_calls_at_once_wait_for_what_others_give_back(make: Make, server: Script) -> None:
    # Each may cost 0.1 and costs 0.02: only two fit at a time, yet none need be refused.
    client = make(model="m", price=(0, 1000), max_tokens=100, max_cost=0.22, concurrency=8, cache=False)
    assert len(client.complete_many(["a"] * 6)) == 6
    assert server.most <= 2
    assert client.spent == pytest.approx(0.12)


def test_many_end_cleanly_at_the_line(make: Make, server: Script) -> None:
    client = make(model="m", price=(0, 1000), max_tokens=20, max_cost=0.1, concurrency=4)
    with pytest.raises(CostLimit):
        client.complete_many([f"{n}" for n in range(20)])
    assert len(server.requests) == 5
    assert client.spent == pytest.approx(0.1)


def test_an_unknown_price_cannot_be_capped(make: Make, server: Script) -> None:
    assert make(model="nobody-knows").complete("a").cost is None
    with pytest.raises(ConfigError, match="price of nobody-knows is not known"):
        make(model="nobody-knows", max_cost=1.0).complete("b")
    assert len(server.requests) == 1


def test_without_usage_the_estimate_is_charged(make: Make, server: Script) -> None:
    server.acts = [send(200, {**completion(), "usage": None})]
    client = make(model="m", price=(0, 1000), max_tokens=100, max_cost=0.25, cache=False)
    reply = client.complete("a")
    assert (reply.usage, reply.cost) == (None, None)
    assert client.spent == pytest.approx(0.1)


def test_a_limit_is_not_changed_for_one_call(make: Make) -> None:
    with pytest.raises(ConfigError, match="max_cost"):
        make().complete("a", max_cost=1.0)
    with pytest.raises(ConfigError, match="did you mean 'temperature'"):
        make().complete("a", temprature=1.0)


def test_an_absent_sdk_says_how_to_get_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"deadpan\[llm\]"):
        make().complete("a")
