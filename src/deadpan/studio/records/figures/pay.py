"""Pay: the time that counts, in words that the study leader and the participant both read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

IDLE_MINUTES = 2
"""A page in front counts for this long after the last sign of a reader; attention.js has the same number."""


@dataclass(frozen=True, slots=True)
class Pay:
    """Time of one member, and what is owed for it; None without a rate."""

    minutes: int
    owed: float | None
    currency: str


def paid_seconds(member: Any) -> float:
    """Return the seconds that count: answers, checks, the qualification round, consent and guideline."""
    return float(member.seconds + member.page_seconds)


def pay_of(member: Any, settings: Any) -> Pay:
    """Return the time and pay of a member."""
    hours = paid_seconds(member) / 3600
    owed = round(hours * settings.rate, 2) if settings.rate is not None else None
    return Pay(round(hours * 60), owed, settings.currency)


def pay_rule(settings: Any) -> str:
    """Return the rule that time is counted by."""
    rule = _(
        "Time counts while a page of the study is on screen: consent, guideline, reading, answering and "
        "checks. It stops %(minutes)s minutes after you last moved the mouse, typed or scrolled."
    ) % {"minutes": IDLE_MINUTES}
    if settings.rate is None:
        return str(rule)
    paid = _("An hour is paid %(rate)s %(currency)s.") % {
        "rate": f"{settings.rate:,g}",
        "currency": settings.currency,
    }
    return f"{rule} {paid}"
