"""Vectors of texts on disk, so that a text is encoded once however often it is trained on."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from deadpan.models import cache_root
from deadpan.progress import Progress, silent

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
TOGETHER = 256
"""Texts encoded before what is known is written: a killed run repeats at most these."""
ASKED = 500


class VectorStore:
    """A table of (hash of a text, vector in half precision) of one encoder, shared by processes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, name: str) -> VectorStore:
        """Return the store of an encoder in the cache folder."""
        return cls(cache_root() / "vectors" / f"{name}.sqlite")

    def vectors(self, texts: Sequence[str], encode: Encode, progress: Progress = silent) -> Vectors:
        """Return one row per text; unknown texts are encoded, shortest first, and remembered."""
        keys = [_key(text) for text in texts]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path, timeout=60)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB)")
            known = _read(database, keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            order = sorted(missing, key=lambda key: len(missing[key]))
            for start in range(0, len(order), TOGETHER):
                progress("encoding texts", start, len(order))
                part = order[start : start + TOGETHER]
                rows = encode([missing[key] for key in part]).astype(np.float16)
                with database:
                    pairs = [(key, row.tobytes()) for key, row in zip(part, rows, strict=True)]
                    database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", pairs)
                known |= dict(zip(part, rows, strict=True))
        if not keys:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([known[key] for key in keys]).astype(np.float32)


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def _read(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float16]]:
    distinct = list(dict.fromkeys(keys))
    found: dict[bytes, NDArray[np.float16]] = {}
    for start in range(0, len(distinct), ASKED):
        part = distinct[start : start + ASKED]
        marks = ",".join("?" * len(part))
        rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
        found |= {bytes(key): np.frombuffer(vector, dtype=np.float16) for key, vector in rows}
    return found
