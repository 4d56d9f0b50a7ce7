"""Guards around every request: uploads are refused before they are read, and a lost database is explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

UPLOAD = 64 * 1024 * 1024
"""Bytes of a file of items."""
FORM = 512 * 1024
"""Bytes of everything else."""
LOST = (OperationalError, InterfaceError)
"""Errors of a database that is gone, full or locked for too long."""


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
        if length <= FORM:
            return None
        if getattr(view, "takes_files", False) and length <= UPLOAD and request.user.is_authenticated:
            return None
        return render(request, "studio/too_large.html", {"limit": UPLOAD // 1024**2}, status=413)


class DatabaseMiddleware:
    """Answer 503 with a page in the reader's language when the database cannot be reached."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return unavailable() if isinstance(exception, LOST) else None


def unavailable() -> HttpResponse:
    """Return the page of a lost database. It asks the database nothing, not even who is logged in."""
    page = render_to_string("studio/unavailable.html")
    return HttpResponse(page, status=503, headers={"Retry-After": "10"})
