"""Who may come in: tokens, the rate limit on trying, and the policy every page is sent with."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.http import HttpRequest, HttpResponse

from deadpan.studio.models import Attempt, Person

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
TRIES, WITHIN = 8, timedelta(minutes=10)


class PolicyMiddleware:
    """Nothing is loaded from elsewhere and no script runs that is not a file of ours."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        response.headers.setdefault("X-Frame-Options", "DENY")
        if not request.path.startswith("/static/") and request.path != "/look.css":
            # What one person saw is not for the next at the same machine.
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class PasswordBackend:
    """Name and password. A name nobody has takes as long to refuse as a wrong password."""

    def authenticate(self, request: HttpRequest | None, name: str = "", password: str = "") -> Any:
        person = Person.objects.filter(name=name).first()
        if person is None or not person.has_usable_password():
            make_password(password)
            return None
        return person if check_password(password, person.password) else None

    def get_user(self, pk: int) -> Any:
        return Person.objects.filter(pk=pk).first()


def new_token() -> str:
    """A secret for a link or a code: 192 bits."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """What is kept of a token. It is long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


def attempt_key(request: HttpRequest, name: str) -> str:
    """Trying is counted by address and name: neither one address nor one name can lock others out."""
    return digest(f"{request.META.get('REMOTE_ADDR', '')}\x1f{name.casefold()}")


def too_many(key: str, now: datetime) -> bool:
    """Whether this key has failed too often of late."""
    return bool(Attempt.objects.filter(key=key, created_at__gt=now - WITHIN).count() >= TRIES)


def count_failure(key: str, now: datetime) -> None:
    """Remember a failure, and forget the old ones."""
    Attempt.objects.filter(created_at__lt=now - WITHIN).delete()
    Attempt.objects.create(key=key, created_at=now)
