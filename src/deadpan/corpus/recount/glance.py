"""A glance at a line of a dump before it is parsed: most lines cannot be among those that are looked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Glance = Callable[[bytes], bool]
"""Returns whether a line may be wanted; false only if it certainly is not."""


def glance(names: Iterable[str], wanted: Iterable[str]) -> Glance:
    """Return a test whether a field of a line may be one of some ids or names, with or without t1_ or t3_.

    A line is not judged by a glance if it has escapes, or a field that is missing or not plain text.
    """
    plain = {word.removeprefix("t1_").removeprefix("t3_").encode() for word in wanted}
    fields = [
        (f'"{name}"'.encode(), re.compile(rf'"{name}"\s*:\s*"(?:t[13]_)?([^"\\]*)"'.encode()))
        for name in names
    ]

    def may_be(line: bytes) -> bool:
        if b"\\u" in line:
            return True
        for name, pattern in fields:
            found = pattern.findall(line)
            if not found or len(found) != line.count(name) or not plain.isdisjoint(found):
                return True
        return False

    return may_be
