"""Template tags and filters: conversations and tables in deadpan's style, guidelines in Markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from django import template
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.html import escape
from django.utils.safestring import mark_safe
from django.utils.translation import gettext, override
from markdown_it import MarkdownIt

from deadpan.page import Cell, Table
from deadpan.page.table import render_table
from deadpan.records import Turn
from deadpan.stats import Interval
from deadpan.studio.app.forms import SETTING_LABELS
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import Choice, Question

register = template.Library()


@register.simple_tag
def data_table(table: Table, caption: str = "", numeric: Sequence[str] = ()) -> Any:
    """Return a table with intervals and whiskers; render_table escapes every cell."""
    rows = tuple(tuple(_with_translated_reason(cell) for cell in row) for row in table.rows)
    drawn = render_table(replace(table, rows=rows), caption, [name for name in numeric if name in table.columns])
    # Cells are escaped, so ">undefined<" is what render_table writes where there is no value.
    return mark_safe(drawn.replace(">undefined<", f">{escape(gettext('undefined'))}<"))


def _with_translated_reason(cell: Cell) -> Cell:
    """Return the cell with its remark in the reader's language."""
    if not isinstance(cell, Interval) or not cell.why:
        return cell
    return replace(cell, why="; ".join(_translated_reason(part) for part in cell.why.split("; ")))


def _translated_reason(text: str) -> str:
    """Return a remark of the floor, whose numbers are not in the catalogue, in the reader's language."""
    counted = re.fullmatch(r"(\d+) of (\d+) (resamples|pairs of raters) .*", text)
    if counted is None:
        return str(gettext(text))
    sentence = (
        gettext("%(lost)s of %(all)s resamples undefined, left out")
        if counted[3] == "resamples"
        else gettext("%(lost)s of %(all)s pairs of raters excluded: no common item, or all answers the same")
    )
    return str(sentence % {"lost": counted[1], "all": counted[2]})


@register.filter
def word(name: str) -> str:
    """Return a role or a state in the reader's language."""
    return str(gettext(name))


@register.filter
def log_value(value: Any) -> str:
    """Return a value of the log in the reader's language: a word, a number, a setting, or a list of them."""
    if isinstance(value, list | tuple):
        return ", ".join(map(log_value, value))
    if not isinstance(value, str) or not value:
        return str(value)
    return f"“{SETTING_LABELS[value]}”" if value in SETTING_LABELS else str(gettext(value))


@register.filter
def study_title(study: Any) -> str:
    """Return a study's title; one its protocol gave it is in the reader's language."""
    given = PROTOCOLS.load(study.protocol).title
    # Titles are stored in English if nobody chose one.
    with override("en"):
        is_default = study.title == str(given)
    return str(given) if is_default else str(study.title)


@register.filter
def sides(context: Sequence[Turn], response: Turn | None) -> list[dict[str, str]]:
    """Return turns with the side they are shown on: the responder is on the right."""
    return _on_sides(context, response, [len(context) - place for place in range(len(context))])


@register.filter
def sides_after(turns: Sequence[Turn], response: Turn | None) -> list[dict[str, str]]:
    """Return the turns that followed a response with the side they stand on."""
    return _on_sides(turns, response, range(1, len(turns) + 1))


def _on_sides(turns: Sequence[Turn], response: Turn | None, distances: Sequence[int]) -> list[dict[str, str]]:
    """Place turns by their speaker, or in turn by their distance from the response where nobody is named."""
    speaker = response.speaker if response else ""
    named = bool(speaker) and any(turn.speaker for turn in turns)
    placed = []
    for turn, distance in zip(turns, distances, strict=True):
        right = turn.speaker == speaker if named else response is not None and distance % 2 == 0
        placed.append({"speaker": turn.speaker, "text": turn.text, "side": "right" if right else "left"})
    return placed


@register.filter
def cases_json(choice: Choice, question: Question) -> str:
    """Return the cases in which a choice is offered, for the script of the page."""
    return json.dumps(choice.cases or ({question.after: choice.when},))


def browser_identity(request: HttpRequest) -> dict[str, str]:
    """Return a name for this person that means nothing elsewhere: what a browser keeps is kept under it."""
    person = getattr(request, "user", None)  # a request that is refused early has none
    if person is None or not person.is_authenticated:
        return {"who": ""}
    return {"who": salted_hmac("deadpan.studio.browser", str(person.pk)).hexdigest()[:16]}


@register.filter("pairs")
def name_value_pairs(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values; `table.items` in a template would look for a value named "items"."""
    return list(table.items())


@register.filter
def lookup(table: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key that is a variable of the template."""
    return table.get(key, "")


@lru_cache(maxsize=64)
def guideline_html(text: str) -> Any:
    """Return Markdown as HTML. HTML in it is shown as text, links may not be scripts, images are left out."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return mark_safe(reader.render(text)) if text.strip() else ""
