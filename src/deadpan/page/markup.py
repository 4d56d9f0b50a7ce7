"""Escaping: text into HTML that cannot become markup."""

from __future__ import annotations

import html
import re

from deadpan.errors import ConfigError, DataError
from deadpan.text import printable

# Characters that HTML does not allow, not even escaped.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.\-]*):")
_SAFE_SCHEMES = {"http", "https", "mailto"}
_ACTIVE = re.compile(
    r"<\s*(?:\w+:)?(?:script|foreignobject|iframe|object|embed|style)\b"
    r"|<[^<>]*\son\w+\s*="
    r"""|<[^<>]*href\s*=\s*["'](?!\#|data:image/)""",
    re.IGNORECASE,
)
_ID = re.compile(r'\bid="([^"]+)"')


def escape(text: object) -> str:
    """Return text escaped for use between tags and inside double-quoted attributes."""
    return html.escape(_FORBIDDEN.sub("\ufffd", printable(str(text))), quote=True)


def safe_href(href: str) -> str:
    """Return an escaped address, or raise an error if it could run a script."""
    # Browsers ignore control characters and spaces inside a scheme.
    scheme = _SCHEME.match(re.sub(r"[\x00-\x20\x7f]", "", href))
    if scheme and scheme[1].lower() not in _SAFE_SCHEMES:
        raise ConfigError(f"a link to {href[:60]!r} is not allowed: use http, https or mailto")
    return escape(href)


def inline_svg(svg: str, title: str, number: int, colours: dict[str, str]) -> str:
    """Return a drawing for use inside a page: labelled for screen readers, in light or dark colours.

    Ids get the number of the drawing, since ids on a page must be unique.
    """
    start = svg.find("<svg")
    if start < 0:
        raise DataError(f"the figure {title!r} is not SVG")
    drawing = svg[start:]
    if _ACTIVE.search(drawing):
        raise DataError(f"the figure {title!r} contains a script or a link: remove it")
    for name in set(_ID.findall(drawing)):
        drawing = drawing.replace(f'id="{name}"', f'id="f{number}-{name}"')
        drawing = drawing.replace(f'"#{name}"', f'"#f{number}-{name}"')
        drawing = drawing.replace(f"url(#{name})", f"url(#f{number}-{name})")
    for role, colour in colours.items():
        drawing = re.sub(rf": ?{colour}(?=[;\"])", f": var(--{role}, {colour})", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
