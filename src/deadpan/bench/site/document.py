"""The frame of every page of the site: one file, our style, and at most our own script, by its hash."""

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
    """A file of ours that goes into the pages."""
    return files("deadpan.bench.site").joinpath(name).read_text(encoding="utf-8")


def document(title: str, body: str, *, script: bool = False, language: str = "en", home: str = "") -> str:
    """A whole page. Nothing is loaded from anywhere, and no script runs but the one whose hash is named."""
    code = asset("sort.js") if script else ""
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
