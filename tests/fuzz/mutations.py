"""Inputs made from seeds by small damages, the same for the same number."""

from __future__ import annotations

import random

TOKENS = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b",", b"\t", b"\n", b"\r\n", b"{", b"}", b"[", b"]", b":",
    b"null", b"true", b"NaN", b"1e999", b"-1", b"9" * 30, b"\\ud800", "월요일".encode(), "é".encode("cp1252"), b"A: ",
    b"[" * 2000, b" " * 500, b"=1+1", b"<script>", b"../", b"%s%n", "\u202e\u200b".encode(), b"\x1b[31m", b"a" * 3000,
)  # fmt: skip


def damaged(seeds: list[bytes], number: int) -> bytes:
    """Return input number N: a seed with one to six damages."""
    draw = random.Random(number)
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.randint(1, 6)):
        at = draw.randint(0, len(data))
        end = min(len(data), at + draw.randint(0, 20))
        kind = draw.randrange(6)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = draw.choice(TOKENS)
        elif kind == 3:
            data[at:at] = data[at:end] * draw.randint(1, 3)
        elif kind == 4:
            other = draw.choice(seeds)
            data[at:end] = other[draw.randint(0, len(other)) :][: draw.randint(0, 60)]
        else:
            del data[at:]
    return bytes(data[:50_000])
