"""Decompression of dumps, in this process; a truncated or damaged file is always detected."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

from deadpan.archives import ZSTD
from deadpan.errors import need, reason_of

BLOCK = 1 << 20
WINDOW_LOG = 31
WINDOW = 1 << WINDOW_LOG  # the zstd window that dumps are compressed with: 2 GiB; a larger one is damage


@dataclass(slots=True)
class Decoder:
    """Decompressed bytes of a file; `damage` says what is wrong with it, once they end."""

    stream: Any
    errors: tuple[type[Exception], ...]
    damage: str = ""

    def readinto(self, view: memoryview) -> int:
        """Read into memory and return the number of bytes; 0 at the end."""
        if self.damage:
            return 0
        try:
            return int(self.stream.readinto1(view))  # one read: bytes before an error are not lost
        except self.errors as bad:
            self.damage = reason_of(bad)
            return 0


def _open_zst(source: IO[bytes]) -> Any:
    zstd = need(ZSTD, "corpus")
    return zstd.ZstdFile(source, options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})


def _zst_errors() -> tuple[type[Exception], ...]:
    return (EOFError, need(ZSTD, "corpus").ZstdError)


@contextmanager
def open_decoder(source: IO[bytes], suffix: str) -> Iterator[Decoder]:
    """Open a decoder for a file by its suffix in lower case."""
    opened, errors = FORMATS.get(suffix, (io.BufferedReader, tuple))
    with opened(source) as stream:
        yield Decoder(stream, errors())


FORMATS: dict[str, tuple[Callable[[IO[bytes]], Any], Callable[[], tuple[type[Exception], ...]]]] = {
    ".zst": (_open_zst, _zst_errors),
    ".bz2": (bz2.open, lambda: (EOFError, OSError)),
    ".xz": (lzma.open, lambda: (EOFError, lzma.LZMAError)),
    ".gz": (gzip.open, lambda: (EOFError, OSError, zlib.error)),
}
