"""The files of KoCoSa (Kim et al. 2024): JSON, one object per column, keyed by row; turns are `A: words`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.formats.rows import json_document
from deadpan.records import Turn

_COLUMNS = ("Context", "Response", "Sarcasm_Label", "Sarcasm_Explanation")
_SPOKEN = re.compile(r"\s*([A-Z])\s*[:：]\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class KocosaRow:
    """One dialogue. `context` and `response` are None where the file has no text for them."""

    id: str
    context: str | None
    response: str | None
    label: object = None
    explanation: object = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The dialogue before the response."""
        return parse_turns(self.context or "")


def read_kocosa(path: Path, hint: str, columns: Sequence[str] = _COLUMNS) -> Iterator[KocosaRow]:
    """Yield the dialogues of a file; a file without the given columns is an error."""
    document = json_document(path, hint)
    content = document if isinstance(document, dict) else {}
    if not all(isinstance(content.get(name), dict) for name in columns):
        raise DataError(f"{path}:1: no columns {', '.join(columns)} in it; {hint}")
    parts: list[dict[str, Any]] = [column if isinstance(column := content.get(name), dict) else {} for name in _COLUMNS]
    context, response, label, explanation = parts
    for id in dict.fromkeys(key for column in parts for key in column):
        yield KocosaRow(id, _text(context.get(id)), _text(response.get(id)), label.get(id), explanation.get(id))


def parse_turns(text: str) -> tuple[Turn, ...]:
    """Return the turns of a dialogue, one per line."""
    return tuple(parse_turn(line) for line in text.split("\n") if line.strip())


def parse_turn(line: str) -> Turn:
    """Return `A: words` as a turn of A; a stage direction has no speaker."""
    spoken = _SPOKEN.fullmatch(line)
    return Turn(spoken[1], spoken[2].strip()) if spoken else Turn("", line.strip())


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
