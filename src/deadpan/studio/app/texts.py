"""Text and numbers from a browser, made safe to store: no surprise may become an error of the server."""

from __future__ import annotations

LONGEST_NUMBER = 12


def clean_text(text: str) -> str:
    """Return text without NUL bytes, lone surrogates (no database stores them) and outer space."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def whole_number(text: str, default: int, lowest: int = 0, highest: int = 10**9) -> int:
    """Return ASCII digits as a number within limits; anything else is the default."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit()) or len(digits) > LONGEST_NUMBER:
        return default
    return max(lowest, min(highest, int(digits)))
