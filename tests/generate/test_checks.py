"""Checks that ask something outside: a moderation endpoint, a trained classifier of politeness."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from deadpan.errors import ConfigError, ModelError
from deadpan.generate.ledger import Ledger
from deadpan.generate.moderation import Moderation
from deadpan.generate.politeness import PLAIN, POLITE, classifier, speaker_levels
from deadpan.llm import Settings
from deadpan.records import Turn
from scripted_server import Act, send, served
from tiny_encoder import tiny_encoder

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
        own = Settings(model="any", base_url=server.url, key_env="", concurrency=1, **settings)
        made.append(Moderation(own, "omni-moderation-latest", Ledger(tmp_path), sleep=at_once))
        return made[-1]

    yield make
    for check in made:
        check.close()
        check.ledger.close()


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
    with pytest.raises(ConfigError, match="leave it out of toxicity"):
        moderate(send(404, {}))([["Nice day"]])


def test_the_embedded_model_cannot_moderate(tmp_path):
    with closing(Ledger(tmp_path)) as ledger, pytest.raises(ConfigError, match="needs an endpoint"):
        Moderation(Settings(), "any", ledger)


@pytest.fixture
def polite_classifier(tmp_path):
    transformers = pytest.importorskip("transformers")
    folder = tiny_encoder(tmp_path / "encoder", ["안녕하세요", "안녕"])
    labels = {0: "informal", 1: "formal"}
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, id2label=labels)
    model.save_pretrained(folder)
    return folder


def test_a_classifier_tells_levels(polite_classifier):
    judge = classifier(str(polite_classifier), "formal")
    assert {judge("안녕하세요"), judge("안녕")} <= {POLITE, PLAIN}
    other = classifier(str(polite_classifier), "informal")
    assert speaker_levels([Turn("A", "안녕")], judge) != speaker_levels([Turn("A", "안녕")], other)


def test_a_classifier_without_that_label_says_which_it_has(polite_classifier):
    with pytest.raises(ConfigError, match="informal, formal"):
        classifier(str(polite_classifier), "polite")


def test_a_classifier_that_is_not_here(tmp_path):
    pytest.importorskip("transformers")
    with pytest.raises(ModelError, match="fetch them first"):
        classifier(str(tmp_path / "nowhere"), "formal")
