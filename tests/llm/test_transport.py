"""What reaches a server: providers by name, answers of a fixed form, and parameters it does not take."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadpan.errors import ConfigError, ModelError
from deadpan.journal import Journal
from deadpan.llm import Client, LLMSettings, user
from deadpan.llm.settings import find_url, start_advice
from deadpan.llm.transport import Endpoint, find_endpoint, request_body
from scripted_server import Script, completion, ok, send

Make = Callable[..., Client]


def rejects(name: str, **error: str) -> Any:
    said = {"message": f"Unsupported parameter: '{name}' is not supported with this model.", **error}
    return send(400, {"error": said})


def test_a_rejected_parameter_is_left_out_and_said(
    make: Make, server: Script, caplog: pytest.LogCaptureFixture
) -> None:
    server.acts = [rejects("temperature", param="temperature"), ok()]
    client = make(temperature=0.7, top_p=0.9, cache=False)
    first, second = client.complete("a"), client.complete("b")
    assert first.unsupported == second.unsupported == ("temperature",)
    assert client.unsupported == {"temperature"}
    assert ["temperature" in body for body in server.requests] == [True, False, False]
    assert all(body["top_p"] == 0.9 for body in server.requests)
    assert [record.getMessage() for record in caplog.records] == [
        "gpt-4o-mini does not take temperature: it is not sent"
    ]


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("`temperature` and `top_p` cannot both be specified for this model.", {"temperature"}),
        ("`temperature` is deprecated for this model.", {"top_p"}),
        ("Unrecognized request argument supplied: top_p", {"temperature"}),
    ],
)
def test_as_providers_say_it(make: Make, server: Script, message: str, left: set[str]) -> None:
    server.acts = [send(400, {"error": {"message": message}}), ok()]
    make(temperature=0.7, top_p=0.9).complete("a")
    assert server.requests[1].keys() & {"temperature", "top_p"} == left


def test_a_limit_is_renamed_and_never_dropped(make: Make, server: Script) -> None:
    server.acts = [rejects("max_tokens"), ok()]
    reply = make(max_tokens=9).complete("a")
    assert (server.requests[1]["max_completion_tokens"], reply.unsupported) == (9, ())
    server.acts = [rejects("max_tokens"), rejects("max_completion_tokens"), ok()]
    with pytest.raises(ModelError, match="takes neither"):
        make(max_tokens=9).complete("b")


def test_a_value_that_is_too_large_is_an_error(make: Make, server: Script) -> None:
    message = "max_tokens is too large: 9999. This model supports at most 4096 completion tokens"
    server.acts = [send(400, {"error": {"message": message, "param": "max_tokens"}})]
    with pytest.raises(ModelError, match="too large"):
        make(max_tokens=9999).complete("a")


def test_unset_sampling_is_not_sent_and_arguments_are(make: Make, server: Script) -> None:
    make(max_tokens=None, reasoning_effort="high", extra={"top_k": 5}).complete("a")
    assert set(server.requests[0]) == {"model", "messages", "reasoning_effort", "top_k"}


# ---------------------------------------------------------------- answers of a fixed form


def test_a_choice_comes_back_bare(make: Make, server: Script) -> None:
    server.acts = [ok('{"answer": "B"}'), ok(" A\n"), ok("Z"), ok('["B"]')]
    client = make(choices=("A", "B"))
    assert [client.complete(text).text for text in "abcd"] == ["B", "A", "Z", '["B"]']
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["A", "B"]
    assert client.complete("a").text == "B", "from the cache too"


def with_logprobs(given: object) -> Any:
    body = completion("B")
    body["choices"][0]["logprobs"] = given
    return send(200, body)


def test_how_likely_each_choice_was(make: Make, server: Script, tmp_path: Path) -> None:
    top = [{"token": " B", "logprob": -0.5}, {"token": "b", "logprob": -3.0}, {"token": "A", "logprob": -2.0}]
    server.acts = [with_logprobs({"content": [{"token": "B", "top_logprobs": top}]})]
    with Journal(tmp_path / "calls.sqlite") as journal:
        client = make(choices=("A", "B"), probabilities=True, journal=journal)
        reply = client.complete("A or B?")
        assert server.requests[-1]["logprobs"] is True and server.requests[-1]["top_logprobs"] == 20
        assert reply.probabilities["B"] == pytest.approx(0.829, abs=0.001)
        assert sum(reply.probabilities.values()) == pytest.approx(1)
        again = client.complete("A or B?")
    assert again.cached and again.probabilities == reply.probabilities, "the journal keeps them"


@pytest.mark.parametrize("given", [None, 7, [], {"content": []}, {"content": [{"top_logprobs": "x"}]}])
def test_a_server_that_does_not_say_is_no_error(make: Make, server: Script, given: object) -> None:
    server.acts = [with_logprobs(given)]
    assert make(choices=("A", "B"), probabilities=True).complete("A or B?").probabilities == {}


def test_a_schema_is_sent_as_it_is(make: Make, server: Script) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    server.acts = [ok('{"n": 1}')]
    assert json.loads(make(schema=schema).complete("a").text) == {"n": 1}
    assert server.requests[0]["response_format"]["json_schema"]["schema"] == schema
    with pytest.raises(ConfigError, match="choices and schema"):
        LLMSettings(schema=schema, choices=("A",))


def test_the_embedded_model_gets_a_grammar_and_one_token() -> None:
    endpoint = Endpoint("http://127.0.0.1:1/v1", "k", "m", embedded=True)
    letters = LLMSettings(model="embedded/m", choices=("A", '"'), max_tokens=64)
    body = request_body(endpoint, letters, [user("a")], 0)
    assert (body["grammar"], body["max_tokens"]) == ('root ::= "A" | "\\""', 1)
    assert body["cache_prompt"] is True
    words = request_body(endpoint, letters.changed(choices=("네", "no")), [user("a")], 0)
    assert (words["grammar"], words["max_tokens"]) == ('root ::= "네" | "no"', 64)


# ---------------------------------------------------------------- providers


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEADPAN_LLM_URL", "OPENAI_BASE_URL", "OLLAMA_BASE_URL", "AZURE_OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER", "AZURE_OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", name.lower())


@pytest.mark.parametrize(
    ("model", "base_url", "url", "name", "key"),
    [
        ("gpt-5", "", "", "gpt-5", "openai"),
        ("openai/gpt-5", "", "", "gpt-5", "openai"),
        ("anthropic/claude-opus-5", "", "https://api.anthropic.com/v1", "claude-opus-5", "anthropic"),
        ("google/gemini-3.8-flash", "", "https://generativelanguage.googleapis.com/v1beta/openai",
         "gemini-3.8-flash", "gemini"),
        ("openrouter/openai/gpt-5", "", "https://openrouter.ai/api/v1", "openai/gpt-5", "openrouter"),
        ("ollama/llama3.2", "", "http://localhost:11434/v1", "llama3.2", "none"),
        ("ollama/llama3.2", "http://gpu:11434/v1", "http://gpu:11434/v1", "llama3.2", "none"),
        ("vllm/Qwen/Qwen3-8B", "", "http://localhost:8000/v1", "Qwen/Qwen3-8B", "none"),
        ("azure/my-gpt", "https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1",
         "my-gpt", "azure_openai"),
        ("anthropic/claude", "http://gateway:4000/v1", "http://gateway:4000/v1", "anthropic/claude", "openai"),
        ("meta-llama/Llama-3", "http://gpu:8000/v1", "http://gpu:8000/v1", "meta-llama/Llama-3", "openai"),
    ],
)  # fmt: skip
def test_a_provider_has_an_address_a_name_and_a_key(
    keys: None, model: str, base_url: str, url: str, name: str, key: str
) -> None:
    endpoint = find_endpoint(LLMSettings(model=model, base_url=base_url))
    assert (endpoint.url, endpoint.model, endpoint.key) == (url, name, key)


def test_what_is_missing_is_said(keys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="AZURE_OPENAI_BASE_URL"):
        find_url(LLMSettings(model="azure/x"))
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    with pytest.raises(ConfigError, match="set ANTHROPIC_API_KEY"):
        find_endpoint(LLMSettings(model="anthropic/x"))


def test_what_a_provider_ignores_is_not_sent_and_said(
    make: Make, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    from deadpan.llm import settings as providers

    quiet = providers.Provider(server.url, ignores=frozenset({"seed"}))
    monkeypatch.setitem(providers.PROVIDERS, "quiet", quiet)
    reply = make(model="quiet/m", base_url="", seed=1, temperature=0.5).complete("a")
    assert reply.unsupported == ("seed",)
    assert server.requests[0].keys() == {"model", "messages", "temperature", "max_tokens"}


def test_who_should_listen_is_named() -> None:
    assert start_advice("http://localhost:11434/v1") == "start Ollama with `ollama serve`, or change base_url"
    assert "vllm serve" in start_advice("http://localhost:8000/v1")
    assert start_advice("http://localhost:99999999/v1") == "start the server, or change base_url"


def test_a_refusal_field_is_a_refusal_whatever_else_is_said(make: Make, server: Script) -> None:
    body = completion("I can't help with that.")
    body["choices"][0]["message"]["refusal"] = "I can't help with that."
    server.acts = [send(200, body)]
    assert make(cache=False).complete("a").stop_reason == "content_filter"


def test_a_rejected_value_names_the_option_that_leaves_it_out(make: Make, server: Script) -> None:
    server.acts = [send(400, {"error": {"message": "temperature must be 1 for this model"}})]
    with pytest.raises(ModelError, match="use --temperature none"):
        make(temperature=0.7, cache=False).complete("a")
