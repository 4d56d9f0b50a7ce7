"""Error pages: what happened, what is safe, what to do."""

from __future__ import annotations

import sys
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from deadpan.studio.app.guards import LOST, unavailable


def _page(request: HttpRequest, title: str, text: str, status: int) -> HttpResponse:
    return render(request, "studio/error.html", {"title": title, "text": text}, status=status)


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 404, alike for pages that do not exist and pages that are not for this person."""
    return _page(request, _("There is nothing here"), _("The address is wrong, or it is not for you."), 404)


def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 403."""
    return _page(request, _("That is not allowed"), _("Nothing was changed."), 403)


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that is too old or came from another site."""
    text = _(
        "The form was too old or came from another page. Nothing was changed. Go back, reload and try again."
    )
    return _page(request, _("That form could not be accepted"), text, 403)


def bad(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Answer 400."""
    return _page(request, _("That could not be understood"), _("Nothing was changed."), 400)


def broken(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 if it is the database that cannot be reached."""
    if isinstance(sys.exc_info()[1], LOST):
        return unavailable()
    text = _(
        "Something went wrong on the server. What was shown as saved is safe. Reload the page and go on."
    )
    return _page(request, _("Something went wrong"), text, 500)
