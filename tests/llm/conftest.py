"""Clients of a scripted server, which neither sleep nor share a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deadpan.journal import Journal
from deadpan.llm import Breaker, Budget, Client, LLMSettings
from deadpan.llm.calls import Cache
from deadpan.llm.retries import Backoff
from scripted_server import Script, served


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """The server, with a key for it in the environment."""
    for name in ("DEADPAN_LLM_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with served() as script:
        yield script


@pytest.fixture
def waits() -> list[float]:
    """The seconds the client would have slept."""
    return []


@pytest.fixture
def make(server: Script, tmp_path: Path, waits: list[float]) -> Iterator[Callable[..., Client]]:
    """Clients of the server that neither sleep nor share a cache with other tests."""
    made: list[Client] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def build(
        *, journal: Journal | None = None, budget: Budget | None = None, breaker: Breaker | None = None, **settings: Any
    ) -> Client:
        chosen = LLMSettings(**{"model": "gpt-4o-mini", "base_url": server.url, "timeout": 120.0, **settings})
        made.append(
            Client(
                chosen,
                cache=Cache(tmp_path / "cache"),
                journal=journal,
                budget=budget,
                breaker=breaker,
                backoff=Backoff(draw=lambda: 1.0),
                sleep=sleep,
            )
        )
        return made[-1]

    yield build
    for client in made:
        client.close()
