"""The work itself: consent, guideline, one item a screen, every answer saved as it is given."""

from __future__ import annotations

import json
import math
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deadpan.errors import DataError
from deadpan.studio import journal
from deadpan.studio.assignment import next_assignment
from deadpan.studio.creation import protocol_of
from deadpan.studio.models import (
    APPLICANT,
    DONE,
    MAIN,
    QUALIFICATION,
    REFUSED,
    Assignment,
    Item,
    Judgment,
    Member,
)
from deadpan.studio.roles import for_holders, for_workers
from deadpan.studio.withdrawal import consent

CODE = "withdrawal_code"


@for_workers
def arrive(request: HttpRequest) -> HttpResponse:
    """Wherever somebody should be now: consent, the survey, their item, or the end."""
    member, study = request.member, request.study
    if member.consented_at is None:
        return redirect("consent", slug=study.slug)
    if member.state == REFUSED:
        return _end(request, "refused")
    if protocol_of(study).survey:
        return redirect("survey", slug=study.slug)
    if not study.is_open:
        return _end(request, "closed")
    assignment = next_assignment(member, timezone.now())
    if assignment is not None:
        return redirect("item", slug=study.slug, number=assignment.number)
    return _end(request, "waiting" if member.state == APPLICANT else "done")


def _end(request: HttpRequest, state: str) -> HttpResponse:
    last = Assignment.objects.filter(member=request.member).order_by("-number").first()
    context = {"study": request.study, "state": state, "code": _code(request), "last": last}
    return render(request, "studio/done.html", context)


def _code(request: HttpRequest) -> str:
    """The withdrawal code of this study, as long as the session that was given it lasts."""
    return str(request.session.get(f"{CODE}:{request.study.pk}", ""))


@for_workers
def agree(request: HttpRequest) -> HttpResponse:
    """Consent, and what the study must know of raters who have to match."""
    study, member = request.study, request.member
    protocol = protocol_of(study)
    with translation.override(study.language if translation.check_for_language(study.language) else None):
        text = str(study.settings.get("consent") or protocol.consent)
    wanted = dict(study.settings.get("match") or {})
    if request.method == "POST" and request.POST.get("agree") == "yes":
        facts = {
            name: request.POST.get(name, "").strip()[:80] for name in ("country", "gender") if name in wanted
        }
        code = consent(member, text, timezone.now(), **facts)
        request.session[f"{CODE}:{study.pk}"] = code
        if any(str(wanted[name]).casefold() != facts[name].casefold() for name in facts):
            Member.objects.filter(pk=member.pk).update(state=REFUSED)
        return redirect("guideline", slug=study.slug)
    context = {"study": study, "protocol": protocol, "text": text, "wanted": wanted}
    return render(request, "studio/consent.html", context)


@for_workers
def guideline(request: HttpRequest) -> HttpResponse:
    """What to do, with examples; the code to keep, right after consent."""
    context = {"study": request.study, "protocol": protocol_of(request.study), "code": _code(request)}
    return render(request, "studio/guideline.html", context)


@for_holders
def item(request: HttpRequest, number: int) -> HttpResponse:
    """One item, with what this person has answered so far and nothing of what others have."""
    assignment, study = request.assignment, request.study
    screen = protocol_of(study).screen(assignment.item, study.settings, journal.order_for(assignment))
    answers = journal.current(request.member.pk, assignment.item.pk)
    done, total = _place(request.member, study)
    context = {
        "study": study,
        "screen": screen,
        "questions": [
            {"q": q, "answer": answers.get(q.name, ""), "asked": q.asked(answers), "long": _is_long(q)}
            for q in screen.questions
        ],
        "number": number,
        "done": done,
        "total": total,
        "minutes": _minutes_left(request.member, done, total),
        "complete": journal.is_complete(screen.questions, answers),
        "round": assignment.item.kind == QUALIFICATION,
    }
    return render(request, "studio/item.html", context)


def _is_long(question: Any) -> bool:
    """Whether the options are texts to read rather than words on a button."""
    return any(len(str(choice.label)) > 24 for choice in question.choices)


def _place(member: Any, study: Any) -> tuple[int, int]:
    """How many items this person has finished, and of how many."""
    kind = QUALIFICATION if member.state == APPLICANT else MAIN
    mine = Assignment.objects.filter(member=member, item__kind=kind, state=DONE).count()
    return mine, Item.objects.filter(study=study, kind=kind).count()


def _minutes_left(member: Any, done: int, total: int) -> int | None:
    """What the rest will take at this person's pace; nothing before there is a pace."""
    if done < 3 or done >= total:
        return None
    spent = sum(Judgment.objects.filter(member=member).values_list("seconds", flat=True))
    return math.ceil(spent / done * (total - done) / 60) if spent else None


@for_holders
@require_POST
def store(request: HttpRequest, number: int) -> HttpResponse:
    """Save answers. What is acknowledged here is on the disk."""
    wants_json = request.content_type == "application/json"
    try:
        told = _told(request, wants_json)
        if not request.study.is_open:
            raise DataError(_("The study is closed. Nothing was changed."))
        saved = journal.save(request.assignment, request.study, now=timezone.now(), **told)
    except DataError as wrong:
        if wants_json:
            return JsonResponse({"error": str(wrong)}, status=400)
        return render(
            request, "studio/mishap.html", {"title": _("Not saved"), "text": str(wrong)}, status=400
        )
    except DatabaseError:
        # Nothing was written. The browser keeps the answer and tries again.
        return JsonResponse({"error": _("The server could not write. Your answer is kept here.")}, status=503)
    if wants_json:
        return JsonResponse({"saved": True, "complete": saved.complete, "answers": saved.answers})
    if saved.complete:
        return redirect("next", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=number)


def _told(request: HttpRequest, as_json: bool) -> dict[str, Any]:
    """Answers, seconds and key, from the script or from the plain form."""
    if not as_json:
        answers = {k[2:]: v.strip() for k, v in request.POST.items() if k.startswith("q.")}
        return {"answers": answers, "seconds": 0.0, "key": request.POST.get("key", "")}
    try:
        body = json.loads(request.body)
        answers, seconds, key = body["answers"], float(body.get("seconds", 0)), body["key"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError("expected answers, seconds and a key") from None
    if not isinstance(key, str) or not isinstance(answers, dict):
        raise DataError("expected answers, seconds and a key")
    if not all(isinstance(value, str) for value in answers.values()):
        raise DataError("answers are text")
    return {
        "answers": {name: value.strip() for name, value in answers.items()},
        "seconds": seconds,
        "key": key,
    }


@for_workers
@require_POST
def take_back(request: HttpRequest) -> HttpResponse:
    """Undo the last save and show the item it was about."""
    assignment = journal.undo(request.member, request.study, timezone.now())
    if assignment is None:
        return redirect("study", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=assignment.number)


@for_workers
def forward(request: HttpRequest) -> HttpResponse:
    """The item after this one: one they have had, or a new one."""
    try:
        after = int(request.GET.get("after", ""))
    except ValueError:
        after = 10**9
    later = Assignment.objects.filter(member=request.member, number__gt=after).order_by("number").first()
    if later is not None:
        return redirect("item", slug=request.study.slug, number=later.number)
    return redirect("study", slug=request.study.slug)
