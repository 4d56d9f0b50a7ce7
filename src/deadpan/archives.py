"""Published files, plain or compressed (.gz, .bz2, .xz, .zip), opened alike; a truncated file is an error."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from deadpan.errors import DataError

ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
"""The library for Zstandard, which the standard library has from Python 3.14 on."""


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading its decompressed bytes; damage raises a DataError that names the file."""
    try:
        with _opened(path) as file:
            yield file
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder: give a file") from None
    except (EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, gzip.BadGzipFile) as bad:
        raise DataError(f"{path}: damaged or truncated ({bad}): download it again") from None
    except RuntimeError as bad:  # a zip with a password
        raise DataError(f"{path}: cannot be decompressed ({bad}): unpack it first") from None
    except OSError as bad:
        if bad.errno is None:  # bz2 reports bad data as an OSError without a number
            raise DataError(f"{path}: damaged or not the format of its suffix ({bad}): download it again") from None
        raise


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    suffix = path.suffix
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if not n.endswith("/") and not n.startswith("__MACOSX")]
            if len(names) != 1:
                raise DataError(f"{path}: contains {len(names)} files instead of one: unpack it first")
            with archive.open(names[0]) as member:
                yield member
        return
    openers: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
    if suffix in openers:
        with openers[suffix](path, "rb") as file:
            yield cast("IO[bytes]", file)
    else:
        with path.open("rb") as file:
            yield file


def blocks(file: IO[bytes], size: int = 1 << 20) -> Iterator[bytes]:
    """Yield a file in blocks, decompressing the next block in a second thread while one is in use.

    Most files are smaller than two blocks, and need no thread.
    """
    for _ in range(2):
        if not (block := file.read(size)):
            return
        yield block
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(file.read, size)
        while block := ahead.result():
            ahead = reader.submit(file.read, size)
            yield block
