"""A server on loopback that writes dialogues as a good model would, or fails as a bad day does.

The same question gets the same answer, from whichever start of a run it comes. Asyncio in a thread (or in a
process of its own, run as a script), so that it is faster than what is measured against it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

WORDS = [
    "the",
    "a",
    "and",
    "to",
    "of",
    "is",
    "it",
    "you",
    "I",
    "that",
    "in",
    "was",
    "for",
    "my",
    "we",
    "so",
    "on",
    "have",
    "this",
    "just",
    "with",
    "not",
    "are",
    "be",
    "your",
    "what",
    "do",
    "did",
    "kettle",
    "garden",
    "window",
    "ticket",
    "parcel",
    "kitchen",
    "ladder",
    "violin",
    "blanket",
    "candle",
    "harbour",
    "pepper",
    "saddle",
    "lantern",
    "basket",
    "mirror",
    "pillow",
    "rocket",
    "anchor",
    "button",
    "carpet",
    "feather",
    "hammer",
    "island",
    "jacket",
    "kitten",
    "lemon",
    "magnet",
    "needle",
    "orange",
    "pencil",
    "quilt",
    "ribbon",
    "spoon",
    "turnip",
    "umbrella",
    "velvet",
    "whistle",
    "yoghurt",
    "zipper",
    "balcony",
    "cabbage",
    "daisy",
]

Fault = Callable[[dict[str, Any], int], "tuple[int, bytes | str] | str | None"]
"""What goes wrong with a request seen for the n-th time: (status, body), "stall", "cut", or nothing."""


def stage_of(body: dict[str, Any]) -> str:
    """Which question a request asks, by its instructions."""
    told = body["messages"][0]["content"]
    for stage, mark in (
        ("dialogue", "completely new conversation"),
        ("abnormal", "that a machine wrote"),
        ("contrast", "sarcastic answer to its last line"),
        ("situation", "say in one line"),
        ("scene", "short everyday conversations"),
        ("response", "one sarcastic line"),
        ("mood", "go well or badly"),
        ("tone", "taken word for word"),
    ):
        if mark in told:
            return stage
    raise AssertionError(f"unknown prompt: {told[:60]}")


def name_of(body: dict[str, Any]) -> str:
    """A short name for a question, which its answer carries, so that the two can be told to belong together."""
    parts = [body["model"], body["messages"], body.get("seed")]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=8).hexdigest()


def answer(body: dict[str, Any]) -> str:
    """What a good model says."""
    name = name_of(body)
    draw = random.Random(name)
    stage = stage_of(body)

    def words(count: int) -> str:
        return " ".join(draw.choice(WORDS) for _ in range(count))

    if stage == "situation":
        return f"{words(2)} - {words(10)} {name}."
    if stage == "abnormal":
        return f"abnormal - the {words(6)} {name}" if draw.random() < 0.1 else f"normal - {words(5)} {name}"
    if stage == "contrast":
        asked = body["messages"][-1]["content"].splitlines()[-1].partition(": ")[2]
        return f"Sincere response: {asked} and I mean it."
    if stage == "mood":
        return "good" if "pleasant" in body["messages"][-1]["content"] else "bad"
    if stage == "tone":
        return "positive" if "lovely" in body["messages"][-1]["content"] else "negative"
    if stage == "response":
        return f"{draw.choice(['lovely', 'dull'])} {words(8)} {name}."
    turns = [f"{'AB'[place % 2]}: {words(9)}." for place in range(draw.choice((3, 4, 5)))]
    if stage == "scene":
        return "\n".join(turns)
    who = "AB"[len(turns) % 2]
    lines = [*turns, f"Explanation: Speaker {who} means the opposite {words(6)} {name}."]
    return "\n".join([*lines, f"Response ({who}): {words(12)}."])


class DialogueServer:
    """Answers /v1/chat/completions; `fault` may spoil an answer."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        self.asked: list[str] = []
        self.seen: Counter[str] = Counter()
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> DialogueServer:
        self._thread.start()
        self._ready.wait(10)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._connection, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = int(head.partition(b"content-length:")[2].split(b"\r\n", 1)[0])
                body = json.loads(await reader.readexactly(size))
                if not await self._respond(body, writer):
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return
        finally:
            writer.close()

    async def _respond(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Whether the connection may be used again."""
        name = name_of(body)
        self.asked.append(name)
        wrong = self.fault(body, self.seen[name]) if self.fault else None
        self.seen[name] += 1
        if wrong == "stall":
            await asyncio.sleep(30)
            return False
        status, text = wrong if isinstance(wrong, tuple) else (200, answer(body))
        payload = text if isinstance(text, bytes) else self._completion(text) if status == 200 else text.encode()
        declared = len(payload) + (50 if wrong == "cut" else 0)
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {declared}\r\n\r\n".encode()
            + payload
        )
        await writer.drain()
        return wrong != "cut"

    @staticmethod
    def _completion(text: str) -> bytes:
        return json.dumps(
            {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "writer-1",
                "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                "usage": {"prompt_tokens": 500, "completion_tokens": 80, "total_tokens": 580},
            }
        ).encode()


def sources(count: int) -> str:
    """So many different source dialogues, as JSON lines."""
    lines = []
    for number in range(count):
        draw = random.Random(number)
        turns = [
            {"speaker": "xy"[place % 2], "text": " ".join(draw.choice(WORDS) for _ in range(8))}
            for place in range(draw.choice((3, 5, 9)))
        ]
        topic = draw.choice(["food", "work", "home"])
        lines.append(json.dumps({"id": f"s{number:05}", "topic": topic, "intimacy": 3, "turns": turns}))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    with DialogueServer() as serving:
        sys.stdout.write(f"{serving.url}\n")
        sys.stdout.flush()
        sys.stdin.read()
