"""Authentication: tokens and passwords; and the security headers of every page."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from string import digits, punctuation, whitespace
from typing import Any

from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from deadpan.studio.models import Person

OWN_WORDS = ("deadpan", "deadpanstudio", "deadpan studio", "studio", "sarcasm", "sarcastic", "annotator",
             "adjudicator", "participant", "owner", "study leader", "비꼼", "풍자")  # fmt: skip
"""Words of this program, which somebody who guesses would try first."""


class PrivacyMiddleware:
    """Add headers that Django has no setting for: no camera or microphone, and nothing is kept in a cache."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        if not request.path.startswith("/static/") and request.path != "/look.css":
            # The next person at the same machine must not see this page.
            response.headers.setdefault("Cache-Control", "no-store")
        return response


class PlainWordValidator:
    """Refuse a common password, or a word of this program, with nothing but digits and signs around it."""

    def __init__(self) -> None:
        self.common = CommonPasswordValidator().passwords

    def validate(self, password: str, user: Any = None) -> None:
        """Raise Django's error for such a password."""
        core = password.casefold().strip(digits + punctuation + whitespace)
        if not core or core in self.common or core in OWN_WORDS:
            raise ValidationError(self.get_help_text(), code="password_plain_word")

    def get_help_text(self) -> str:
        """Return what is wrong."""
        return str(_("This is a common word with digits or signs around it. Use several words."))


class PasswordBackend:
    """Check name and password. An unknown name takes as long to refuse as a wrong password."""

    def authenticate(self, request: HttpRequest | None, name: str = "", password: str = "") -> Any:
        person = Person.objects.filter(name=name).first()
        if person is None or not person.has_usable_password():
            make_password(password)
            return None
        return person if check_password(password, person.password) else None

    def get_user(self, pk: int) -> Any:
        return Person.objects.filter(pk=pk).first()


def new_token() -> str:
    """Return a secret of 192 bits for a link or a code."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """Return the hash of a token, which is stored. A token is long and random: a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()
