"""Hooks of the documentation site: files of the repository by name, and drawings without a script.

Mermaid would be loaded from another host; the site shows the arrows of a drawing as a table instead.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"\[([^\]]+)\]\((\.\.?/[^)\s]+)\)")
_MERMAID = re.compile(r"^```mermaid\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r'^\s*(\w+)\s*-- "([^"]+)" -->\s*(\w+)\s*$', re.MULTILINE)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Rewrite one page: a link out of docs/ becomes the name of the file in the repository."""
    folder = posixpath.dirname(page.file.src_uri)

    def mended(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", folder, found[2]))
        if target.startswith("docs/"):
            return found[0]
        return f"{found[1]} (`{target}` in the repository)"

    return _MERMAID.sub(_table, _LINK.sub(mended, markdown))


def _table(found: re.Match[str]) -> str:
    rows = "\n".join(f"| {a} | {what} | {b} |" for a, what, b in _NAMED.findall(found[1]))
    return f"| from | what flows | to |\n|---|---|---|\n{rows}\n"
