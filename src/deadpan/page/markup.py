"""Text into HTML that can only ever be text."""

from __future__ import annotations

import html
import re

from deadpan.errors import ConfigError, DataError
from deadpan.text import printable

# HTML has no way to hold these; a browser would make something of its own of them.
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
    """Text for between tags and for inside double-quoted attributes."""
    return html.escape(_FORBIDDEN.sub("\ufffd", printable(str(text))), quote=True)


def safe_href(href: str) -> str:
    """An address that goes somewhere and runs nothing, escaped."""
    # Browsers drop control characters and spaces inside a scheme, so they are dropped before looking.
    scheme = _SCHEME.match(re.sub(r"[\x00-\x20\x7f]", "", href))
    if scheme and scheme[1].lower() not in _SAFE_SCHEMES:
        raise ConfigError(f"a link to {href[:60]!r}: only http, https, mailto and relative ones are written")
    return escape(href)


def inline_svg(svg: str, title: str, number: int, colours: dict[str, str]) -> str:
    """A drawing for inside a page: named for those who cannot see it, in the page's light or dark colours.

    Ids get the drawing's number, since two drawings on a page would otherwise share theirs.
    """
    start = svg.find("<svg")
    if start < 0:
        raise DataError(f"the figure {title!r} is not SVG")
    drawing = svg[start:]
    if _ACTIVE.search(drawing):
        raise DataError(f"the figure {title!r} has a script or a link in it: pages hold drawings only")
    for name in set(_ID.findall(drawing)):
        drawing = drawing.replace(f'id="{name}"', f'id="f{number}-{name}"')
        drawing = drawing.replace(f'"#{name}"', f'"#f{number}-{name}"')
        drawing = drawing.replace(f"url(#{name})", f"url(#f{number}-{name})")
    for role, colour in colours.items():
        drawing = re.sub(rf": ?{colour}(?=[;\"])", f": var(--{role}, {colour})", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
