"""A provider's moderation endpoint, played by a local server."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from deadpan.errors import ConfigError, ModelError
from deadpan.generate.filters import Moderation
from deadpan.journal import Journal
from deadpan.llm import LLMSettings
from scripted_server import Act, send, served

FLAGGED = {"harassment": True, "hate": False, "violence": True}


def result(flagged: bool) -> dict[str, object]:
    """What a moderation endpoint answers."""
    categories = FLAGGED if flagged else dict.fromkeys(FLAGGED, False)
    scores = {name: 0.9 if found else 0.01 for name, found in categories.items()}
    found = {"flagged": flagged, "categories": categories, "category_scores": scores}
    return {"id": "modr-1", "model": "omni-moderation-latest", "results": [found]}


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
def server():
    with served() as script:
        yield script


@pytest.fixture
def moderate(server, tmp_path):
    made = []

    def make(*acts: Act, **settings: object) -> Moderation:
        server.acts = list(acts)
        own = LLMSettings(model="any", base_url=server.url, key_env="", concurrency=1, **settings)
        made.append(Moderation(own, "omni-moderation-latest", Journal(tmp_path / "calls.sqlite"), sleep=at_once))
        return made[-1]

    yield make
    for check in made:
        check.close()
        check.journal.close()


def test_what_an_endpoint_flags_is_named(moderate):
    check = moderate(send(200, result(True)), send(200, result(False)))
    assert check([["I will hurt you"], ["Nice day"]]) == ["harassment, violence", ""]


def test_a_dialogue_is_asked_about_once(moderate, server):
    check = moderate(send(200, result(True)))
    assert check([["Same words"]]) == check([["Same words"]])
    assert len(server.requests) == 1


def test_a_bad_moment_of_the_server_is_waited_out(moderate, server):
    check = moderate(send(500, {}), send(429, {}), send(200, b"not json"), send(200, result(False)))
    assert check([["Nice day"]]) == [""]
    assert len(server.requests) == 4


def test_a_server_that_never_answers_is_named(moderate):
    with pytest.raises(ModelError, match="did not answer"):
        moderate(send(500, {}), retries=2)([["Nice day"]])


def test_an_endpoint_without_moderation_says_what_to_do(moderate):
    with pytest.raises(ConfigError, match="remove it from toxicity"):
        moderate(send(404, {}))([["Nice day"]])


def test_the_embedded_model_cannot_moderate(tmp_path):
    with closing(Journal(tmp_path / "calls.sqlite")) as ledger, pytest.raises(ConfigError, match="needs an endpoint"):
        Moderation(LLMSettings(), "any", ledger)
