"""Dump files: which there are, and what they hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deadpan.corpus.decoders import PACKED
from deadpan.corpus.lines import open_lines
from deadpan.corpus.months import month_number
from deadpan.errors import ConfigError, DataError

Kind = Literal["comments", "posts"]

_NAMES: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("comments", re.compile(r"^RC_|_comments\b", re.IGNORECASE)),
    ("posts", re.compile(r"^RS_|_submissions\b", re.IGNORECASE)),
)
_MONTH = re.compile(r"^R[CS]_(\d{4}-\d{2})(?!\d)")


@dataclass(frozen=True, slots=True)
class Dump:
    """One file of comments or posts."""

    path: Path
    kind: Kind

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def packed(self) -> bool:
        return self.path.suffix in PACKED

    @property
    def named_month(self) -> int | None:
        """The month its name claims, such as 200901 of RC_2009-01.zst; what it holds is another matter."""
        found = _MONTH.match(self.path.name)
        try:
            return month_number(found[1]) if found else None
        except ConfigError:
            return None


def find_dumps(patterns: Sequence[str]) -> list[Dump]:
    """Files, folders of them and globs as dumps, in the order of their names, each once."""
    paths: dict[Path, Path] = {}
    for pattern in patterns:
        for path in _matching(pattern):
            paths.setdefault(path.resolve(), path)
    if not paths:
        asked = ", ".join(patterns) or "nothing"
        raise DataError(f"no dumps match {asked}: give RC_ and RS_ files, or the folder they are in")
    dumps = [Dump(path, _kind(path)) for path in sorted(paths.values(), key=lambda p: (p.name, str(p)))]
    if not any(dump.kind == "comments" for dump in dumps):
        raise DataError(f"only submissions in {', '.join(patterns)}: a corpus needs RC_ files of comments")
    return dumps


def _matching(pattern: str) -> list[Path]:
    path = Path(pattern)
    if path.is_dir():
        return [p for p in path.iterdir() if p.is_file() and p.name.startswith(("RC_", "RS_"))]
    if path.exists():
        return [path]
    root = path.anchor or "."
    return [found for found in Path(root).glob(str(path.relative_to(path.anchor))) if found.is_file()]


def _kind(path: Path) -> Kind:
    """By the name, else by what the first line has."""
    for kind, name in _NAMES:
        if name.search(path.name):
            return kind
    with open_lines(path) as lines:
        first = lines.head()
    if b'"body"' in first:
        return "comments"
    if b'"title"' in first:
        return "posts"
    raise DataError(f"{path}: not a dump: its first line is no comment and no submission in JSON")
