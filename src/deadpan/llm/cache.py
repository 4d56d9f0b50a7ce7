"""A cache of answers on disk, each under a key made of everything that shapes it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args

from deadpan.llm.messages import Message, Reply, StopReason, Usage
from deadpan.llm.settings import LLMSettings
from deadpan.models import cache_root

log = logging.getLogger(__name__)

FORMAT = 1
CACHED = ("stop", "max_tokens")
"""Answers worth caching: complete ones, and ones cut off at max_tokens, which is part of the key. A refusal
or a provider's fault may not happen again."""


def cache_key(identity: str, settings: LLMSettings, messages: Sequence[Message], replicate: int) -> str:
    """Return the key of an answer. `identity` says which server, or which weights, give it."""
    parts = {
        "format": FORMAT,
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
            return _reply(entry["reply"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Cache an answer. A full disk is logged once and loses no answer that was paid for."""
        if reply.stop_reason not in CACHED or not reply.text.strip():
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


def _reply(value: dict[str, Any]) -> Reply:
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
