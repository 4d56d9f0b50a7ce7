"""Calls as a journal keeps them: what was sent, what came back, what it cost."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from deadpan.errors import DataError
from deadpan.journal import Journal
from deadpan.llm.messages import Message, Reply, StopReason, Usage
from deadpan.llm.settings import LLMSettings


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One attempt at a call. With an `error` there is no answer.

    `request` is the body as it was sent. With `cached`, the answer came from the cache: nothing was sent now.
    """

    tag: str = ""
    replicate: int = 0
    request: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    stop_reason: StopReason = "other"
    model: str = ""
    usage: Usage | None = None
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    unsupported: tuple[str, ...] = ()
    error: str = ""
    at: str = ""
    first_tokens: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, reply: Reply, *, tag: str, replicate: int, request: Mapping[str, Any]) -> CallRecord:
        """Return the record of an answered call."""
        return cls(
            tag,
            replicate,
            request,
            reply.text,
            reply.stop_reason,
            reply.model,
            reply.usage,
            reply.cost,
            round(reply.seconds, 4),
            reply.cached,
            reply.unsupported,
            at=now(),
            first_tokens=reply.first_tokens,
        )

    def reply(self) -> Reply:
        """Return the answer of this call, marked as cached."""
        return Reply(
            self.text,
            self.stop_reason,
            self.usage,
            self.cost,
            self.seconds,
            self.model,
            cached=True,
            unsupported=self.unsupported,
            first_tokens=self.first_tokens,
        )


_BLANK = CallRecord()


def call_key(settings: LLMSettings, messages: Sequence[Message], replicate: int, tag: str = "") -> str:
    """Return the key of a call: everything that shapes its answer, and the tag.

    The server's address is not part of it, because a server may move between two starts of a run.
    """
    parts = [settings.model, settings.sampling(), list(messages), replicate, tag]
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(canonical.encode(), digest_size=20).hexdigest()


def record_call(journal: Journal, key: str, record: CallRecord, paid: float = 0.0) -> None:
    """Append a finished attempt; an answered one settles its key. Fields with default values are left out."""
    row: dict[str, Any] = {}
    for name in CallRecord.__slots__:
        if (value := getattr(record, name)) != getattr(_BLANK, name):
            row[name] = dataclasses.asdict(value) if isinstance(value, Usage) else value
    journal.append(key, row, final=not record.error, paid=paid)


def find_call(journal: Journal, key: str) -> CallRecord | None:
    """Return the answered call under a key."""
    row = journal.find(key)
    return None if row is None else _record(row, journal)


def read_calls(journal: Journal) -> Iterator[CallRecord]:
    """Yield every attempt in a journal, failed ones included, oldest first."""
    for _, row in journal.records():
        yield _record(row, journal)


def now() -> str:
    """Return the present time, to the second, as UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _record(row: dict[str, Any], journal: Journal) -> CallRecord:
    try:
        usage = row.get("usage")
        return CallRecord(
            **{
                **row,
                "usage": None if usage is None else Usage(**usage),
                "unsupported": tuple(row.get("unsupported", ())),
            }
        )
    except TypeError as bad:
        raise DataError(f"{journal.path}: not a journal of calls ({bad}): move the file away") from None
