"""Every finished call of a run, on disk as it ends: a call that was answered is never made again.

The cache of `deadpan.llm` serves all runs and may be off, cleared or full; this belongs to one run, keeps
refusals too, and a disk that takes no more of it stops the run rather than spend on.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.llm import Message, Reply, Settings

NAME = ".calls.sqlite"
_TABLE = """
CREATE TABLE IF NOT EXISTS calls (
  key BLOB PRIMARY KEY, text TEXT NOT NULL, stop TEXT NOT NULL, model TEXT NOT NULL,
  taken INTEGER NOT NULL, given INTEGER NOT NULL, cost INTEGER, paid INTEGER NOT NULL
) WITHOUT ROWID
"""
MICRO = 1_000_000


@dataclass(frozen=True, slots=True)
class Said:
    """What a call brought. `cost` is in millionths of a dollar, None where the price is not known."""

    text: str
    stop: str
    model: str = ""
    taken: int = 0
    given: int = 0
    cost: int | None = None


def call_key(settings: Settings, messages: Sequence[Message], replicate: int) -> bytes:
    """A name for a call: what shapes its answer. Not the server's address, which may move meanwhile."""
    parts = [settings.model, settings.sampling(), list(messages), replicate]
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(canonical.encode(), digest_size=20).digest()


class Ledger:
    """A table of calls in the run's folder. Safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        self.path = Path(folder) / NAME
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            # Written at once and whole, but not forced to the platter: a killed process loses nothing.
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
        except sqlite3.DatabaseError as bad:
            raise self._unusable(bad) from None

    def get(self, key: bytes) -> Said | None:
        """What a call brought, if it was made."""
        rows = self._do("SELECT text, stop, model, taken, given, cost FROM calls WHERE key = ?", (key,))
        return Said(*rows[0]) if rows else None

    def put(self, key: bytes, said: Said, paid: int) -> None:
        """Keep a call that has ended. `paid` is 0 where the answer came from the cache."""
        row = (key, said.text, said.stop, said.model, said.taken, said.given, said.cost, paid)
        self._do("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    @property
    def paid(self) -> float:
        """US dollars this run has paid for, over all its starts."""
        return int(self._do("SELECT COALESCE(SUM(paid), 0) FROM calls")[0][0]) / MICRO

    @property
    def calls(self) -> int:
        return int(self._do("SELECT COUNT(*) FROM calls")[0][0])

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _do(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall()
        except sqlite3.DatabaseError as bad:
            raise self._unusable(bad) from None

    def _unusable(self, bad: sqlite3.DatabaseError) -> DataError:
        if "full" in str(bad) or "I/O" in str(bad):
            return DataError(
                f"{self.path}: cannot be written ({bad}), the disk may be full; finished calls are kept: "
                f"make room and continue with --resume"
            )
        return DataError(f"{self.path}: {bad}; if it is damaged, delete it: the cache still has its answers")


def as_said(reply: Reply) -> Said:
    """The lasting part of a reply: how long it took and how often it was tried are not."""
    usage = reply.usage
    return Said(
        reply.text,
        reply.stop_reason,
        reply.model,
        usage.input_tokens if usage else 0,
        usage.output_tokens if usage else 0,
        None if reply.cost is None else round(reply.cost * MICRO),
    )
