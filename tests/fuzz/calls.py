"""Calls of the service: bodies whose fields are replaced by values of the wrong kind, to every address."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from dataclasses import replace
from functools import cache
from typing import Any

KEY = "0123456789abcdef0123456789abcdef"
ADDRESSES = (
    ("POST", "/v1/detect"), ("POST", "/v1/detect"), ("POST", "/v1/detect"), ("POST", "/v1/detect"),
    ("POST", "/v1/detect"), ("GET", "/v1/models"), ("GET", "/health"), ("GET", "/metrics"), ("GET", "/docs"),
    ("GET", "/"), ("GET", "/v1/openapi.json"), ("GET", "/assets/../keys"), ("PUT", "/v1/detect"),
    ("OPTIONS", "/v1/detect"), ("HEAD", "/health"), ("GET", "/nothing"), ("BREW", "/v1/reading"),
)  # fmt: skip
"""Where a call goes; /v1/reading is called by tests with a language model of their own."""
STATUSES = (200, 204, 400, 401, 404, 405, 413, 422, 503)
BODIES: tuple[dict[str, Any], ...] = (
    {"text": "Great, another Monday.", "explain": True}, {"texts": ["a", "b"]},
    {"inputs": [{"text": "a", "id": 1, "context": ["b", {"speaker": "C", "text": "d"}]}]},
    {"conversation": [{"speaker": "A", "text": "a"}, "b"], "each": True, "model": "base"},
)  # fmt: skip
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1e308, 10**18, "", " ", "\0", "a" * 25_000, "\u202e\u200b\ud83d\ude00", "월요일", [], {},
    [[]], [None], {"text": None}, {"text": "a", "text ": "b"}, "../../etc/passwd", "<script>", ["a"] * 501, [["a"]],
)  # fmt: skip


@cache
def _app() -> Any:
    from deadpan.serve.app import create_app
    from deadpan.serve.server import ServeSettings, hash_key

    settings = ServeSettings(rate=0, encoder=False, reader="openai/none", base_url="http://127.0.0.1:9/v1")
    locked = replace(settings, keys=frozenset({hash_key(KEY)}))
    return (create_app(settings), create_app(locked)), asyncio.Runner()


def call(
    data: bytes, method: str, path: str, headers: list[tuple[bytes, bytes]], *, keys: bool = False
) -> tuple[int, dict[bytes, bytes], bytes]:
    """Call the application and return the status, headers and body of the answer."""
    apps, runner = _app()
    sent: list[Any] = []
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": data[:50],
        "headers": headers, "client": ("127.0.0.1", 1), "server": ("test", 80), "scheme": "http",
        "http_version": "1.1", "root_path": "",
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    runner.run(apps[keys](scope, receive, send))
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], dict(sent[0]["headers"]), body


def check(status: int, headers: dict[bytes, bytes], body: bytes, method: str) -> None:
    """Every answer has a known status, an id and its length; an error is JSON with words."""
    assert status in STATUSES, status
    assert b"x-request-id" in headers
    if status >= 400 and method != "HEAD":
        assert json.loads(body)["error"]["message"]
        assert int(headers[b"content-length"]) == len(body)


def raw(data: bytes) -> None:
    """Send damaged bytes: as the body, in the query and in the headers."""
    method, path = ADDRESSES[len(data) % len(ADDRESSES)]
    header = bytes(byte for byte in data[:40] if 32 <= byte < 127)
    headers = [(b"x-request-id", header), (b"authorization", header), (b"origin", header)]
    check(*call(data, method, path, headers, keys=bool(len(data) % 2)), method)


def fields(data: bytes) -> None:
    """Send valid JSON in which one to three values are replaced by odd ones, chosen by the bytes."""
    draw = random.Random(data)
    body = json.loads(json.dumps(draw.choice(BODIES)))
    for _ in range(draw.randint(1, 3)):
        _replace(body, draw)
    sent = json.dumps(body).encode()
    status, headers, answer = call(sent, "POST", "/v1/detect", [])
    check(status, headers, answer, "POST")
    if status == 200:
        found = json.loads(answer)["results"]
        assert found
        assert all(0 <= one["score"] <= 1 for one in found)


def _replace(value: Any, draw: random.Random) -> None:
    """Replace, repeat, rename or remove some value, here or further in."""
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = draw.choice(keys)
    if isinstance(value[key], dict | list) and value[key] and draw.random() < 0.7:
        _replace(value[key], draw)
        return
    kind = draw.randrange(4)
    if kind == 0:
        value[key] = [copy.deepcopy(value[key]) for _ in range(draw.randint(0, 5))]
    elif kind == 1 and isinstance(value, dict):
        value[draw.choice(("text", "texts", "x" * 90, "id"))] = value.pop(key)
    elif kind == 2:
        value.pop(key)
    else:
        value[key] = copy.deepcopy(draw.choice(ODD))  # or the next input would change it
