"""Pages that belong to no study: the start, the style sheet, the language, withdrawal."""

from __future__ import annotations

from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from deadpan.page import stylesheet
from deadpan.studio.app.texts import clean_text
from deadpan.studio.app.throttle import Try
from deadpan.studio.models import REMOVED, WITHDRAWN, Member, Person, StoredStudy
from deadpan.studio.people.withdrawal import withdraw


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """List the person's studies; for an owner, all studies."""
    mine = (
        Member.objects.filter(person=request.user)
        .exclude(state__in=(WITHDRAWN, REMOVED))
        .select_related("study")
    )
    studies = StoredStudy.objects.order_by("-created_at") if request.user.is_owner else []
    return render(request, "studio/home.html", {"memberships": mine, "studies": studies})


def look(request: HttpRequest) -> HttpResponse:
    """Return the style sheet of every deadpan page."""
    return HttpResponse(stylesheet(), content_type="text/css", headers={"Cache-Control": "max-age=3600"})


def withdrawal(request: HttpRequest) -> HttpResponse:
    """Withdraw with the code; no login is needed."""
    message, done, status = "", False, 200
    if request.method == "POST":
        at = timezone.now()
        attempt = Try(request, "withdraw", at)
        if attempt.refused:
            message, status = _("Too many attempts. Wait ten minutes."), 429
        elif withdraw(clean_text(request.POST.get("code", "")), at):
            done = True
            attempt.succeeded()
            if request.user.is_authenticated and not Person.objects.filter(pk=request.user.pk).exists():
                logout(request)
        else:
            message = _("No such code, or it was used already. Check it letter by letter.")
    return render(request, "studio/withdraw.html", {"message": message, "done": done}, status=status)
