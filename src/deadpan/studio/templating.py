"""What templates can do beside Django's own: conversations and tables in deadpan's look."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django import template
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.translation import gettext

from deadpan.page import Cell, Table
from deadpan.page.table import render_table
from deadpan.stats import Interval

register = template.Library()


@register.simple_tag
def data_table(table: Table, caption: str = "", numeric: Sequence[str] = ()) -> Any:
    """A table with intervals and whiskers; render_table escapes every cell."""
    rows = tuple(tuple(_in_words(cell) for cell in row) for row in table.rows)
    drawn = render_table(
        replace(table, rows=rows), caption, [name for name in numeric if name in table.columns]
    )
    # No cell can hold a bare ">": this is the word the table itself writes where there is no figure.
    return mark_safe(drawn.replace(">undefined<", f">{escape(gettext('undefined'))}<"))


def _in_words(cell: Cell) -> Cell:
    """The remark beside a figure, in the reader's language."""
    if not isinstance(cell, Interval) or not cell.why:
        return cell
    return replace(cell, why="; ".join(_remark(part) for part in cell.why.split("; ")))


def _remark(text: str) -> str:
    counted = re.fullmatch(r"(\d+) of (\d+) resamples undefined, left out", text)
    if counted is None:
        return str(gettext(text))
    said = gettext("%(lost)s of %(all)s resamples undefined, left out")
    return str(said % {"lost": counted[1], "all": counted[2]})


@register.filter
def word(name: str) -> str:
    """A role or a state in the reader's language."""
    return str(gettext(name))


@register.filter
def sides(context: Sequence[Mapping[str, str]], response: Mapping[str, str] | None) -> list[dict[str, str]]:
    """Turns with the side they stand on: who answers stands to the right, as in a messenger."""
    speaker = (response or {}).get("speaker", "")
    named = bool(speaker) and any(turn.get("speaker") for turn in context)
    found = []
    for place, turn in enumerate(context):
        if named:
            right = turn.get("speaker") == speaker
        else:
            right = response is not None and (len(context) - place) % 2 == 0
        found.append({**turn, "side": "right" if right else "left"})
    return found


@register.filter
def lookup(table: Mapping[str, Any], key: str) -> Any:
    """A value by a key that is not known when the template is written."""
    return table.get(key, "")
