"""deadpan llm: one question, sampling options, prices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from deadpan.cli.llm import llm
from deadpan.llm.client import close_shared
from deadpan.llm.messages import request_seed
from scripted_server import Script, ok, send, served


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with served() as script:
        yield script
    close_shared()


def ask(server: Script, *words: str) -> Result:
    command = ["ask", "Hm?", "--llm", "gpt-4o-mini", "--base-url", server.url, *words]
    return CliRunner().invoke(llm, command)


def test_a_question_and_how_it_was_answered(server: Script) -> None:
    result = ask(server)
    assert result.stdout == "Sure.\n"
    assert "[gpt-4o-mini-2024-07-18: stop, " in result.stderr
    assert "from the cache" in ask(server).stderr
    assert json.loads(ask(server, "--json").stdout)["cached"] is True


def test_sampling_is_sent_as_given_and_none_is_not_sent(server: Script) -> None:
    words = ["--temperature", "none", "--top-p", "0.9", "--max-tokens", "none", "--reasoning-effort", "low"]
    ask(server, *words, "--llm-arg", "top_k=20", "--llm-arg", "tier=fast", "--seed", "3")
    sent = {name: value for name, value in server.requests[0].items() if name not in ("model", "messages")}
    seed = request_seed(3, server.requests[0]["messages"], replicate=0)
    assert sent == {"top_p": 0.9, "reasoning_effort": "low", "top_k": 20, "tier": "fast", "seed": seed}


def test_a_parameter_the_server_does_not_take_is_said(server: Script) -> None:
    server.acts = [send(400, {"error": {"message": "'temperature' is not supported"}}), ok()]
    assert "temperature not taken by the server" in ask(server, "--temperature", "0.5").stderr


def test_an_answer_may_be_held_to_choices(server: Script) -> None:
    server.acts = [ok('{"answer": "B"}')]
    assert ask(server, "--choice", "A", "--choice", "B").stdout == "B\n"


@pytest.mark.parametrize(
    ("words", "said"), [(["--temperature", "hot"], "neither a number"), (["--llm-arg", "x"], "NAME=VALUE")]
)
def test_a_bad_option_is_said(deadpan: Any, server: Script, words: list[str], said: str) -> None:
    ran = deadpan("llm", "ask", "Hm?", "--base-url", server.url, *words)
    assert ran.status == 2
    assert said in ran.err
    assert server.requests == []
