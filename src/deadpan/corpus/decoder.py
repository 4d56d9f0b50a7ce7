"""python -m deadpan.corpus.decoder .zst < file > lines: unpacks where the usual program is not installed.

A file that ends early is an error here too, which Python's zstandard reader alone would not notice.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from typing import IO, Any, cast

from deadpan.errors import DataError, need

BLOCK = 1 << 20
WINDOW = 1 << 31


def decoded(suffix: str, source: IO[bytes]) -> Iterator[bytes]:
    """The plain bytes of a packed stream, block by block."""
    if suffix == ".zst":
        yield from _zstd(source)
        return
    opened: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
    try:
        with opened[suffix](source, "rb") as file:
            while block := file.read(BLOCK):
                yield block
    except (EOFError, OSError, lzma.LZMAError, zlib.error) as bad:
        raise DataError(str(bad)) from None


def _zstd(source: IO[bytes]) -> Iterator[bytes]:
    """Frame by frame, so that a frame without its end is seen."""
    library = need("zstandard", "corpus")
    unpack = library.ZstdDecompressor(max_window_size=WINDOW)
    frame, inside = unpack.decompressobj(), False
    while block := source.read(BLOCK):
        while block:
            try:
                yield frame.decompress(block)
            except library.ZstdError as bad:
                raise DataError(str(bad)) from None
            inside, block = not frame.eof, frame.unused_data if frame.eof else b""
            if frame.eof:
                frame = unpack.decompressobj()
    if inside:
        raise DataError("premature end")


def main() -> int:
    """Standard input to standard output; 1 and one line on standard error if the file is damaged."""
    try:
        for block in decoded(sys.argv[1], cast("IO[bytes]", sys.stdin.buffer)):
            sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()
    except DataError as bad:
        sys.stderr.write(f"{bad}\n")
        return 1
    except BrokenPipeError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
