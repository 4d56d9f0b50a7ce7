"""The embedded model: what is missing is said, and the real one answers and ends with its parent."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from deadpan import models
from deadpan.errors import ConfigError, MissingExtra, ModelError
from deadpan.llm import Client, LLMSettings, acomplete, complete, embedded, embedded_server
from deadpan.llm.calls import Cache
from deadpan.llm.client import close_shared
from deadpan.llm.embedded import busy_cores, idle_cores, stop_all

NAME = "smollm2-135m"
LIBRARY = importlib.util.find_spec("xllamacpp") is not None
needs_library = pytest.mark.skipif(not LIBRARY, reason="needs xllamacpp: pip install 'deadpan[llm]'")
real = pytest.mark.skipif(
    not LIBRARY or NAME not in models.installed(), reason=f"needs xllamacpp and the weights: deadpan models pull {NAME}"
)


def small(**settings: Any) -> LLMSettings:
    """Return settings of the small model: the default depends on what has been pulled."""
    return LLMSettings(model=f"embedded/{NAME}", **settings)


def test_the_larger_model_is_the_default_once_pulled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "installed", lambda: {NAME: Path()})
    assert LLMSettings().embedded == NAME
    monkeypatch.setattr(models, "installed", lambda: {NAME: Path(), "qwen2.5-coder-1.5b": Path()})
    assert LLMSettings().embedded == "qwen2.5-coder-1.5b"


@pytest.mark.parametrize(("cores", "load", "threads"), [(2, 0.1, 2), (2, 1.2, 1), (2, 9.0, 1), (8, 2.6, 5), (1, 0, 1)])
def test_it_takes_the_cores_that_are_idle(
    monkeypatch: pytest.MonkeyPatch, cores: int, load: float, threads: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    monkeypatch.setattr(embedded, "busy_cores", lambda: load)
    assert idle_cores() == threads


def test_cores_at_work_are_counted_not_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text("cpu  100 0 100 800 0 0 0 0 50 0\ncpu0 ...\n")
    monkeypatch.setattr(embedded, "STAT", stat)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (7.5, 7.5, 7.5), raising=False)

    def later(seconds: float) -> None:
        stat.write_text("cpu  120 0 105 870 5 0 0 0 70 0\n")

    assert busy_cores(later) == 1.0
    assert busy_cores(lambda _: None) == 0.0
    stat.unlink()
    assert busy_cores(lambda _: None) == 7.5


def test_an_unknown_name_lists_the_others() -> None:
    with pytest.raises(ConfigError, match="smollm2-135m"):
        complete("Hm?", LLMSettings(model="embedded/smollm-135m", cache=False))


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"deadpan\[llm\]"):
        embedded_server(NAME, threads=3)


@needs_library
def test_missing_weights_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="deadpan models pull smollm2-135m"):
        embedded_server(NAME, threads=3)


@needs_library
def test_weights_that_do_not_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF and then nothing")
    monkeypatch.setattr("deadpan.llm.embedded.weights_of", lambda name: tmp_path / "broken.gguf")
    with pytest.raises(ModelError, match="did not start"):
        embedded_server(NAME, threads=3)


@real
@pytest.mark.slow
def test_the_real_model_answers(tmp_path: Path) -> None:
    asked = "What colour is the sky?"
    with Client(small(max_tokens=16, temperature=0), cache=Cache(tmp_path)) as client:
        first = client.complete(asked)
        assert "blue" in first.text
        assert (first.cost, first.model) == (0.0, NAME)
        assert first.usage is not None
        assert 0 < first.usage.output_tokens <= 16
        assert client.complete(asked).cached


@real
@pytest.mark.slow
def test_a_seed_makes_an_answer_again_whatever_came_between() -> None:
    with Client(small(max_tokens=24, seed=7, temperature=0.9, cache=False)) as client:
        asked = ["Tell me about rain.", "Tell me about cats.", "Tell me about rain."]
        first, _, again = client.complete_many(asked)
        assert first.text == again.text
        assert client.complete(asked[0], replicate=1).text != first.text


@real
@pytest.mark.slow
def test_our_limit_is_told_apart_from_an_end() -> None:
    reply = complete("Count from one to one hundred.", small(max_tokens=5, temperature=0, cache=False))
    close_shared()
    assert (reply.stop_reason, reply.usage and reply.usage.output_tokens) == ("max_tokens", 5)


@real
@pytest.mark.slow
def test_a_choice_of_one_letter_costs_one_token_and_a_shared_prefix_is_evaluated_once() -> None:
    prefix = "Below is one of many questions, all asked in the same way. " * 20
    settings = small(choices=("A", "B", "C"), temperature=1.0, seed=1, cache=False)
    with Client(settings) as client:
        replies = [client.complete(f"{prefix}Question {n}: A, B or C?") for n in range(3)]
    usages = [reply.usage for reply in replies if reply.usage]
    assert all(reply.text in ("A", "B", "C") and reply.stop_reason == "stop" for reply in replies)
    assert [usage.output_tokens for usage in usages] == [1, 1, 1]
    assert all(usage.cached_tokens > 0.8 * usage.input_tokens for usage in usages[1:])


@real
@pytest.mark.slow
def test_a_schema_is_followed() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    with Client(small(schema=schema, max_tokens=64, temperature=0, cache=False)) as client:
        assert isinstance(json.loads(client.complete("How many legs has a cat?").text)["n"], int)


@real
@pytest.mark.slow
def test_a_conversation_too_long_for_it_is_refused() -> None:
    with Client(small(cache=False)) as client, pytest.raises(ModelError, match="HTTP 400"):
        client.complete("word " * 6_000)


@real
@pytest.mark.slow
def test_a_server_that_crashed_is_started_again() -> None:
    settings = small(max_tokens=3, temperature=0, cache=False)
    asyncio.run(acomplete("Hello.", settings))
    server = embedded_server(NAME)
    os.kill(server.process.pid, signal.SIGKILL)
    assert asyncio.run(acomplete("Hello.", settings)).text
    assert embedded_server(NAME).process.pid != server.process.pid
    close_shared()
    stop_all()


@real
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches a process that is not a child: Linux only")
@pytest.mark.parametrize("ending", ["exit", "exception", "kill"])
def test_it_ends_when_its_parent_does(ending: str) -> None:
    script = f"""
import sys
from deadpan.llm import embedded_server
print(embedded_server("{NAME}").process.pid, flush=True)
sys.stdin.readline()
if "{ending}" == "exception":
    raise RuntimeError("on purpose")
"""
    command = [sys.executable, "-c", script]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, text=True, **pipes) as parent:  # type: ignore[call-overload]
        watched = os.pidfd_open(int(parent.stdout.readline()))
        if ending == "kill":
            parent.kill()
        else:
            parent.stdin.write("\n")
            parent.stdin.flush()
        ended, _, _ = select.select([watched], [], [], 20)
        os.close(watched)
    assert ended
