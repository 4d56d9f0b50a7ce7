"""Answers are kept once, found again, and never mixed up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ModelError
from deadpan.llm import Client, LLMSettings, Reply, user
from deadpan.llm.calls import Cache, cache_key
from scripted_server import Script, ok, send

Make = Callable[..., Client]
REPLY = Reply("Sure.", "stop", None, None, 0.5, "m", retried=("http_429",))


def test_the_same_call_twice_is_one_request(make: Make, server: Script) -> None:
    first, second = make().complete("Hm?"), make().complete([user("Hm?")])
    assert len(server.requests) == 1
    assert (first.cached, second.cached) == (False, True)
    assert (second.text, second.usage, second.cost) == (first.text, first.usage, first.cost)


def test_what_shapes_the_answer_is_in_the_key(make: Make, server: Script) -> None:
    client = make(temperature=0.5)
    client.complete("Hm?")
    for changes in (
        {"replicate": 1},
        {"temperature": 0.6},
        {"max_tokens": 8},
        {"seed": 1},
        {"stop": ("x",)},
        {"model": "other"},
        {"extra": {"effort": "low"}},
        {"base_url": server.url.replace("127.0.0.1", "localhost")},
    ):
        assert not client.complete("Hm?", **changes).cached  # type: ignore[arg-type]
    assert len(server.requests) == 9


def test_what_does_not_is_not(make: Make, server: Script) -> None:
    make().complete("Hm?")
    assert make(timeout=5, retries=1, concurrency=2, threads=2, price=(1, 1)).complete("Hm?").cached


def test_off_means_off(make: Make, server: Script) -> None:
    client = make(cache=False)
    client.complete("Hm?")
    client.complete("Hm?")
    assert len(server.requests) == 2
    assert not client.cache.folder.exists()


def test_a_cached_answer_needs_no_key_and_no_server(
    make: Make, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make()
    client.complete("Hm?")
    monkeypatch.delenv("OPENAI_API_KEY")
    server.shutdown()
    assert client.complete("Hm?").cached
    assert client.spent == pytest.approx(2.7e-05), "an answer from the cache costs nothing again"


def test_an_answer_cut_at_our_limit_is_kept(make: Make, server: Script) -> None:
    server.acts = [ok("Cut of", "length")]
    client = make()
    client.complete("Hm?")
    assert client.complete("Hm?").cached


@pytest.mark.parametrize("act", [ok("No.", "content_filter"), ok("", "stop"), ok("?", "error")])
def test_what_may_go_better_next_time_is_not_kept(make: Make, server: Script, act: object) -> None:
    server.acts = [act, ok("Better.")]  # type: ignore[list-item]
    client = make()
    client.complete("Hm?")
    assert client.complete("Hm?").text == "Better."


def test_errors_are_not_kept(make: Make, server: Script) -> None:
    server.acts = [send(500, {}), ok()]
    client = make(retries=0)
    with pytest.raises(ModelError):
        client.complete("Hm?")
    assert not client.complete("Hm?").cached


@pytest.mark.parametrize("damage", ["cut", "empty", "flip", "other", "list", "bytes"])
def test_a_damaged_entry_is_a_miss(make: Make, server: Script, damage: str) -> None:
    client = make()
    client.complete("Hm?")
    (path,) = client.cache.folder.rglob("*.json")
    whole = path.read_text()
    path.write_bytes(
        {
            "cut": whole[:-20].encode(),
            "empty": b"",
            "flip": whole.replace("Sure.", "Sure!").encode(),
            "other": json.dumps({"check": "x", "reply": {}}).encode(),
            "list": b"[]",
            "bytes": b"\xff\x00",
        }[damage]
    )
    assert not client.complete("Hm?").cached
    assert client.complete("Hm?").cached, "and it is mended"


def test_an_entry_under_another_key_is_a_miss(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("a" * 64, REPLY)
    (path,) = tmp_path.rglob("*.json")
    other = tmp_path / "bb" / f"{'b' * 62}.json"
    other.parent.mkdir()
    path.rename(other)
    assert cache.get("b" * 64) is None


def test_a_disk_that_refuses_costs_no_answer(
    make: Make, server: Script, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "cache").write_text("in the way")
    client = make()
    assert client.complete("a").text == client.complete("b").text == "Sure."
    assert len(caplog.records) == 1


def test_nothing_but_the_entry_is_left(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put("a" * 64, REPLY)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == [f"{'a' * 62}.json"]
    found = cache.get("a" * 64)
    assert found is not None
    assert (found.cached, found.attempts) == (True, 2)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=9), st.integers(0, 3)), min_size=2, max_size=2, unique=True))
def test_different_calls_have_different_keys(calls: list[tuple[str, int]]) -> None:
    first, second = (cache_key("", LLMSettings(), [user(text)], replicate) for text, replicate in calls)
    assert first != second
