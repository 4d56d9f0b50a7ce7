"""A page: built top to bottom, written as one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from deadpan import __version__
from deadpan.errors import ConfigError
from deadpan.page.conversation import render_conversation
from deadpan.page.markup import escape, inline_svg, safe_href
from deadpan.page.table import Cell, Link, Table, render_table
from deadpan.palette import DARK, LIGHT
from deadpan.records import Example
from deadpan.storage import write_text

# Nothing is loaded and nothing runs, whatever text found its way in.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def stylesheet() -> str:
    """The one style sheet: the palette's colours as custom properties, then look.css."""
    look = files("deadpan.page").joinpath("look.css").read_text(encoding="utf-8")
    light, dark = (
        "".join(f"  --{role}: {colour};\n" for role, colour in palette.items()) for palette in (LIGHT, DARK)
    )
    return (
        f":root {{\n  color-scheme: light dark;\n{light}}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{\n{dark}}} }}\n{look}"
    )


class Page:
    """One HTML page. Whatever it is given is text: it cannot become markup.

    Every part returns the page, so that a page can be written as one sentence.
    """

    def __init__(self, title: str, lead: str = "", *, language: str = "en") -> None:
        self.title = title
        self.lead = lead
        self.language = language
        self._parts: list[str] = []
        self._figures = 0

    def heading(self, text: str, level: int = 2) -> Self:
        """A heading; level 1 is the page's title and taken."""
        if level not in (2, 3, 4):
            raise ConfigError(f"a heading has level 2, 3 or 4, got {level}")
        return self._add(f"<h{level}>{escape(text)}</h{level}>")

    def text(self, text: str) -> Self:
        """Paragraphs; an empty line starts a new one."""
        for paragraph in text.split("\n\n"):
            if paragraph.strip():
                self._add(f"<p>{escape(paragraph.strip())}</p>")
        return self

    def bullets(self, lines: Iterable[str | Link]) -> Self:
        """A list of short lines or links."""
        items = "".join(f"<li>{_line(line)}</li>" for line in lines)
        return self._add(f"<ul>{items}</ul>" if items else "")

    def code(self, text: str) -> Self:
        """A command or other text to copy."""
        return self._add(f'<pre tabindex="0"><code>{escape(text)}</code></pre>')

    def note(self, text: str) -> Self:
        """An aside: a limit, a caution, what a number does not mean."""
        return self._add(f'<p class="note">{escape(text)}</p>')

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        caption: str = "",
        numeric: Sequence[str] = (),
    ) -> Self:
        """A table. An Interval cell shows its value, its interval and a whisker on the column's scale; n is
        added where the columns do not say it. `numeric` names columns of numbers that come as text."""
        table = Table(tuple(columns), tuple(tuple(row) for row in rows))
        return self._add(render_table(table, caption, numeric))

    def conversation(self, example: Example, label: bool | None = None, *, note: str = "") -> Self:
        """A conversation, labelled as the example is unless another label is given."""
        shown = example.label if label is None else label
        return self._add(render_conversation(example, shown, note))

    def figure(self, svg: str, title: str, table: Table | None = None) -> Self:
        """A drawing under its title, and what it shows as a table. The drawing follows light and dark."""
        self._figures += 1
        drawing = inline_svg(svg, title, self._figures, dict(LIGHT))
        numbers = ""
        if table is not None:
            numbers = f"<details><summary>The numbers</summary>{render_table(table, title)}</details>"
        return self._add(
            f"<figure><figcaption>{escape(title)}</figcaption>"
            f'<div class="drawing" role="region" tabindex="0" aria-label="{escape(title)}">{drawing}</div>'
            f"{numbers}</figure>"
        )

    def html(self) -> str:
        """The whole page."""
        lead = f'<p class="lead">{escape(self.lead)}</p>\n' if self.lead else ""
        return (
            f'<!doctype html>\n<html lang="{escape(self.language)}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{stylesheet()}</style>\n</head>\n<body>\n<main>\n"
            f"<header><h1>{escape(self.title)}</h1>\n{lead}</header>\n"
            + "\n".join(self._parts)
            + f"\n</main>\n<footer>Written by deadpan {__version__}</footer>\n</body>\n</html>\n"
        )

    def write(self, path: Path) -> None:
        """Write the page, whole or not at all."""
        write_text(Path(path), self.html())

    def _add(self, part: str) -> Self:
        if part:
            self._parts.append(part)
        return self


def _line(line: str | Link) -> str:
    if isinstance(line, Link):
        return f'<a href="{safe_href(line.href)}">{escape(line.text)}</a>'
    return escape(line)
