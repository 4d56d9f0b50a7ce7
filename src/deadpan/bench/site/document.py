"""The HTML frame of every page: one file, our style, and only our own script, allowed by its hash."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files

from deadpan import __version__
from deadpan.page import stylesheet
from deadpan.page.markup import escape


@cache
def asset(name: str) -> str:
    """Return a file that is embedded in pages."""
    return files("deadpan.bench.site").joinpath(name).read_text(encoding="utf-8")


def document(title: str, body: str, *, script: bool = False, language: str = "en", home: str = "") -> str:
    """Return a whole page. It loads nothing, and only the script with the given hash can run."""
    code = files("deadpan.page").joinpath("sort.js").read_text("utf-8") + asset("filter.js") if script else ""
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    policy = (
        f"default-src 'none'; {allowed}style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    back = f'<nav aria-label="Site"><a href="{home}">SarcBench leaderboard</a></nav>' if home else ""
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>\n{stylesheet()}{asset('site.css')}</style>\n</head>\n<body>\n"
        f"{back}<main>\n{body}\n</main>\n<footer>Written by deadpan {__version__}</footer>\n"
        + (f"<script>{code}</script>\n" if script else "")
        + "</body>\n</html>\n"
    )
