"""Pages for when something is not there or went wrong: what happened, what is safe, what to do."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _


def _page(request: HttpRequest, title: str, text: str, status: int) -> HttpResponse:
    return render(request, "studio/mishap.html", {"title": title, "text": text}, status=status)


def not_found(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Nothing here, or nothing for you: the same page, so that neither can be told from the other."""
    return _page(request, _("There is nothing here"), _("The address is wrong, or it is not for you."), 404)


def forbidden(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """Not allowed."""
    return _page(request, _("That is not allowed"), _("Nothing was changed."), 403)


def csrf(request: HttpRequest, reason: str = "") -> HttpResponse:
    """The form is too old or came from elsewhere."""
    text = _(
        "The form was too old or came from another page. Nothing was changed. Go back, reload and try again."
    )
    return _page(request, _("That form could not be accepted"), text, 403)


def bad(request: HttpRequest, exception: Any = None) -> HttpResponse:
    """A request that makes no sense."""
    return _page(request, _("That could not be understood"), _("Nothing was changed."), 400)


def broken(request: HttpRequest) -> HttpResponse:
    """Our fault."""
    text = _(
        "Something went wrong on the server. What was shown as saved is safe. Reload the page and go on."
    )
    return _page(request, _("Something went wrong"), text, 500)
