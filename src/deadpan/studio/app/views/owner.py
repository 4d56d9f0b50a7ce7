"""The study leader's dashboard: progress, agreement, disagreements and people at a glance."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from deadpan.studio.app.figures import figures_page
from deadpan.studio.app.roles import for_owners
from deadpan.studio.app.texts import whole_number
from deadpan.studio.models import INVITED
from deadpan.studio.people.qualification import decide
from deadpan.studio.records.figures.flags import flagged_assignments, item_flags

PAGE = 50


@for_owners
def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the whole page; its script fetches the live part again."""
    context = {"study": request.study, "roles": INVITED, "live": figures_page(request.study)}
    return render(request, "studio/dashboard.html", context)


@for_owners
def live(request: HttpRequest) -> HttpResponse:
    """Show the live part alone."""
    return HttpResponse(figures_page(request.study))


@for_owners
def flags(request: HttpRequest) -> HttpResponse:
    """List what people flagged and why they skipped items, the latest first."""
    pages = Paginator(flagged_assignments(request.study), PAGE)
    page = pages.get_page(whole_number(request.GET.get("page", ""), 1))
    context = {"study": request.study, "page": page, "rows": list(item_flags(page))}
    return render(request, "studio/flags.html", context)


@for_owners
@require_POST
def decide_applicant(request: HttpRequest) -> HttpResponse:
    """Admit or refuse somebody after the qualification round."""
    admit = request.POST.get("decision") == "admit"
    if not decide(request.study, request.POST.get("member", ""), admit, request.user.name):
        raise Http404
    return redirect("dashboard", slug=request.study.slug)
