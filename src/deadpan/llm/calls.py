"""Calls as they are kept: attempts in a journal, and answers in a cache on disk."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

from deadpan.errors import DataError
from deadpan.journal import Journal
from deadpan.llm.messages import Message, Reply, StopReason, Usage
from deadpan.llm.settings import LLMSettings
from deadpan.models import cache_root


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
        same = {name: getattr(reply, name) for name in _SHARED} | {"seconds": round(reply.seconds, 4)}
        return cls(**same, tag=tag, replicate=replicate, request=request, at=now())

    def reply(self) -> Reply:
        """Return the answer of this call, marked as cached."""
        return Reply(**{name: getattr(self, name) for name in _SHARED} | {"cached": True})


_SHARED = (
    "text", "stop_reason", "usage", "cost", "seconds", "model", "cached", "unsupported", "first_tokens",
)  # fmt: skip
"""Fields that a record and a reply have in common."""
_BLANK = CallRecord()


def call_key(settings: LLMSettings, messages: Sequence[Message], replicate: int, tag: str = "") -> str:
    """Return the key of a call: everything that shapes its answer, and the tag.

    The server's address is not part of it, because a server may move between two starts of a run.
    """
    parts = [settings.model, settings.sampling(), list(messages), replicate, tag]
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(canonical.encode(), digest_size=20).hexdigest()


_RESERVED = "reserved"


def reserve_call(journal: Journal, key: str, tag: str, cost: float) -> None:
    """Count a call at what it may cost before it is sent, or with a negative cost take that back.

    A call that was in flight when the program was killed stays counted: the server may have charged for it.
    """
    journal.append(key, {"tag": tag, _RESERVED: cost}, final=False, paid=cost)


def reservations(journal: Journal) -> dict[str, float]:
    """Return what is reserved for each call that was sent and never ended, by its key."""
    reserved: dict[str, float] = defaultdict(float)
    for key, row in journal.records():
        reserved[key] += row.get(_RESERVED, 0.0)
    return reserved


def lost_cost(journal: Journal) -> tuple[int, float]:
    """Return the number of calls that were sent but never ended, and what they may have cost at most."""
    reserved = [row[_RESERVED] for _, row in journal.records() if _RESERVED in row]
    return sum(1 if cost > 0 else -1 for cost in reserved), max(0.0, sum(reserved))


def record_call(journal: Journal, key: str, record: CallRecord, paid: float = 0.0, reserved: float = 0.0) -> None:
    """Append a finished attempt; an answered one settles its key, and what was reserved for it.

    Fields with default values are left out.
    """
    row: dict[str, Any] = {_RESERVED: -reserved} if reserved else {}
    for name in CallRecord.__slots__:
        if (value := getattr(record, name)) != getattr(_BLANK, name):
            row[name] = dataclasses.asdict(value) if isinstance(value, Usage) else value
    journal.append(key, row, final=not record.error, paid=paid - reserved)


def find_call(journal: Journal, key: str) -> CallRecord | None:
    """Return the answered call under a key."""
    row = journal.find(key)
    return None if row is None else _record(row, journal)


def read_calls(journal: Journal) -> Iterator[CallRecord]:
    """Yield every attempt in a journal, failed ones included, oldest first."""
    for _, row in journal.records():
        if row.keys() != {"tag", _RESERVED}:
            yield _record(row, journal)


def now() -> str:
    """Return the present time, to the second, as UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _record(row: dict[str, Any], journal: Journal) -> CallRecord:
    try:
        usage = row.get("usage")
        return CallRecord(
            **{
                **{name: value for name, value in row.items() if name != _RESERVED},
                "usage": None if usage is None else Usage(**usage),
                "unsupported": tuple(row.get("unsupported", ())),
            }
        )
    except TypeError as bad:
        raise DataError(f"{journal.path}: not a journal of calls ({bad}): move the file away") from None


log = logging.getLogger(__name__)

_CACHE_FORMAT = 1
_CACHED_STOPS = ("stop", "max_tokens")
"""Answers worth caching: complete ones, and ones cut off at max_tokens, which is part of the key. A refusal
or a provider's fault may not happen again."""


def cache_key(identity: str, settings: LLMSettings, messages: Sequence[Message], replicate: int) -> str:
    """Return the key of an answer. `identity` says which server, or which weights, give it."""
    parts = {
        "format": _CACHE_FORMAT,
        "model": settings.model,
        "from": identity,
        "messages": list(messages),
        "sampling": settings.sampling(),
        "replicate": replicate,
    }
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.blake2b(canonical.encode("ascii"), digest_size=32).hexdigest()


class Cache:
    """One small file per answer. A damaged file counts as absent."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else cache_root() / "llm"
        self._complained = False

    def get(self, key: str) -> Reply | None:
        """Return the answer under a key, or None if it is absent or damaged."""
        try:
            entry = json.loads(self._path(key).read_bytes())
            if entry["check"] != _check(key, entry["reply"]):
                return None
            return _cached_reply(entry["reply"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Cache an answer. A full disk is logged once and loses no answer that was paid for."""
        if reply.stop_reason not in _CACHED_STOPS or not reply.text.strip():
            return
        value = dataclasses.asdict(dataclasses.replace(reply, cached=False))
        path = self._path(key)
        text = json.dumps({"check": _check(key, value), "reply": value})
        try:
            try:
                _write(path, text)
            except FileNotFoundError:  # the first answer in this folder
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, text)
        except OSError as bad:
            if not self._complained:
                log.warning("answers are not being cached in %s: %s", self.folder, bad)
            self._complained = True

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key[2:]}.json"


def _write(path: Path, text: str) -> None:
    """Write under a temporary name first: threads and processes may cache the same answer at once."""
    temporary = path.with_name(f".{os.getpid()}-{threading.get_ident()}-{path.stem[:16]}.tmp")
    try:
        temporary.write_text(text, encoding="ascii")
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _check(key: str, value: Any) -> str:
    """Return a checksum of an answer and its key: a flipped bit or a moved file does not pass."""
    canonical = json.dumps([key, value], sort_keys=True)
    return hashlib.blake2b(canonical.encode("ascii"), digest_size=16).hexdigest()


def _cached_reply(value: dict[str, Any]) -> Reply:
    usage = value["usage"]
    if value["stop_reason"] not in get_args(StopReason) or not isinstance(value["text"], str):
        raise ValueError("not a reply")
    return Reply(
        **{
            **value,
            "usage": None if usage is None else Usage(**usage),
            "retried": tuple(value["retried"]),
            "cached": True,
        }
    )
