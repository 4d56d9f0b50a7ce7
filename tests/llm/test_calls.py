"""What the journal of calls keeps: what was sent and returned, over all starts of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deadpan.errors import DataError, ModelError
from deadpan.journal import Journal
from deadpan.llm import Budget, Client, CostLimit, LLMSettings, Usage, read_calls, user
from deadpan.llm.calls import call_key
from scripted_server import Script, completion, ok, send

Make = Callable[..., Client]


def test_what_was_sent_and_returned_is_kept(make: Make, server: Script, tmp_path: Path) -> None:
    server.acts = [send(503, {"error": {"message": "busy"}}), ok("There.")]
    with Journal(tmp_path / "calls.sqlite") as journal:
        make(journal=journal, temperature=0.7, cache=False).complete("Hm?", 2, tag="item-1/2")
        failed, answered = read_calls(journal)
    assert failed.error == "http_503: busy"
    assert failed.request == answered.request == server.requests[1]
    assert answered.request["temperature"] == 0.7
    assert (answered.tag, answered.replicate, answered.text) == ("item-1/2", 2, "There.")
    assert (answered.model, answered.stop_reason) == ("gpt-4o-mini-2024-07-18", "stop")
    assert answered.usage == Usage(100, 20)
    assert answered.cost == pytest.approx(2.7e-05)
    assert answered.at


def test_an_answered_call_is_never_made_again(make: Make, server: Script, tmp_path: Path) -> None:
    for start in range(3):
        with Journal(tmp_path / "calls.sqlite") as journal:
            client = make(journal=journal, cache=False)
            reply = client.complete("Hm?")
            assert (reply.text, reply.cached) == ("Sure.", start > 0)
            assert client.spent == pytest.approx(2.7e-05), "what earlier starts paid counts, and only once"
    assert len(server.requests) == 1


def test_a_refusal_is_kept_too_and_a_failure_is_not_final(make: Make, server: Script, tmp_path: Path) -> None:
    server.acts = [ok("No.", "content_filter"), send(400, {"error": {"message": "no"}}), ok()]
    with Journal(tmp_path / "calls.sqlite") as journal:
        client = make(journal=journal)
        assert client.complete("a").stop_reason == client.complete("a").stop_reason == "content_filter"
        with pytest.raises(ModelError):
            client.complete("b")
        assert client.complete("b").text == "Sure."
    assert len(server.requests) == 3


def test_calls_with_different_tags_are_different_calls(make: Make, server: Script, tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.sqlite") as journal:
        client = make(journal=journal, cache=False)
        for tag in ("a", "b", "a"):
            client.complete("Hm?", tag=tag)
    assert len(server.requests) == 2


def test_the_address_of_a_server_is_not_in_the_key() -> None:
    first, second = (LLMSettings(model="m", base_url=url) for url in ("http://a/v1", "http://b/v1"))
    assert call_key(first, [user("a")], 0) == call_key(second, [user("a")], 0)
    assert call_key(first, [user("a")], 0) != call_key(first, [user("a")], 1)
    assert call_key(first, [user("a")], 0) != call_key(first.changed(choices=("A",)), [user("a")], 0)


def test_an_answer_from_the_cache_is_kept_and_not_paid(make: Make, server: Script, tmp_path: Path) -> None:
    make().complete("Hm?")
    with Journal(tmp_path / "calls.sqlite") as journal:
        assert make(journal=journal).complete("Hm?").cached
        (record,) = read_calls(journal)
        assert (record.cached, record.request, journal.paid) == (True, {}, 0.0)
    assert len(server.requests) == 1


def test_the_limit_is_on_all_starts_and_all_clients_of_a_budget(make: Make, server: Script, tmp_path: Path) -> None:
    options = {"model": "m", "price": (0, 1000), "max_tokens": 20, "cache": False}
    with Journal(tmp_path / "calls.sqlite") as journal:
        make(journal=journal, max_cost=0.05, **options).complete_many(["a", "b"])
        with pytest.raises(CostLimit, match=r"0\.0400 spent"):
            make(journal=journal, max_cost=0.05, **options).complete("c")
        assert journal.paid == pytest.approx(0.04)
    shared = Budget(0.05, spent=0.02)
    make(budget=shared, **options).complete("a")
    with pytest.raises(CostLimit):
        make(budget=shared, **options).complete("b")
    assert len(server.requests) == 3


def test_a_journal_of_something_else_is_one_line(make: Make, tmp_path: Path) -> None:
    with Journal(tmp_path / "calls.sqlite") as journal:
        journal.append("k", {"judgment": "yes"})
        with pytest.raises(DataError, match="not a journal of calls"):
            list(read_calls(journal))


def test_reasoning_tokens_are_counted_apart(make: Make, server: Script) -> None:
    body = completion()
    body["usage"]["completion_tokens_details"] = {"reasoning_tokens": 15}
    server.acts = [send(200, body)]
    usage = make().complete("Hm?").usage
    assert usage is not None
    assert (usage.output_tokens, usage.reasoning_tokens) == (20, 15)
    assert json.dumps(server.requests[0])
