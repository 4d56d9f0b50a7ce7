"""Guidelines written in Markdown, as HTML that cannot run anything."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils.safestring import mark_safe
from markdown_it import MarkdownIt


@lru_cache(maxsize=64)
def guideline_html(text: str) -> Any:
    """Return Markdown as HTML. HTML in it is shown as text, links may not be scripts, images are left out."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return mark_safe(reader.render(text)) if text.strip() else ""
