"""A server on loopback that answers, or fails to, as a test tells it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[[Any], None]


def completion(text: str | None = "Sure.", finish: str | None = "stop", **message: Any) -> dict[str, Any]:
    """The JSON of an answer."""
    return {
        "model": "gpt-4o-mini-2024-07-18",
        "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 0}},
    }


def send(status: int, body: Any, declared: int | None = None, **headers: str) -> Act:
    """Answer with a status and a body: JSON, or bytes as they are; `declared` lies about their number."""

    def act(handler: BaseHTTPRequestHandler) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(declared or len(payload)))
        handler.end_headers()
        handler.wfile.write(payload)
        if declared:
            handler.wfile.flush()
            hang_up(handler)

    return act


def ok(text: str | None = "Sure.", finish: str | None = "stop", **message: Any) -> Act:
    """Answer as a model does."""
    return send(200, completion(text, finish, **message))


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without a word more."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def stall(handler: Any) -> None:
    """Say nothing until the test is over."""
    handler.server.over.wait(10)


class Script(ThreadingHTTPServer):
    """Plays acts in the order requests come; the last one is played again and again."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.acts: list[Act] = [ok()]
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.now = self.most = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is part of some tests."""


@contextmanager
def served() -> Iterator[Script]:
    """A script that plays on a thread of its own until the block ends."""
    script = Script()
    thread = threading.Thread(target=script.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        script.over.set()
        script.shutdown()
        thread.join()
        script.server_close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet, or every answer waits 40 ms for an acknowledgement
    server: Script
    asked = ""

    def do_POST(self) -> None:
        script = self.server
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked = body["messages"][-1]["content"] if "messages" in body else body["input"]
        with script.lock:
            script.requests.append(body)
            script.keys.append(self.headers.get("Authorization"))
            act = script.acts.pop(0) if len(script.acts) > 1 else script.acts[0]
            script.now += 1
            script.most = max(script.most, script.now)
        try:
            act(self)
        finally:
            with script.lock:
                script.now -= 1

    def log_message(self, format: str, *args: Any) -> None:
        """Not into the test's output."""
