"""An append-only log that survives kill -9: JSON records under keys, in one SQLite file.

SQLite in WAL mode hands every record to the operating system before `append` returns, so a killed process
loses nothing; only a power failure may lose the last moments. Records are never changed: a later record
under the same key is a further line of its history.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from deadpan.errors import DataError

_TABLE = """
CREATE TABLE IF NOT EXISTS entries (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, final INTEGER NOT NULL, paid INTEGER NOT NULL,
  record TEXT NOT NULL
)
"""
_INDEX = "CREATE INDEX IF NOT EXISTS entries_key ON entries (key)"
_ADD = "INSERT INTO entries (key, final, paid, record) VALUES (?, ?, ?, ?)"
_FIND = "SELECT record FROM entries WHERE key = ? AND final ORDER BY id DESC LIMIT 1"
_PAGE = "SELECT id, key, record FROM entries WHERE id > ? ORDER BY id LIMIT ?"
NANO = 1_000_000_000
"""Money is stored in billionths of a dollar: whole numbers add up exactly."""
PAGE = 1_000


class Journal:
    """A log of finished work in one file. Safe to use from several threads; a context manager.

    `private` makes a new file readable by its owner only.
    """

    def __init__(self, path: Path, *, private: bool = False) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            if private:  # before SQLite opens it: its -wal and -shm files get the same permissions
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(_TABLE)
            self._db.execute(_INDEX)
        except OSError as bad:
            raise DataError(f"{self.path}: cannot be opened ({bad.strerror}): check the folder") from None
        except sqlite3.Error as bad:
            raise self._error(bad) from None

    def append(self, key: str, record: Mapping[str, Any], *, final: bool = True, paid: float = 0.0) -> None:
        """Add a record. `final` says that the work under `key` is done; `paid` is its price in US dollars."""
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        # Half a character (a lone surrogate) fits JSON but not SQLite's UTF-8: escape it.
        text = text if text.isprintable() or _encodable(text) else json.dumps(record, separators=(",", ":"))
        self._execute(_ADD, (key, int(final), round(paid * NANO), text))

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the final record under a key, the last if there are several."""
        rows = self._execute(_FIND, (key,))
        return self._decode(rows[0][0]) if rows else None

    def records(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (key, record) of everything appended, oldest first, a page at a time."""
        last = 0
        while rows := self._execute(_PAGE, (last, PAGE)):
            for _, key, record in rows:
                yield key, self._decode(record)
            last = rows[-1][0]

    @property
    def paid(self) -> float:
        """US dollars paid for everything in the journal, over all starts of the run."""
        return int(self._execute("SELECT COALESCE(SUM(paid), 0) FROM entries")[0][0]) / NANO

    def __len__(self) -> int:
        """Return the number of final records."""
        return int(self._execute("SELECT COUNT(*) FROM entries WHERE final")[0][0])

    def __bool__(self) -> bool:
        """Return True: a journal without records is still a journal."""
        return True

    def __repr__(self) -> str:
        return f"Journal({str(self.path)!r})"

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _decode(self, text: str) -> dict[str, Any]:
        try:
            record = json.loads(text)
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise DataError(f"{self.path}: a record is damaged: move the file away to start over")
        return record

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            with self._lock:
                return self._db.execute(statement, values).fetchall()
        except sqlite3.Error as bad:
            raise self._error(bad) from None

    def _error(self, bad: sqlite3.Error) -> DataError:
        if "full" in str(bad) or "I/O" in str(bad):
            return DataError(
                f"{self.path}: cannot be written ({bad}), the disk may be full: free space and "
                f"resume the run; finished calls are kept"
            )
        return DataError(f"{self.path}: {bad}: if the file is damaged, move it away to start over")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
