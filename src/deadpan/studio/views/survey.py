"""The survey: posts of one's own, checked by the rules, handed in once."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from deadpan.studio.creation import protocol_of
from deadpan.studio.forms import REASONS, SurveyForm, answers_of, response_of
from deadpan.studio.models import Identity, Submission
from deadpan.studio.quality import CURABLE, Limits, reasons
from deadpan.studio.roles import for_workers
from deadpan.studio.views.work import _code

BEGAN = "survey_began"


@for_workers
def fill(request: HttpRequest) -> HttpResponse:
    """The form. What can be put right is said before it is handed in; the rest decides if it is used."""
    study, member = request.study, request.member
    if member.consented_at is None or not protocol_of(study).survey:
        return redirect("study", slug=study.slug)
    if Submission.objects.filter(member=member).exists() or not study.is_open:
        return redirect("thanks", slug=study.slug)
    now = timezone.now()
    began = request.session.setdefault(f"{BEGAN}:{study.pk}", now.timestamp())
    form = SurveyForm(request.POST or None, crowd=bool(study.settings.get("crowd")))
    if request.method == "POST" and form.is_valid():
        response = response_of(form.cleaned_data, now.timestamp() - float(began), now)
        found = reasons(response, Limits.of(study.settings), _earlier())
        curable = [reason for reason in found if reason in CURABLE]
        for reason in curable:
            form.add_error(None, REASONS[reason])
        if not curable:
            _hand_in(request, form.cleaned_data, found, response.seconds)
            return redirect("thanks", slug=study.slug)
    context = {"study": study, "form": form, "protocol": protocol_of(study)}
    return render(request, "studio/survey.html", context)


def _earlier() -> list[tuple[str, str]]:
    """Every post handed in before, in any study here."""
    found = []
    for answers in Submission.objects.values_list("answers", flat=True).iterator():
        found += [(str(post.get("link", "")), str(post.get("text", ""))) for post in answers.get("posts", [])]
    return found


def _hand_in(request: HttpRequest, cleaned: dict[str, Any], found: list[str], seconds: float) -> None:
    """Store it once, however often the button was pressed. The platform's id goes with the identity."""
    try:
        with transaction.atomic():
            Submission.objects.create(
                study=request.study, member=request.member, key="only", answers=answers_of(cleaned),
                reasons=found, seconds=round(seconds, 1),
            )  # fmt: skip
            Identity.objects.filter(member=request.member).update(crowd_id=cleaned.get("crowd_id", ""))
    except IntegrityError:
        return


@for_workers
def thanks(request: HttpRequest) -> HttpResponse:
    """What became of it, the code to withdraw, and the platform's completion code if it can be used."""
    submission = Submission.objects.filter(member=request.member).first()
    if submission is None:
        return redirect("study", slug=request.study.slug)
    context = {
        "study": request.study,
        "reasons": [REASONS[reason] for reason in submission.reasons],
        "code": _code(request),
        "completion": "" if submission.reasons else request.study.settings.get("completion_code", ""),
    }
    return render(request, "studio/thanks.html", context)
