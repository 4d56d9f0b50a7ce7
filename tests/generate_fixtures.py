"""Fixtures for tests of generate: a plan in a folder of its own, answered by a server of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deadpan.generate.language import Language, load_language
from dialogue_server import DialogueServer, sources


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test finds another's answers."""
    for name in ("DEADPAN_LLM_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DEADPAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.fixture
def server() -> Iterator[DialogueServer]:
    with DialogueServer() as serving:
        yield serving


@pytest.fixture
def plan_of(tmp_path: Path, server: DialogueServer) -> Callable[..., Path]:
    """A plan of so many sources that calls the server; further lines go to [model] or below."""

    def write(count: int = 12, model: str = "", rest: str = "", top: str = "") -> Path:
        (tmp_path / "sources.jsonl").write_text(sources(count), encoding="utf-8")
        text = (
            f'language = "en"\nout = "run"\n{top}\n[source]\npath = "sources.jsonl"\n'
            f'[model]\nmodel = "writer-1"\nbase_url = "{server.url}"\nprice = [1.0, 2.0]\n{model}\n{rest}\n'
        )
        path = tmp_path / "plan.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def english() -> Language:
    return load_language("en")


@pytest.fixture
def korean() -> Language:
    return load_language("ko")
