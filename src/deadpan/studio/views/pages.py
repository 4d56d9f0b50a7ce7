"""Pages that belong to no study: the start, the style sheet, the language, withdrawing."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import check_for_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deadpan.page import stylesheet
from deadpan.studio.models import WITHDRAWN, Member, Study
from deadpan.studio.security import attempt_key, count_failure, too_many
from deadpan.studio.withdrawal import withdraw


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """The studies one is in; for an owner, all of them."""
    mine = Member.objects.filter(person=request.user).exclude(state=WITHDRAWN).select_related("study")
    studies = Study.objects.order_by("-created_at") if request.user.is_owner else []
    return render(request, "studio/home.html", {"memberships": mine, "studies": studies})


def look(request: HttpRequest) -> HttpResponse:
    """The style sheet every page of deadpan has."""
    return HttpResponse(stylesheet(), content_type="text/css", headers={"Cache-Control": "max-age=3600"})


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Choose the language of the pages; of the texts people judge, nothing changes."""
    wanted = request.POST.get("next", "")
    local = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure())
    response = redirect(wanted if local else "home")
    code = request.POST.get("language", "")
    if code in dict(settings.LANGUAGES) and check_for_language(code):
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME, code, max_age=365 * 24 * 3600, samesite="Lax",
            secure=settings.LANGUAGE_COOKIE_SECURE, httponly=True,
        )  # fmt: skip
    return response


def withdrawal(request: HttpRequest) -> HttpResponse:
    """Withdraw with the code. Needs no login: whoever has the code may."""
    message, done, status = "", False, 200
    if request.method == "POST":
        key, at = attempt_key(request, "withdraw"), timezone.now()
        if too_many(key, at):
            message, status = _("Too many tries. Wait ten minutes."), 429
        elif withdraw(request.POST.get("code", ""), at):
            done = True
        else:
            count_failure(key, at)
            message = _("No such code, or it was used already. Check it letter by letter.")
    return render(request, "studio/withdraw.html", {"message": message, "done": done}, status=status)
