"""Settings are checked where they are made, prices and waits are what the table and the server say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError
from deadpan.llm import Client, LLMSettings, Price, Reply, Usage, find_price, user
from deadpan.llm.retries import Backoff, Failed, asked_wait
from deadpan.llm.transport import Endpoint, request_body


def test_settings_from_a_table() -> None:
    chosen = LLMSettings.read({"model": "m", "stop": ["a", "b"], "price": [1, 2], "extra": {"x": [1]}})
    assert (chosen.stop, chosen.price) == (("a", "b"), (1.0, 2.0))
    assert hash(chosen) == hash(LLMSettings.read({"model": "m", "stop": ["a", "b"], "price": [1, 2]}))
    assert LLMSettings(stop="a").stop == ("a",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"modle": "m"}, "did you mean 'model'"),
        ({"model": " "}, "empty"),
        ({"model": 3}, "give a string"),
        ({"temperature": 3}, "from 0 to 2"),
        ({"temperature": "hot"}, "from 0 to 2"),
        ({"temperature": float("nan")}, "from 0 to 2"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 1.5}, "whole number"),
        ({"retries": -1}, "retries"),
        ({"concurrency": True}, "concurrency"),
        ({"cache": "no"}, "true or false"),
        ({"extra": 1}, "a table"),
        ({"price": 3}, "two numbers"),
        ({"price": [1, -1]}, "at least 0"),
    ],
)
def test_nonsense_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        LLMSettings.read(config)


def test_a_repr_is_short_and_says_what_differs() -> None:
    assert repr(LLMSettings(model="m")) == "LLMSettings(model='m')"
    chosen = LLMSettings(model="m", temperature=0.5, extra={"a": 1}, stop="x")  # type: ignore[arg-type]
    assert repr(chosen) == "LLMSettings(model='m', temperature=0.5, stop=('x',), extra={'a': 1})"
    assert repr(Client(LLMSettings(model="m", max_cost=2.0))) == "<Client m: $0.0000 of $2.00 spent>"
    reply = Reply("word " * 99, "stop", None, 0.25, 1.0, "m", cached=True)
    assert len(repr(reply)) < 140
    assert "cached=True" in repr(reply)


def test_openai_itself_wants_another_name_for_the_limit() -> None:
    chosen = LLMSettings(model="gpt-5", max_tokens=9)
    assert "max_completion_tokens" in request_body(Endpoint("", "k", "gpt-5"), chosen, [user("a")], 0)
    assert "max_tokens" in request_body(Endpoint("http://localhost/v1", "k", "g"), chosen, [user("a")], 0)


# ---------------------------------------------------------------- prices


def test_names_as_providers_write_them() -> None:
    price = find_price(LLMSettings(model="gpt-4o"))
    assert price is not None
    assert (price.input, price.output, price.cached_input) == (2.5, 10, 1.25)
    for name in ("openai/gpt-4o", "gpt-4o-2024-08-06", "openai-api/mine/gpt-4o"):
        assert find_price(LLMSettings(model=name)) == price
    older = find_price(LLMSettings(model="gpt-4o-2024-05-13"))
    assert older is not None and older != price, "a snapshot with a price of its own keeps it"
    dated, plain = (find_price(LLMSettings(model=f"anthropic/claude-sonnet-4-5{date}")) for date in ("-20250929", ""))
    assert dated == plain is not None
    for name in ("openrouter/meta-llama/llama-3.1-8b-instruct", "grok/grok-4", "mistral/mistral-small-latest"):
        assert find_price(LLMSettings(model=name)) is not None
    for name in ("gpt-4o-nonsense", "mine", "ollama/deepseek-r1:7b", "vllm/mistral-7b", "meta-llama/Llama-3.1-8B"):
        assert find_price(LLMSettings(model=name)) is None, name


def test_a_price_says_where_it_is_from_and_a_long_context_costs_more() -> None:
    price = find_price(LLMSettings(model="claude-sonnet-4-5"))
    assert price is not None
    assert price.as_of.startswith("genai-prices ")
    assert price.cost(Usage(1_000, 100, 400)) == pytest.approx((600 * 3 + 400 * 0.3 + 100 * 15) / 1e6)
    assert price.cost(Usage(300_000, 0)) == pytest.approx(300_000 * 6 / 1e6)


def test_the_users_price_and_the_embedded_one() -> None:
    assert find_price(LLMSettings(model="gpt-4o", price=(1, 2))) == Price(1, 2)
    assert find_price(LLMSettings(model="mine")) is None
    embedded = find_price(LLMSettings())
    assert embedded is not None
    assert embedded.cost(Usage(10**6, 10**6)) == 0.0


def test_cached_input_is_cheaper() -> None:
    price = Price(2.0, 8.0, 0.5)
    assert price.cost(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(1.2 + 0.2 + 4.0)
    assert Price(2.0, 8.0).cost(Usage(1_000_000, 0, 400_000)) == pytest.approx(2.0)


@settings(deadline=None, max_examples=40)
@given(st.text(max_size=200), st.integers(1, 10_000))
def test_an_estimate_grows_with_what_it_estimates(text: str, limit: int) -> None:
    price = Price(1.0, 2.0)
    content = text.encode("utf-8", "replace").decode()
    assert price.estimate([user(content)], limit) >= price.cost(Usage(len(content) // 2, limit))


# ---------------------------------------------------------------- waits


def test_what_a_server_asks_for() -> None:
    assert asked_wait({}) is None
    assert asked_wait({"retry-after": "2.5"}) == 2.5
    assert asked_wait({"retry-after-ms": "250"}) == 0.25
    assert asked_wait({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, now=lambda: 40.0) == 60.0
    assert asked_wait({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, now=lambda: 40.0) == 0.0
    for nonsense in ("soon", "-5", "nan", "1e999999", ""):
        assert asked_wait({"retry-after": nonsense}) is None


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.floats(0, 1), st.none() | st.floats(0, 1e9))
def test_a_wait_is_never_endless(attempt: int, draw: float, asked: float | None) -> None:
    wait = Backoff(draw=lambda: draw).wait(attempt, Failed("x", wait=asked))
    assert 0.25 <= wait <= 60.0
