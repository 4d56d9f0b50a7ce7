"""Months in UTC, as numbers for sorting (200901) and as text (2009-01)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from deadpan.errors import ConfigError

FIRST, LAST = 0, 999_999
"""Numbers before and after every possible month."""

_MONTH = re.compile(r"(\d{4})-(\d{2})")


def month_number(text: str) -> int:
    """Return 200901 for "2009-01"."""
    match = _MONTH.fullmatch(text)
    if not match or not 1 <= int(match[2]) <= 12:
        raise ConfigError(f"{text!r} is not a month: write it like 2009-01")
    return int(match[1]) * 100 + int(match[2])


def month_name(number: int) -> str:
    """Return "2009-01" for 200901."""
    return f"{number // 100:04}-{number % 100:02}"


def month_of(created_utc: int) -> int:
    """Return the month of a time in seconds, in UTC."""
    moment = datetime.fromtimestamp(created_utc, UTC)
    return moment.year * 100 + moment.month


def next_month(number: int) -> int:
    """Return the next month."""
    return number + 1 if number % 100 < 12 else number + 89


def month_start(number: int) -> int:
    """Return the first second of a month."""
    return int(datetime(number // 100, number % 100, 1, tzinfo=UTC).timestamp())
