"""What templates can do beside Django's own: conversations and tables in deadpan's look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.utils.safestring import mark_safe

from deadpan.page import Table
from deadpan.page.table import render_table

register = template.Library()


@register.simple_tag
def data_table(table: Table, caption: str = "", numeric: Sequence[str] = ()) -> Any:
    """A table with intervals and whiskers; render_table escapes every cell."""
    return mark_safe(render_table(table, caption, [name for name in numeric if name in table.columns]))


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
