"""A server with the batch interfaces of OpenAI and Anthropic, and a record of every call it was sent.

Run as a script it serves until killed: `python batch_server.py`; it prints its address, its record is at GET /record.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bench_server import number

Outcome = str
"""letter, truncate, refusal, expired, overloaded, rejected or lost: what becomes of a call."""


class BatchServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self, decide: Callable[[str, int, int], Outcome] = lambda prompt, limit, times: "letter", polls: int = 2
    ) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.decide, self.polls = decide, polls
        """What a prompt gets at a limit, the nth time it is asked; how often a batch is looked at before it ends."""
        self.record: list[dict] = []
        self.headers: list[dict] = []
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict] = {}
        self.failing = ""
        self.held = False
        self.garbled = ""
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address) -> None:
        """A client that was killed is part of the test."""

    def outcome(self, name: str, params: dict) -> tuple[Outcome, str]:
        prompt = params["messages"][-1]["content"]
        limit = params.get("max_tokens") or params.get("max_completion_tokens")
        times = sum(each["prompt"] == prompt and each["limit"] == limit for each in self.record)
        self.record.append({"name": name, "prompt": prompt, "limit": limit, "params": params})
        return self.decide(prompt, limit, times), "ABCDEF"[int(6 * number("letter", prompt, name))]

    def add(self, lines: list[str]) -> str:
        batch = f"batch_{len(self.batches)}"
        self.batches[batch] = {"lines": lines, "looks": 0}
        return batch

    def ended(self, batch: str) -> bool:
        self.batches[batch]["looks"] += 1
        return not self.held and self.batches[batch]["looks"] > self.polls


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: BatchServer

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.headers.append(dict(self.headers))
            self.act(self.path.removeprefix("/v1/").split("/"), b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.headers.append(dict(self.headers))
            self.act(self.path.removeprefix("/v1/").split("/"), body)

    def act(self, words: list[str], body: bytes) -> None:
        server = self.server
        match words:
            case ["", "record"]:
                self.reply({"calls": server.record, "batches": len(server.batches)})
            case ["files"]:
                name = f"file_{len(server.files)}"
                lines = [line for line in body.decode().splitlines() if line.startswith('{"custom_id"')]
                server.files[name] = "\n".join(lines)
                self.reply({"id": name, "object": "file", "purpose": "batch"})
            case ["files" | "messages", *_, "content" | "results"] if server.garbled == "results":
                server.garbled = ""
                self.send(b'{"custom_id": "cut o')
            case [*_, "files" | "batches"] if server.garbled == "sending" and body:
                server.garbled = ""
                self.reply([])
            case ["files", name, "content"]:
                self.send(server.files[name].encode())
            case ["batches"]:
                lines = [
                    self.openai(json.loads(line))
                    for line in server.files[json.loads(body)["input_file_id"]].split("\n")
                ]
                batch = server.add(lines)
                server.files[f"out_{batch}"] = "\n".join(line for line in lines if '"error": null' in line)
                server.files[f"err_{batch}"] = "\n".join(line for line in lines if '"error": null' not in line)
                self.reply(self.state(batch, "validating"))
            case ["batches", batch] | ["messages", "batches", batch] if batch not in server.batches:
                self.reply({"error": {"message": f"no batch {batch}"}}, 404)
            case ["batches", batch]:
                self.reply(
                    self.state(
                        batch, "failed" if server.failing else "completed" if server.ended(batch) else "in_progress"
                    )
                )
            case ["messages", "batches"]:
                lines = [self.anthropic(each) for each in json.loads(body)["requests"]]
                self.reply({"id": server.add(lines), "processing_status": "in_progress"})
            case ["messages", "batches", batch]:
                self.reply({"id": batch, "processing_status": "ended" if server.ended(batch) else "in_progress"})
            case ["messages", "batches", batch, "results"]:
                self.send("\n".join(line for line in server.batches[batch]["lines"] if line).encode())

    def state(self, batch: str, status: str) -> dict:
        files = {"output_file_id": f"out_{batch}", "error_file_id": f"err_{batch}"} if status == "completed" else {}
        errors = {"data": [{"message": self.server.failing}]} if status == "failed" else None
        return {"id": batch, "object": "batch", "status": status, "errors": errors, **files}

    def openai(self, line: dict) -> str:
        kind, letter = self.server.outcome(line["custom_id"], line["body"])
        if kind in ("expired", "lost"):
            error = {
                "code": "batch_expired",
                "message": "This request could not be executed before the completion window expired.",
            }
            return (
                "" if kind == "lost" else json.dumps({"custom_id": line["custom_id"], "response": None, "error": error})
            )
        if kind in ("overloaded", "rejected"):
            said = {"overloaded": (503, {"message": "overloaded"}),
                    "rejected": (400, {"message": "Unsupported value: 'temperature'", "code": "unsupported_value", "param": "temperature"})}  # fmt: skip
            status, error = said[kind]
            return json.dumps(
                {
                    "custom_id": line["custom_id"],
                    "response": {"status_code": status, "body": {"error": error}},
                    "error": None,
                }
            )
        text, finish = {"truncate": ("Let me think", "length"), "refusal": ("", "content_filter")}.get(
            kind, (f"Final Answer: {letter}", "stop")
        )
        body = {"model": "m-1", "choices": [{"finish_reason": finish, "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 5}}  # fmt: skip
        return json.dumps(
            {"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}, "error": None}
        )

    def anthropic(self, call: dict) -> str:
        kind, letter = self.server.outcome(call["custom_id"], call["params"])
        errors = {
            "overloaded": ("overloaded_error", "busy"),
            "rejected": ("invalid_request_error", "temperature: not supported"),
        }
        if kind == "lost":
            return ""
        if kind == "expired":
            return json.dumps({"custom_id": call["custom_id"], "result": {"type": "expired"}})
        if kind in errors:
            error = dict(zip(("type", "message"), errors[kind], strict=True))
            return json.dumps(
                {
                    "custom_id": call["custom_id"],
                    "result": {"type": "errored", "error": {"type": "error", "error": error}},
                }
            )
        text, stop = {"truncate": ("Let me think", "max_tokens"), "refusal": ("", "refusal")}.get(
            kind, (f"Final Answer: {letter}", "end_turn")
        )
        message = {"model": "claude-1", "content": [{"type": "text", "text": text}], "stop_reason": stop,
                   "usage": {"input_tokens": 100, "output_tokens": 5}}  # fmt: skip
        return json.dumps({"custom_id": call["custom_id"], "result": {"type": "succeeded", "message": message}})

    def reply(self, value: object, status: int = 200) -> None:
        self.send(json.dumps(value).encode(), status)

    def send(self, payload: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        """Not into the test's output."""


@contextmanager
def batch_server(**settings) -> Iterator[BatchServer]:
    """A server on a thread of its own until the block ends."""
    server = BatchServer(**settings)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    server = BatchServer(polls=int(sys.argv[1]))
    sys.stdout.write(server.url + "\n")
    sys.stdout.flush()
    server.serve_forever()
