"""A server that truncates, stalls, fails, talks rubbish and refuses, and keeps its own record of all of it.

Run as a script it serves until killed: `python bench_server.py faults|plain`; it prints its address, and its
record on GET /record.
"""

from __future__ import annotations

import json
import sys
import threading
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SHARES = {
    "429": 0.03, "500": 0.03, "garbage": 0.02, "empty": 0.02, "no choices": 0.02, "stall": 0.004,
    "filter 400": 0.02, "refusal": 0.02, "truncate": 0.08, "unread": 0.04, "no content": 0.02,
}  # fmt: skip
FINAL = {"filter 400", "refusal", "unread", "no content", "letter"}
"""Outcomes after which a client has its answer; a truncated one is final only at the largest limit."""


def number(*parts: object) -> float:
    digest = blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


class FaultServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, shares: dict[str, float]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.shares = shares
        self.record: list[dict] = []
        self.lock = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def decide(self, prompt: str, limit: int, times: int) -> str:
        """What this request gets: another draw each time the same thing is asked."""
        draw = number(prompt, limit, times)
        for kind, share in self.shares.items():
            draw -= share
            if draw < 0:
                return kind
        return "letter"

    def handle_error(self, request, client_address) -> None:
        """A client that gave up is part of the test."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: FaultServer

    def do_GET(self) -> None:
        self.reply(200, self.server.record)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt, limit = body["messages"][-1]["content"], body["max_tokens"]
        server = self.server
        with server.lock:
            times = sum(each["prompt"] == prompt and each["limit"] == limit for each in server.record)
            kind = server.decide(prompt, limit, times)
            letter = "ABCDEF"[int(6 * number("letter", prompt, times))]
            server.record.append({"prompt": prompt, "limit": limit, "kind": kind, "letter": letter})
        self.act(kind, letter, limit)

    def act(self, kind: str, letter: str, limit: int) -> None:
        if kind == "429":
            self.reply(429, {"error": {"message": "slow down", "type": "rate_limit"}})
        elif kind == "500":
            self.reply(500, {"error": {"message": "oh no"}})
        elif kind == "garbage":
            self.send(200, b"<html>not json", "application/json")
        elif kind == "empty":
            self.send(200, b"", "application/json")
        elif kind == "no choices":
            self.reply(200, {**completion("", "stop"), "choices": []})
        elif kind == "stall":
            self.server.over.wait(60)
            self.close_connection = True
        elif kind == "filter 400":
            self.reply(400, {"error": {"message": "no", "code": "content_filter", "type": "invalid_request_error"}})
        elif kind == "refusal":
            self.reply(200, completion("", "content_filter"))
        elif kind == "truncate":
            self.reply(200, completion("Let me think. The speaker", "length", limit))
        elif kind == "unread":
            self.reply(200, completion("Final Answer: all of them"))
        elif kind == "no content":
            self.reply(200, completion(""))
        else:
            self.reply(200, completion(f"Final Answer: {letter}"))

    def reply(self, status: int, value: object) -> None:
        self.send(status, json.dumps(value).encode(), "application/json")

    def send(self, status: int, payload: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Not into the test's output."""


def completion(text: str, finish: str = "stop", tokens: int = 5) -> dict:
    return {
        "id": "x", "object": "chat.completion", "created": 0, "model": "fault-1",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": tokens, "total_tokens": 100 + tokens},
    }  # fmt: skip


if __name__ == "__main__":
    chosen = SHARES if sys.argv[1:] == ["faults"] else {"truncate": 0.2}
    server = FaultServer(chosen)
    sys.stdout.write(server.url + "\n")
    sys.stdout.flush()
    server.serve_forever()
