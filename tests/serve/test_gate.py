"""Rates: a bucket refills steadily, clients are forgotten; a failure is answered once, whenever it happens."""

from __future__ import annotations

import asyncio

import pytest

from deadpan.errors import ConfigError, ModelError
from deadpan.serve import app, gate
from deadpan.serve.gate import ApiError, RateLimit
from deadpan.serve.server import ServeSettings


def test_a_client_is_let_in_again_when_its_bucket_refills():
    now = [0.0]
    limit = RateLimit(60, clock=lambda: now[0])  # one a second, six at once
    for _ in range(6):
        limit.take("a")
    with pytest.raises(ApiError) as refused:
        limit.take("a")
    assert refused.value.retry_after == 1
    limit.take("b")
    now[0] = 1.0
    limit.take("a")
    with pytest.raises(ApiError):
        limit.take("a")
    now[0] = 1000.0
    for _ in range(6):
        limit.take("a")


def test_clients_are_forgotten_not_collected(monkeypatch):
    monkeypatch.setattr(gate, "MOST_CLIENTS", 10)
    limit = RateLimit(60, clock=lambda: 0.0)
    for n in range(100):
        limit.take(str(n))
    assert len(limit._buckets) == 10


def test_a_limit_below_the_least_names_the_least():
    with pytest.raises(ConfigError, match="rate is -5: give 0 or more"):
        ServeSettings(rate=-5)
    with pytest.raises(ConfigError, match="waiting is 0: give 1 or more"):
        ServeSettings(waiting=0)


def sent(application) -> list[dict]:
    """Ask for a reading; what the client gets, in pieces."""
    messages: list[dict] = []

    async def receive():
        return {"type": "http.request", "body": b'{"text": "a"}', "more_body": False}

    async def send(message):
        messages.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/v1/reading", "raw_path": b"/v1/reading", "query_string": b"",
        "headers": [], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80), "scheme": "http", "root_path": "",
    }  # fmt: skip
    asyncio.run(application(scope, receive, send))
    return messages


@pytest.mark.parametrize(
    ("failure", "status"),
    [(ApiError(413, "large", "too large"), 413), (ModelError("gone"), 500), (ValueError("odd"), 500)],
)
def test_a_failure_is_answered_once_and_never_after_a_stream_began(make_caller, monkeypatch, failure, status):
    call = make_caller(rate=0, reader="openai/none", base_url="http://127.0.0.1:9/v1")

    def fail(examples):
        raise failure

    monkeypatch.setattr(call.app.service.catalogue.models["base"].detector, "predict", fail)
    assert call.detect({"text": "a"}).status_code == status

    async def broken(settings, example):
        yield "half"
        raise failure

    monkeypatch.setattr(app, "stream_reading", broken)
    assert [message["status"] for message in sent(call.app) if "status" in message] == [200]


def test_a_head_request_is_answered_like_a_get(make_caller):
    answer = make_caller(rate=0)("HEAD", "/health")
    assert answer.status_code == 200 and int(answer.headers["content-length"]) > 0
