"""The way into a study: what comes next, consent, the guideline, time on pages, and the end."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from deadpan.studio.app.guide import guideline_html
from deadpan.studio.app.roles import for_members, for_workers
from deadpan.studio.app.texts import clean_text
from deadpan.studio.app.views.accounts import return_link
from deadpan.studio.models import (
    ADJUDICATOR,
    ANNOTATOR,
    APPLICANT,
    OWNER,
    PARTICIPANT,
    REFUSED,
    RETURNED,
    Assignment,
    Member,
)
from deadpan.studio.people.assignment import next_assignment
from deadpan.studio.people.facts import COUNTRIES, GENDERS, same_fact
from deadpan.studio.people.platforms import completion_of
from deadpan.studio.people.withdrawal import consent, shown_code
from deadpan.studio.records.figures.pay import pay_of, pay_rule
from deadpan.studio.records.studies import protocol_of, settings_of

LONGEST_PAGE = timedelta(hours=1)


@for_members(OWNER, ADJUDICATOR, ANNOTATOR, PARTICIPANT)
def arrive(request: HttpRequest) -> HttpResponse:
    """Redirect to what comes next: consent, the survey, an item, or the end."""
    member, study = request.member, request.study
    if member.role == OWNER:
        return redirect("dashboard", slug=study.slug)
    if member.role == ADJUDICATOR:
        return redirect("adjudicate", slug=study.slug)
    if member.consented_at is None:
        return redirect("consent", slug=study.slug)
    if member.state == REFUSED:
        return _end(request, "refused")
    if protocol_of(study).survey and (study.is_open or member.submissions.exists()):
        return redirect("survey", slug=study.slug)
    if not study.is_open:
        return _end(request, study.stage)
    assignment = next_assignment(member, timezone.now())
    if assignment is not None:
        return redirect("item", slug=study.slug, number=assignment.number)
    return _end(request, "waiting" if member.state == APPLICANT else "done")


def _end(request: HttpRequest, state: str) -> HttpResponse:
    member, study = request.member, request.study
    last = Assignment.objects.filter(member=member).exclude(state=RETURNED).order_by("-number").first()
    context = {
        "study": study,
        "state": state,
        "code": shown_code(member),
        "last": last,
        "pay": pay_of(member, settings_of(study)),
        "completion": completion_of(member, study, state),
    }
    return render(request, "studio/done.html", context)


@for_workers
def agree(request: HttpRequest) -> HttpResponse:
    """Ask for consent, and for the facts that raters must share."""
    study, member = request.study, request.member
    protocol, settings = protocol_of(study), settings_of(study)
    # The protocol's own text is in the reader's language: people agree to what they can read.
    text = settings.consent or str(protocol.consent)
    wanted = dict(settings.match)
    missing = False
    if request.method == "POST" and request.POST.get("agree") == "yes":
        facts = {
            name: clean_text(request.POST.get(name, ""))[:40]
            for name in ("country", "gender")
            if name in wanted
        }
        missing = not all(facts.values())
        if not missing:
            _agreed(member, text, facts, wanted)
            return redirect("guideline", slug=study.slug)
    context = {
        "study": study,
        "protocol": protocol,
        "text": text,
        "wanted": wanted,
        "settings": settings,
        "countries": COUNTRIES,
        "genders": GENDERS,
        "missing": missing,
        "rule": pay_rule(settings),
        "again": member.consented_at is not None,
    }
    return render(request, "studio/consent.html", context)


def _agreed(member: Any, text: str, facts: dict[str, str], wanted: dict[str, str]) -> None:
    """Store the consent; those who do not match what the study asks for are told at once."""
    consent(member, text, timezone.now(), **facts)
    if not all(same_fact(name, str(wanted[name]), facts[name]) for name in facts):
        Member.objects.filter(pk=member.pk).update(state=REFUSED)


@for_workers
def guideline(request: HttpRequest) -> HttpResponse:
    """Show the guideline with examples, and the withdrawal code to people who have agreed."""
    settings = settings_of(request.study)
    context = {
        "study": request.study,
        "protocol": protocol_of(request.study),
        "introduction": protocol_of(request.study).introduction(settings),
        "own": guideline_html(settings.guideline),
        "code": shown_code(request.member),
        "return_link": return_link(request),
        "rule": pay_rule(settings),
    }
    return render(request, "studio/guideline.html", context)


@for_workers
@require_POST
def spent(request: HttpRequest) -> HttpResponse:
    """Count time on a page that no answer carries: at most what has passed since it was counted last."""
    now, member = timezone.now(), request.member
    try:
        told = float(request.POST.get("seconds", "0"))
    except ValueError:
        told = 0.0
    if not math.isfinite(told):
        told = 0.0
    passed = min(now - (member.seen_at or member.joined_at), LONGEST_PAGE).total_seconds()
    seconds = round(max(0.0, min(told, passed)), 3)
    Member.objects.filter(pk=member.pk).update(page_seconds=F("page_seconds") + seconds, seen_at=now)
    return HttpResponse(status=204)
