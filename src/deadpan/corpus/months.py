"""Months of UTC as the numbers the engine sorts by (200901) and the words people read (2009-01)."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from deadpan.errors import ConfigError

FIRST, LAST = 0, 999_999
"""Before and after every month there can be."""

_MONTH = re.compile(r"(\d{4})-(\d{2})")


def month_number(text: str) -> int:
    """200901 of "2009-01"."""
    found = _MONTH.fullmatch(text)
    if not found or not 1 <= int(found[2]) <= 12:
        raise ConfigError(f"{text!r} is no month: write it as 2009-01")
    return int(found[1]) * 100 + int(found[2])


def month_name(number: int) -> str:
    """ "2009-01" of 200901."""
    return f"{number // 100:04}-{number % 100:02}"


def month_of(created_utc: int) -> int:
    """The month a moment falls in, by UTC."""
    moment = datetime.fromtimestamp(created_utc, UTC)
    return moment.year * 100 + moment.month


def next_month(number: int) -> int:
    """The month after."""
    return number + 1 if number % 100 < 12 else number + 89


def month_start(number: int) -> int:
    """The first second of a month."""
    return int(datetime(number // 100, number % 100, 1, tzinfo=UTC).timestamp())
