"""An HTML page: built top to bottom, and written as one self-contained file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Self

from deadpan import __version__
from deadpan.errors import ConfigError
from deadpan.page.markup import escape, inline_svg, safe_href
from deadpan.page.table import Cell, Link, Table, render_table
from deadpan.palette import DARK, LIGHT, MARKS, word_for
from deadpan.records import Example, Turn
from deadpan.storage import write_text

# Nothing is loaded, and no script runs but the one with this hash, whatever text a page contains.
_POLICY = "default-src 'none'; {}style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def stylesheet() -> str:
    """Return the style sheet: the palette as custom properties, then look.css."""
    look = files("deadpan.page").joinpath("look.css").read_text(encoding="utf-8")
    light, dark = ("".join(f"  --{role}: {colour};\n" for role, colour in palette.items()) for palette in (LIGHT, DARK))
    return (
        f":root {{\n  color-scheme: light dark;\n{light}}}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{\n{dark}}} }}\n{look}"
    )


@cache
def _script() -> tuple[str, str]:
    """Return the script that sorts tables, and its hash for the page's policy."""
    code = files("deadpan.page").joinpath("sort.js").read_text(encoding="utf-8")
    return code, base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()


class Page:
    """An HTML page. All arguments are text, which cannot become markup.

    Every method returns the page, so that calls can be chained. `nav` are links above the title. A page with
    a sortable table has one script of ours; any other page has none.
    """

    def __init__(self, title: str, lead: str = "", *, language: str = "en", nav: Sequence[Link] = ()) -> None:
        self.title = title
        self.lead = lead
        self.language = language
        self.nav = tuple(nav)
        self._sorts = False
        self._parts: list[str] = []
        self._figures = 0

    def heading(self, text: str, level: int = 2, *, anchor: str = "") -> Self:
        """Add a heading of level 2 to 4; level 1 is the title of the page. `anchor` is what links lead to."""
        if level not in (2, 3, 4):
            raise ConfigError(f"a heading has level 2, 3 or 4: got {level}")
        id = f' id="{escape(anchor)}"' if anchor else ""
        return self._add(f"<h{level}{id}>{escape(text)}</h{level}>")

    def text(self, text: str) -> Self:
        """Add paragraphs; an empty line starts a new one."""
        for paragraph in text.split("\n\n"):
            if paragraph.strip():
                self._add(f"<p>{escape(paragraph.strip())}</p>")
        return self

    def bullets(self, lines: Iterable[str | Link]) -> Self:
        """Add a list of short lines or links."""
        items = "".join(f"<li>{_line(line)}</li>" for line in lines)
        return self._add(f"<ul>{items}</ul>" if items else "")

    def contents(self, lines: Iterable[tuple[Link, str]]) -> Self:
        """Add a table of contents: a link and a sentence each."""
        items = "".join(f"<li>{_line(link)}<br>{escape(text)}</li>" for link, text in lines)
        return self._add(f'<ul class="contents">{items}</ul>' if items else "")

    def extend(self, other: Page) -> Self:
        """Add everything that is on another page."""
        self._parts += other._parts
        self._figures += other._figures
        return self

    def code(self, text: str) -> Self:
        """Add a command or other text to copy."""
        return self._add(f'<pre tabindex="0"><code>{escape(text)}</code></pre>')

    def note(self, text: str) -> Self:
        """Add a note, such as a limitation or a warning."""
        return self._add(f'<p class="note">{escape(text)}</p>')

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        caption: str = "",
        numeric: Sequence[str] = (),
        label: str = "",
        source: str | Sequence[str] = "",
        sortable: bool = False,
    ) -> Self:
        """Add a table. An Interval shows its value, its interval and a whisker on the column's scale; a
        column n is added if there is none. `numeric` names columns of numbers that are passed as text.
        `label` names a table without a caption. Every number links to `source`, one address or one per row;
        headings sort the rows if `sortable`."""
        table = Table(tuple(columns), tuple(tuple(row) for row in rows))
        self._sorts |= sortable
        return self._add(render_table(table, caption, numeric, label=label, source=source, sortable=sortable))

    def findings(self, lines: Iterable[tuple[str, Link]]) -> Self:
        """Add numbered findings, each with a link to where it comes from."""
        items = "".join(f"<li>{escape(text)} {_line(link)}</li>" for text, link in lines)
        return self._add(f'<ol class="findings">{items}</ol>' if items else "")

    def cards(self, cards: Iterable[tuple[Link, str, Sequence[str]]]) -> Self:
        """Add cards: a link, a sentence and a few short facts each."""
        items = "".join(
            f'<li><h3>{_line(link)}</h3><p>{escape(lead)}</p><p class="facts">'
            f"{' · '.join(escape(fact) for fact in facts)}</p></li>"
            for link, lead, facts in cards
        )
        return self._add(f'<ul class="cards">{items}</ul>' if items else "")

    def conversation(self, example: Example, label: bool | None = None, *, note: str = "") -> Self:
        """Add a conversation with the label of the example, or with another label."""
        shown = example.label if label is None else label
        return self._add(render_conversation(example, shown, note))

    def figure(self, svg: str, title: str, table: Table | None = None, *, source: str = "") -> Self:
        """Add a drawing with its title, and its numbers as a table. It adapts to light and dark mode.

        The numbers link to `source`, if given.
        """
        self._figures += 1
        drawing = inline_svg(svg, title, self._figures, dict(LIGHT))
        numbers = ""
        if table is not None:
            shown = render_table(table, title, source=source)
            numbers = f"<details><summary>The numbers</summary>{shown}</details>"
        return self._add(
            f"<figure><figcaption>{escape(title)}</figcaption>"
            f'<div class="drawing" role="region" tabindex="0" aria-label="{escape(title)}">{drawing}</div>'
            f"{numbers}</figure>"
        )

    def html(self) -> str:
        """Return the page as HTML."""
        lead = f'<p class="lead">{escape(self.lead)}</p>\n' if self.lead else ""
        links = " ".join(_line(link) for link in self.nav)
        nav = f'<nav aria-label="Site">{links}</nav>\n' if links else ""
        code, digest = _script()
        policy = _POLICY.format(f"script-src 'sha256-{digest}'; " if self._sorts else "")
        return (
            f'<!doctype html>\n<html lang="{escape(self.language)}">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{stylesheet()}</style>\n</head>\n<body>\n{nav}<main>\n"
            f"<header><h1>{escape(self.title)}</h1>\n{lead}</header>\n"
            + "\n".join(self._parts)
            + f"\n</main>\n<footer>Written by deadpan {__version__}</footer>\n"
            + (f"<script>{code}</script>\n" if self._sorts else "")
            + "</body>\n</html>\n"
        )

    def write(self, path: Path) -> None:
        """Write the page to a file, atomically."""
        write_text(Path(path), self.html())

    def _add(self, part: str) -> Self:
        if part:
            self._parts.append(part)
        return self


def _line(line: str | Link) -> str:
    if isinstance(line, Link):
        return f'<a href="{safe_href(line.href)}">{escape(line.text)}</a>'
    return escape(line)


def render_conversation(example: Example, label: bool | None, note: str = "") -> str:
    """Return the context, dimmed, then the response with its label as word, shape and colour."""
    sides = _sides(example.context, example.response)
    turns = [_turn(turn, side) for turn, side in zip(example.context, sides, strict=True)]
    language = f' lang="{escape(example.language)}"' if example.language else ""
    word = word_for(label)
    verdict = f'<span class="label {word}"><span aria-hidden="true">{MARKS[word]}</span> {word}</span>'
    remark = f'<span class="dim">{escape(note)}</span>' if note else ""
    return (
        f'<div class="conversation">\n<div{language}>{"".join(turns)}'
        f"{_turn(example.response, f'right response {word}')}</div>\n"
        f'<p class="verdict">{verdict}{remark}</p></div>'
    )


def _turn(turn: Turn, side: str) -> str:
    speaker = f'<span class="speaker">{escape(turn.speaker)}</span>' if turn.speaker else ""
    # dir=auto: the browser sets an Arabic turn from right to left.
    return f'<div class="turn {side}">{speaker}<p dir="auto">{escape(turn.text)}</p></div>\n'


def _sides(context: tuple[Turn, ...], response: Turn) -> list[str]:
    """Return the side of each turn: the responding speaker is right; turns without names alternate."""
    if response.speaker and any(turn.speaker for turn in context):
        return ["right" if turn.speaker == response.speaker else "left" for turn in context]
    return ["left" if (len(context) - place) % 2 else "right" for place in range(len(context))]
