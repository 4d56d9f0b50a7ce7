"""The gate answers a request once, whatever fails and whenever."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from deadpan.errors import ModelError
from deadpan.serve.gate import Gate
from deadpan.serve.metrics import Metrics
from deadpan.serve.refusals import Refusal
from deadpan.serve.settings import ServeSettings


def sent_through(inner) -> list[dict]:
    """Send a request for a page through the gate; what the client gets."""
    service = SimpleNamespace(settings=ServeSettings(), metrics=Metrics())
    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/health", "headers": [], "client": ("127.0.0.1", 1)}
    asyncio.run(Gate(inner, service, frozenset(["/health"]))(scope, None, send))
    return sent


@pytest.mark.parametrize(
    ("failure", "status"),
    [(Refusal(413, "large", "too large"), 413), (ModelError("gone"), 500), (ValueError("odd"), 500)],
)
def test_a_failure_is_answered_once_and_never_after_a_stream_began(failure, status):
    async def at_once(scope, receive, send):
        raise failure

    async def later(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        raise failure

    starts = [m["status"] for m in sent_through(at_once) if m["type"] == "http.response.start"]
    assert starts == [status]
    starts = [m["status"] for m in sent_through(later) if m["type"] == "http.response.start"]
    assert starts == [200]
