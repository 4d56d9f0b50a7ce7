"""The owner's page: progress, agreement, pace, disagreements, people, links."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from deadpan.page import Cell, Table
from deadpan.studio.invites import make_invite
from deadpan.studio.models import ROLES, Judgment
from deadpan.studio.progress import Progress, progress
from deadpan.studio.qualification import applicants, decide, has_round
from deadpan.studio.results import disagreements, report, study_agreement
from deadpan.studio.roles import for_owners

SHOWN = 50


@for_owners
def dashboard(request: HttpRequest) -> HttpResponse:
    """The whole page; the part that changes is fetched again by itself."""
    link = request.session.pop("invite_link", "")
    context = {"study": request.study, "roles": ROLES[1:], "link": link, **_figures(request.study)}
    return render(request, "studio/dashboard.html", context)


@for_owners
def live(request: HttpRequest) -> HttpResponse:
    """The part that changes."""
    return render(request, "studio/dashboard_live.html", {"study": request.study, **_figures(request.study)})


def _figures(study: Any) -> dict[str, Any]:
    """Everything counted. The costly figures are kept until there is another judgment."""
    now = timezone.now()
    last = Judgment.objects.filter(study=study).order_by("-id").values_list("id", flat=True).first()
    people = list(study.members.values_list("id", "state"))
    told = list(study.submissions.values_list("id", flat=True))
    stamp = hash((last, tuple(people), tuple(told)))
    key = f"figures:{study.pk}:{stamp}:{translation.get_language()}"
    figures = cache.get(key)
    if figures is None:
        figures = {
            "agreement": _agreement(study),
            "sections": report(study),
            "split": disagreements(study)[:SHOWN],
        }
        cache.set(key, figures, 3600)
    counted = progress(study, now)
    numeric = [_("hours"), _("owed"), _("checks passed"), _("share")]
    round_ = applicants(study) if has_round(study) else []
    return {
        **figures,
        "progress": counted,
        "people": _people(counted),
        "applicants": round_,
        "at": now,
        "numeric": numeric,
    }


NAMES = {
    "raw": gettext_lazy("plain agreement"),
    "cohen": gettext_lazy("Cohen's kappa, mean of pairs"),
    "fleiss": gettext_lazy("Fleiss' kappa"),
    "alpha": gettext_lazy("Krippendorff's alpha"),
    "ac1": gettext_lazy("Gwet's AC1"),
}


def _agreement(study: Any) -> list[tuple[str, Table]]:
    """One table a question."""
    return [
        (
            question,
            Table(
                (_("coefficient"), _("value")),
                tuple((str(NAMES[name]), value) for name, value in found.items()),
            ),
        )
        for question, found in study_agreement(study).items()
    ]


def _people(counted: Progress) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            worker.name,
            _(worker.role),
            _(worker.state),
            worker.done,
            f"{worker.hours:.2f}",
            f"{worker.owed:.2f} {counted.currency}".strip() if worker.owed is not None else None,
            f"{worker.checks_passed} / {worker.checks}" if worker.checks else None,
        )
        for worker in counted.workers
    ]
    head = (_("name"), _("role"), _("state"), _("done"), _("hours"), _("owed"), _("checks passed"))
    return Table(head, tuple(rows))


@for_owners
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """Make a link; it is shown once."""
    role = request.POST.get("role", "")
    uses = request.POST.get("uses", "1")
    if role not in ROLES or not uses.isdigit() or not 1 <= int(uses) <= 10_000:
        raise Http404
    token = make_invite(request.study, role, int(uses), timezone.now(), request.user.name)
    request.session["invite_link"] = request.build_absolute_uri(f"/join/{token}")
    return redirect("dashboard", slug=request.study.slug)


@for_owners
@require_POST
def decide_applicant(request: HttpRequest) -> HttpResponse:
    """Admit or refuse somebody after the qualification round."""
    admit = request.POST.get("decision") == "admit"
    if not decide(request.study, request.POST.get("member", ""), admit, request.user.name):
        raise Http404
    return redirect("dashboard", slug=request.study.slug)
