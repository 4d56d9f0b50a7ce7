"""The rate limit of logins and codes: per address and name, per name, and per address.

A try is counted before the password is checked, so that tries at the same moment count too.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from deadpan.studio.app.security import digest
from deadpan.studio.models import Attempt

WITHIN = timedelta(minutes=10)
PAIR, NAME, ADDRESS = 8, 40, 60
"""Failures within that time: of one name from one address, of one name, and from one address."""


def client_address(request: HttpRequest) -> str:
    """Return the client's address: the proxy's last word in the configured header, or the connection's."""
    header = settings.STUDIO_CLIENT_HEADER
    told = str(request.META.get(header, "")) if header else ""
    return told.rsplit(",", 1)[-1].strip() or str(request.META.get("REMOTE_ADDR", ""))


class Try:
    """One try to log in or to use a code."""

    def __init__(self, request: HttpRequest, name: str, now: datetime) -> None:
        address, name = client_address(request), name.casefold()
        self.now = now
        limits: dict[str, int] = {
            digest(f"{address}\x1f{name}"): PAIR,
            digest(f"name\x1f{name}"): NAME,
            digest(f"address\x1f{address}"): ADDRESS,
        }
        self.rows: list[Any] = [
            (Attempt.objects.create(key=key, created_at=now), limits[key]) for key in limits
        ]

    @property
    def refused(self) -> bool:
        """True if one of the limits is reached; such a try is not counted itself."""
        over = any(
            Attempt.objects.filter(key=row.key, created_at__gt=self.now - WITHIN, pk__lt=row.pk).count()
            >= limit
            for row, limit in self.rows
        )
        if over:
            self.succeeded()
        return over

    def succeeded(self) -> None:
        """Take the try out of the count, and forget tries that are past the limit's time."""
        Attempt.objects.filter(pk__in=[row.pk for row, _ in self.rows]).delete()
        Attempt.objects.filter(created_at__lt=self.now - WITHIN).delete()
