"""The survey: a form checked by the protocol's rules, handed in once."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from deadpan.studio.app.roles import for_workers
from deadpan.studio.app.views.joining import taken_part
from deadpan.studio.models import REFUSED, Identity, StoredSubmission
from deadpan.studio.people.platforms import Completion, filled_completion, known_participant
from deadpan.studio.people.withdrawal import shown_code
from deadpan.studio.protocols.protocol import SurveyEntry
from deadpan.studio.records.studies import protocol_of, settings_of

BEGAN = "survey_began"


@for_workers
def fill(request: HttpRequest) -> HttpResponse:
    """Show and check the form. What can be corrected is shown before it is handed in."""
    study, member = request.study, request.member
    protocol, settings = protocol_of(study), settings_of(study)
    if StoredSubmission.objects.filter(member=member).exists():
        return redirect("thanks", slug=study.slug)
    if member.consented_at is None or member.state == REFUSED or not (protocol.survey and study.is_open):
        return redirect("study", slug=study.slug)
    now = timezone.now()
    began = request.session.setdefault(f"{BEGAN}:{study.pk}", now.timestamp())
    form = protocol.survey_form(request.POST or None, settings)
    if Identity.objects.filter(member=member).exclude(crowd_id="").exists():
        form.fields.pop("crowd_id", None)  # the platform's link said who it is
    if request.method == "POST" and form.is_valid() and not _has_taken_part(form, request):
        seconds = now.timestamp() - float(began)
        # Every submission to any study here: a post may be handed in only once.
        earlier = list(StoredSubmission.objects.values_list("answers", flat=True))
        entry = protocol.survey_entry(form.cleaned_data, settings, seconds=seconds, now=now, earlier=earlier)
        for reason in entry.correctable:
            places: list[str | None] = [*entry.fields.get(reason, ())]
            for name in places or [None]:
                form.add_error(name, protocol.survey_reason(reason, settings))
        if not entry.correctable:
            _hand_in(request, form.cleaned_data, entry, seconds)
            return redirect("thanks", slug=study.slug)
    introduction = protocol.introduction(settings)
    context = {"study": study, "form": form, "protocol": protocol, "introduction": introduction}
    return render(request, protocol.survey_template, context)


def _has_taken_part(form: Any, request: HttpRequest) -> bool:
    """Show at its field that somebody else took part with this platform's id."""
    earlier = known_participant(request.study, form.cleaned_data.get("crowd_id", ""))
    if earlier is None or earlier.pk == request.member.pk:
        return False
    form.add_error("crowd_id", taken_part())
    return True


def _hand_in(request: HttpRequest, cleaned: dict[str, Any], entry: SurveyEntry, seconds: float) -> None:
    """Store the submission once, even if the button is pressed twice. The platform's id is stored apart."""
    try:
        with transaction.atomic():
            StoredSubmission.objects.create(
                study=request.study, member=request.member, key="only", answers=entry.answers,
                reasons=list(entry.reasons), seconds=round(seconds, 1),
            )  # fmt: skip
            if cleaned.get("crowd_id"):
                Identity.objects.filter(member=request.member).update(crowd_id=cleaned["crowd_id"])
    except IntegrityError:
        return


@for_workers
def thanks(request: HttpRequest) -> HttpResponse:
    """Show whether the submission can be used, the withdrawal code and the platform's completion code."""
    submission = StoredSubmission.objects.filter(member=request.member).first()
    if submission is None:
        return redirect("study", slug=request.study.slug)
    protocol, settings = protocol_of(request.study), settings_of(request.study)
    context = {
        "study": request.study,
        "reasons": [protocol.survey_reason(reason, settings) for reason in submission.reasons],
        "code": shown_code(request.member),
        "completion": None if submission.reasons else _way_back(request),
    }
    return render(request, "studio/thanks.html", context)


def _way_back(request: HttpRequest) -> Completion | None:
    """Return the platform's code and address."""
    settings = settings_of(request.study)
    return filled_completion(settings, request.member)
