"""Tables and notes of a result, shown alike on a terminal, in a notebook and on a page."""

from __future__ import annotations

from dataclasses import dataclass

from deadpan.page.markup import escape
from deadpan.page.table import Table, render_table
from deadpan.page.terminal import render_text, wrap


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
