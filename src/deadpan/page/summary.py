"""Tables and notes of a result: alike on a terminal, in a notebook and on a page; here as plain text.

Columns are aligned where they fit the terminal; where they do not, every row becomes a block.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deadpan.page.markup import escape
from deadpan.page.numbers import digits, number, score
from deadpan.page.table import Cell, Link, Table, render_table, with_counts
from deadpan.results import Interval
from deadpan.text import printable

_GAP = 2
_LEAST = 12
"""Columns of text narrower than this would break words, so the rows become blocks instead."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Tables, and notes below them."""

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()

    def text(self, width: int = 80, *, bold: bool = False) -> str:
        """Return plain text that fits `width` columns; `bold` marks headers for a terminal."""
        parts = [render_text(table, width, bold=bold) for table in self.tables]
        if self.notes:
            lines = [line for note in self.notes for line in wrap(note, width, whole_words=True)]
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def html(self) -> str:
        """Return an HTML fragment, as notebooks show it."""
        tables = [render_table(table, table.title) for table in self.tables]
        return "\n".join([*tables, *(f"<p>{escape(note)}</p>" for note in self.notes)])


def render_text(table: Table, width: int = 80, *, bold: bool = False) -> str:
    """Return the table as lines of at most `width` columns.

    Numbers are right-aligned and never cut. Columns of text wrap between words; where that is not
    enough, every row becomes a block of "column: value" lines.
    """
    table = with_counts(table)
    title = f"{_strong(table.title, bold)}\n" if table.title else ""
    if not table.rows:
        return f"{title}(no rows)"
    decimals = [_decimals([row[i] for row in table.rows]) for i in range(len(table.columns))]
    cells = [[cell_text(cell, at) for cell, at in zip(row, decimals, strict=True)] for row in table.rows]
    right = [_numeric([row[i] for row in table.rows]) for i in range(len(table.columns))]
    widths = _fit(table.columns, cells, right, width)
    if widths is None:
        return title + _blocks(table.columns, cells, width, bold)
    lines = [_strong(line, bold) for line in _lines(table.columns, widths, right)]
    for row in cells:
        lines += _lines(row, widths, right)
    return title + "\n".join(lines)


def cell_text(cell: Cell, decimals: int | None = None) -> str:
    """Return one cell as a person reads it; `decimals` of a score, by its own interval if not given."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Interval):
        return score(cell, decimals)
    if isinstance(cell, Link):
        return cell.text
    return printable(cell) if isinstance(cell, str) else number(cell)


def text_width(text: str) -> int:
    """Return how many terminal columns a line takes: Hangul and Han characters take two."""
    return sum(_char_width(char) for char in text)


def wrap(text: str, width: int, *, whole_words: bool = False) -> list[str]:
    """Break text between words into lines of at most `width` columns.

    A word that is longer is broken too, unless `whole_words`: a path or a command stays one to copy.
    """
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line = ""
        for word in paragraph.split(" "):
            candidate = f"{line} {word}" if line else word
            if text_width(candidate) <= width:
                line = candidate
                continue
            if line:
                lines.append(line)
            while not whole_words and text_width(word) > width:
                head = _head(word, width)
                lines.append(head)
                word = word[len(head) :]
            line = word
        lines.append(line)
    return lines


def _char_width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _head(word: str, width: int) -> str:
    """Return as much of a word as fits, at least one character."""
    used = 0
    for place, char in enumerate(word):
        used += _char_width(char)
        if used > width:
            return word[: max(place, 1)]
    return word


def _numeric(cells: Sequence[Cell]) -> bool:
    kinds = (int, float, Interval)
    return all(cell is None or (isinstance(cell, kinds) and not isinstance(cell, bool)) for cell in cells)


def _decimals(cells: Sequence[Cell]) -> int | None:
    """Return one number of decimals for the scores of a column, so that they line up."""
    intervals = [cell for cell in cells if isinstance(cell, Interval)]
    return digits(intervals) if intervals else None


def _fit(columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], width: int) -> list[int] | None:
    """Return a width per column, or None where columns of text would have to break words."""
    natural, least = [], []
    for place, column in enumerate(columns):
        texts = [line for row in cells for line in row[place].splitlines() or [""]]
        natural.append(max(text_width(text) for text in [column, *texts]))
        words = [word for text in [column, *texts] for word in text.split(" ")]
        longest = max(text_width(word) for word in words)
        # The first column names the row: it never wraps.
        fixed = right[place] or place == 0
        least.append(natural[-1] if fixed else min(natural[-1], max(longest, _LEAST)))
    room = width - _GAP * (len(columns) - 1)
    if sum(least) > room:
        return None
    spare = room - sum(least)
    widths = list(least)
    for place in sorted(range(len(columns)), key=lambda i: natural[i] - least[i]):
        more = min(natural[place] - least[place], spare)
        widths[place] += more
        spare -= more
    return widths


def _lines(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    wrapped = [wrap(text, width) for text, width in zip(row, widths, strict=True)]
    height = max(len(lines) for lines in wrapped)
    out = []
    for number_ in range(height):
        parts = []
        for lines, width, side in zip(wrapped, widths, right, strict=True):
            text = lines[number_] if number_ < len(lines) else ""
            pad = " " * (width - text_width(text))
            parts.append(pad + text if side else text + pad)
        out.append((" " * _GAP).join(parts).rstrip())
    return out


def _blocks(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int, bold: bool) -> str:
    indent = min(max(text_width(column) for column in columns[1:]) + _GAP, width // 2)
    blocks = []
    for row in cells:
        lines = [_strong(line, bold) for line in wrap(row[0], width)]
        for column, text in zip(columns[1:], row[1:], strict=True):
            if text == "-":
                continue
            values = wrap(text, width - indent - _GAP)
            *above, label = wrap(column, width - _GAP)
            if text_width(label) < indent:
                label += " " * (indent - text_width(label)) + values.pop(0)
            lines += [" " * _GAP + line for line in (*above, label)]
            lines += [" " * (indent + _GAP) + line for line in values]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def _strong(text: str, bold: bool) -> str:
    return f"\x1b[1m{text}\x1b[0m" if bold and text else text
