"""Small dumps for tests: comments as lines, in every compression."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from deadpan.corpus.lines import open_lines


def comment(id: str, **fields: object) -> bytes:
    row = {"id": id, "body": "fine", "author": "ann", "created_utc": 1262304000, "parent_id": "t3_p", "link_id": "t3_p"}
    return json.dumps(row | fields).encode() + b"\n"


LINES = b"".join(comment(f"c{n}", body=f"number {n} {'x' * 50}") for n in range(4_000))


def zst(data: bytes) -> bytes:
    if not shutil.which("zstd"):
        pytest.skip("no zstd program to pack with")
    return subprocess.run(["zstd", "-qc", "--long=31"], input=data, capture_output=True, check=True).stdout


PACK: dict[str, Callable[[bytes], bytes]] = {
    ".zst": zst, ".bz2": bz2.compress, ".gz": gzip.compress, ".xz": lzma.compress, "": bytes,
}  # fmt: skip


def read_all(path: Path) -> tuple[bytes, str]:
    with open_lines(path) as lines:
        data = b"".join(lines.blocks())
        return data, lines.decoder.damage
