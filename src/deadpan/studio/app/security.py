"""Access: passwords and tokens, the rate limit, roles, and the middleware around every request."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from string import digits, punctuation, whitespace
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from deadpan.studio import models

# Words of this program, which somebody who guesses would try first.
_OWN_WORDS = ("deadpan", "deadpanstudio", "deadpan studio", "studio", "sarcasm", "sarcastic", "annotator",
             "adjudicator", "participant", "owner", "study leader", "비꼼", "풍자")  # fmt: skip


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
        if not core or core in self.common or core in _OWN_WORDS:
            raise ValidationError(self.get_help_text(), code="password_plain_word")

    def get_help_text(self) -> str:
        """Return what is wrong."""
        return str(_("This is a common word with digits or signs around it. Use several words."))


class PasswordBackend:
    """Check name and password. An unknown name takes as long to refuse as a wrong password."""

    def authenticate(self, request: HttpRequest | None, name: str = "", password: str = "") -> Any:
        person = models.Person.objects.filter(name=name).first()
        if person is None or not person.has_usable_password():
            # Hashing takes most of the time; without it a fast answer would say that the name is unknown.
            make_password(password)
            return None
        return person if check_password(password, person.password) else None

    def get_user(self, pk: int) -> Any:
        return models.Person.objects.filter(pk=pk).first()


def new_token() -> str:
    """Return a secret of 192 bits for a link or a code."""
    return secrets.token_urlsafe(24)


def hash_token(token: str) -> str:
    """Return the hash of a token, which is stored. A token is long and random: a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


# ---------------------------------------------------------------- rate limit


_WINDOW = timedelta(minutes=10)
# Failures within that time: of one name from one address, of one name, and from one address.
_PAIR_LIMIT, _NAME_LIMIT, _ADDRESS_LIMIT = 8, 40, 60


def client_address(request: HttpRequest) -> str:
    """Return the client's address: the proxy's last word in the configured header, or the connection's."""
    header = settings.STUDIO_CLIENT_HEADER
    forwarded = str(request.META.get(header, "")) if header else ""
    # Clients can write entries of their own before the one that the proxy adds.
    return forwarded.rsplit(",", 1)[-1].strip() or str(request.META.get("REMOTE_ADDR", ""))


class LoginAttempt:
    """One try to log in or to use a code."""

    def __init__(self, request: HttpRequest, name: str, now: datetime) -> None:
        address, name = client_address(request), name.casefold()
        self.now = now
        limits: dict[str, int] = {
            hash_token(f"{address}\x1f{name}"): _PAIR_LIMIT,
            hash_token(f"name\x1f{name}"): _NAME_LIMIT,
            hash_token(f"address\x1f{address}"): _ADDRESS_LIMIT,
        }
        self.rows: list[Any] = [(models.Attempt.objects.create(key=key, created_at=now), limits[key]) for key in limits]

    @property
    def refused(self) -> bool:
        """True if one of the limits is reached; such a try is not counted itself."""
        # Only earlier attempts count (pk__lt), so of two at once the second is the one refused.
        over = any(
            models.Attempt.objects.filter(key=row.key, created_at__gt=self.now - _WINDOW, pk__lt=row.pk).count()
            >= limit
            for row, limit in self.rows
        )
        if over:
            self.succeeded()
        return over

    def succeeded(self) -> None:
        """Take the try out of the count, and forget tries that are past the limit's time."""
        models.Attempt.objects.filter(pk__in=[row.pk for row, _ in self.rows]).delete()
        models.Attempt.objects.filter(created_at__lt=self.now - _WINDOW).delete()


# ---------------------------------------------------------------- roles


View = Callable[..., HttpResponse]
# States of people who are no longer in the study.
_OUT_STATES = (models.REMOVED, models.WITHDRAWN)


def for_members(*roles: str) -> Callable[[View], View]:
    """Restrict a view to members of the study in these roles; it gets the membership as `request.member`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
            member = models.Member.objects.filter(study__slug=slug, person=request.user).select_related("study").first()
            if member is None or member.role not in roles or member.state in _OUT_STATES:
                raise Http404
            request.member, request.study = member, member.study
            return view(request, **kwargs)

        entered: View = login_required(guarded)
        return entered

    return decorate


for_workers = for_members(models.ANNOTATOR, models.PARTICIPANT)


def for_judges(view: View) -> View:
    """Restrict a view to adjudicators and owners; `request.member` is None for an owner who is no member."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = models.StoredStudy.objects.filter(slug=slug).first()
        member = models.Member.objects.filter(study=study, person=request.user).first() if study else None
        judges = member is not None and member.role == models.ADJUDICATOR and member.state not in _OUT_STATES
        if study is None or not (judges or owns(request.user, study)):
            raise Http404
        request.study, request.member = study, member
        return view(request, **kwargs)

    entered: View = login_required(guarded)
    return entered


def owns(person: Any, study: Any) -> bool:
    """Return whether somebody owns the studio or this study."""
    mine = models.Member.objects.filter(study=study, person=person, role=models.OWNER, state=models.ACTIVE)
    return bool(person.is_owner) or bool(mine.exists())


def for_holders(view: View) -> View:
    """Restrict a view to the person an item is assigned to; it gets `request.assignment`.

    One query finds everything, because this runs before every save.
    """

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, number: int) -> HttpResponse:
        found = models.Assignment.objects.filter(
            member__study__slug=slug, member__person=request.user, number=number
        ).select_related("item", "member__study")
        assignment = found.first()
        if assignment is None or not _at_work(assignment.member):
            raise Http404
        request.assignment, request.member, request.study = (assignment, assignment.member, assignment.member.study)
        return view(request, number)

    entered: View = login_required(guarded)

    @wraps(view)
    def answering(request: HttpRequest, slug: str, number: int) -> HttpResponse:
        # A script follows a redirect and takes the login page for an answer: tell it what happened instead.
        if request.content_type == "application/json" and not request.user.is_authenticated:
            return JsonResponse({"login": True}, status=401)
        return entered(request, slug, number)

    return answering


def _at_work(member: Any) -> bool:
    here = member.role in (models.ANNOTATOR, models.PARTICIPANT) and member.state not in (*_OUT_STATES, models.REFUSED)
    return here and member.consented_at is not None


def for_owners(view: View) -> View:
    """Restrict a view to the studio's owners and to members who own this study."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = models.StoredStudy.objects.filter(slug=slug).first()
        own = study is not None and owns(request.user, study)
        if not own:
            raise Http404
        request.study = study
        return view(request, **kwargs)

    entered: View = login_required(guarded)
    return entered


# ---------------------------------------------------------------- middleware


# Bytes of a file of items.
_LARGEST_UPLOAD = 64 * 1024 * 1024
# Bytes of everything else.
_LARGEST_FORM = 512 * 1024
# Errors of a database that is gone, full or locked for too long.
_DATABASE_LOST = (OperationalError, InterfaceError)


def takes_files(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view that takes files from people who are logged in."""
    view.takes_files = True  # type: ignore[attr-defined]
    return view


class UploadMiddleware:
    """Refuse a body that is too large by its announced length, before a byte of it is read or stored."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length <= _LARGEST_FORM:
            return None
        if getattr(view, "takes_files", False) and length <= _LARGEST_UPLOAD and request.user.is_authenticated:
            return None
        return render(request, "studio/too_large.html", {"limit": _LARGEST_UPLOAD // 1024**2}, status=413)


class DatabaseMiddleware:
    """Answer 503 with a page in the reader's language when the database cannot be reached."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return unavailable() if isinstance(exception, _DATABASE_LOST) else None


def unavailable() -> HttpResponse:
    """Return the page of a lost database. It asks the database nothing, not even who is logged in."""
    page = render_to_string("studio/unavailable.html")
    return HttpResponse(page, status=503, headers={"Retry-After": "10"})


# ---------------------------------------------------------------- text from a browser


_LONGEST_NUMBER = 12


def clean_text(text: str) -> str:
    """Return text without NUL bytes, lone surrogates (no database stores them) and outer space."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    # JSON may hold half a surrogate pair, which no database can store.
    return text.encode("utf-8", "replace").decode("utf-8").strip()


def whole_number(text: str, default: int, lowest: int = 0, highest: int = 10**9) -> int:
    """Return ASCII digits as a number within limits; anything else is the default."""
    digits = text.strip()
    # isdigit() alone is true of "²", which int() refuses, and of "٣", which nobody typed by intention.
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _LONGEST_NUMBER:
        return default
    return max(lowest, min(highest, int(digits)))


# ---------------------------------------------------------------- error pages


def _page(request: HttpRequest, title: str, text: str, status: int) -> HttpResponse:
    return render(request, "studio/error.html", {"title": title, "text": text}, status=status)


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 404, alike for pages that do not exist and pages that are not for this person."""
    return _page(request, _("There is nothing here"), _("The address is wrong, or it is not for you."), 404)


def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 403."""
    return _page(request, _("That is not allowed"), _("Nothing was changed."), 403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that is too old or came from another site."""
    text = _("The form was too old or came from another page. Nothing was changed. Go back, reload and try again.")
    return _page(request, _("That form could not be accepted"), text, 403)


def bad_request(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 400."""
    return _page(request, _("That could not be understood"), _("Nothing was changed."), 400)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 if it is the database that cannot be reached."""
    if isinstance(sys.exc_info()[1], _DATABASE_LOST):
        return unavailable()
    text = _("Something went wrong on the server. What was shown as saved is safe. Reload the page and go on.")
    return _page(request, _("Something went wrong"), text, 500)
