"""Items: one per screen, every answer saved as it is given; skipped, flagged, undone and looked at again."""

from __future__ import annotations

import json
import math
from typing import Any

from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from deadpan.errors import DataError
from deadpan.studio.app.roles import for_holders, for_workers
from deadpan.studio.app.texts import clean_text, whole_number
from deadpan.studio.app.views.accounts import return_link
from deadpan.studio.models import APPLICANT, MAIN, OPEN, QUALIFICATION, RETURNED, Assignment
from deadpan.studio.people.assignment import next_assignment, skip_assignment
from deadpan.studio.people.quota import share_of
from deadpan.studio.records import journal
from deadpan.studio.records.studies import screen_of

PAGE = 50
LONGEST_REASON = 300


@for_holders
def item(request: HttpRequest, number: int) -> HttpResponse:
    """Show one item with this person's answers, and nothing of other people's."""
    assignment, study, member = request.assignment, request.study, request.member
    screen = screen_of(assignment.item, study, journal.order_for(assignment))
    answers = journal.current(member.pk, assignment.item.pk)
    done, total = progress_of(member, study)
    if request.headers.get("X-Ahead"):
        # Fetched before it is needed: when it is shown, those before it are done.
        before = Assignment.objects.filter(member=member, state=OPEN, number__lt=number)
        done = min(total, done + before.filter(item__kind__in=(MAIN, QUALIFICATION)).count())
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
        "minutes": _minutes_left(member, done, total),
        "complete": journal.is_complete(screen.questions, answers),
        "round": member.state == APPLICANT,
        "flag": assignment.flag,
        "return_link": return_link(request),
    }
    return render(request, "studio/item.html", context)


def _is_long(question: Any) -> bool:
    """Return whether the options are texts to read rather than words on a button."""
    return any(len(str(choice.label)) > 24 for choice in question.choices)


def progress_of(member: Any, study: Any) -> tuple[int, int]:
    """Return how many items this person has finished, and of how many: their share, without checks."""
    if member.state == APPLICANT:
        return min(member.round_done, study.round_items), study.round_items
    return member.done, max(share_of(member, study), member.done)


def _minutes_left(member: Any, done: int, total: int) -> int | None:
    """Return the minutes left at this person's pace; None before three items are done."""
    finished = member.done + member.round_done + member.checks
    if done < 3 or done >= total or not member.seconds:
        return None
    pace = float(member.seconds) / finished
    left: float = pace * (total - done) / 60
    return math.ceil(left)


@for_holders
@require_POST
def store(request: HttpRequest, number: int) -> HttpResponse:
    """Save answers. An acknowledged answer is on the disk."""
    wants_json = request.content_type == "application/json"
    try:
        told = _told(request, wants_json)
        if not request.study.is_open:
            raise DataError(_("The study is closed. Nothing was changed."))
        saved = journal.save(request.assignment, request.study, now=timezone.now(), **told)
    except DataError as wrong:
        if wants_json:
            return JsonResponse({"error": str(wrong)}, status=400)
        return render(request, "studio/error.html", {"title": _("Not saved"), "text": str(wrong)}, status=400)
    except DatabaseError:
        # Nothing was written. The browser keeps the answer and tries again.
        return JsonResponse({"error": _("The server could not write. Your answer is kept here.")}, status=503)
    if wants_json:
        return JsonResponse({"saved": True, "complete": saved.complete, "answers": saved.answers})
    if saved.complete:
        return redirect("next", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=number)


def _told(request: HttpRequest, as_json: bool) -> dict[str, Any]:
    """Return answers, seconds and key, from the script or from the plain form."""
    if not as_json:
        answers = {k[2:]: clean_text(v) for k, v in request.POST.items() if k.startswith("q.")}
        return {"answers": answers, "seconds": 0.0, "key": clean_text(request.POST.get("key", ""))}
    try:
        body = json.loads(request.body)
        answers, seconds, key = body["answers"], float(body.get("seconds", 0)), body["key"]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise DataError("expected answers, seconds and a key") from None
    if not isinstance(key, str) or not isinstance(answers, dict):
        raise DataError("expected answers, seconds and a key")
    if not all(isinstance(value, str) for value in answers.values()):
        raise DataError("answers are text")
    return {
        "answers": {name: clean_text(value) for name, value in answers.items()},
        "seconds": seconds,
        "key": clean_text(key),
    }


@for_workers
@require_POST
def undo_last(request: HttpRequest) -> HttpResponse:
    """Undo the last save and show the item it was about. A study that takes no answers changes none."""
    if not request.study.is_open:
        return redirect("study", slug=request.study.slug)
    assignment = journal.undo(request.member, request.study, timezone.now())
    if assignment is None:
        return redirect("study", slug=request.study.slug)
    return redirect("item", slug=request.study.slug, number=assignment.number)


@for_workers
def forward(request: HttpRequest) -> HttpResponse:
    """Redirect to the next item: one they had before, or a new one."""
    later = _later(request)
    if later is not None:
        return redirect("item", slug=request.study.slug, number=later.number)
    return redirect("study", slug=request.study.slug)


def _later(request: HttpRequest) -> Any:
    """Return the person's next item after the one the address names, if they have one."""
    mine = Assignment.objects.filter(member=request.member, number__gt=_after(request))
    return mine.exclude(state=RETURNED).order_by("number").first()


def _after(request: HttpRequest) -> int:
    return whole_number(request.GET.get("after", ""), 10**9)


@for_workers
def ahead(request: HttpRequest) -> HttpResponse:
    """Show the item after this one before this one is finished, so that nobody waits for it; 204: none."""
    if not request.study.is_open or request.member.consented_at is None:
        return HttpResponse(status=204)
    following = _later(request) or next_assignment(request.member, timezone.now(), after=_after(request))
    if following is None:
        return HttpResponse(status=204)
    return redirect("item", slug=request.study.slug, number=following.number)


@for_holders
@require_POST
def skip(request: HttpRequest, number: int) -> HttpResponse:
    """Give an item back with a reason; it goes to somebody else."""
    reason = clean_text(request.POST.get("reason", ""))[:LONGEST_REASON]
    if not reason:
        text = _("Say why you skip this item. Nothing was changed.")
        return render(request, "studio/error.html", {"title": _("Not skipped"), "text": text}, status=400)
    if request.study.is_open:
        skip_assignment(request.assignment, reason)
    return redirect("next", slug=request.study.slug)


@for_holders
@require_POST
def flag(request: HttpRequest, number: int) -> HttpResponse:
    """Tell the study leader that something is wrong with an item; an empty text takes it back."""
    text = clean_text(request.POST.get("flag", ""))[:LONGEST_REASON]
    Assignment.objects.filter(pk=request.assignment.pk).update(flag=text)
    return redirect("item", slug=request.study.slug, number=number)


@for_workers
def answers(request: HttpRequest) -> HttpResponse:
    """List this person's own items and answers, the latest first."""
    mine = Assignment.objects.filter(member=request.member).exclude(state=RETURNED)
    pages = Paginator(mine.select_related("item").order_by("-number"), PAGE)
    page = pages.get_page(whole_number(request.GET.get("page", ""), 1))
    rows = [
        {
            "number": held.number,
            "state": held.state,
            "text": held.item.response.get("text", ""),
            "language": held.item.language,
            "answers": _said(held, request.study),
            "flag": held.flag,
        }
        for held in page
    ]
    context = {"study": request.study, "rows": rows, "page": page}
    return render(request, "studio/answers.html", context)


def _said(assignment: Any, study: Any) -> list[str]:
    """Return the current answers in the words of their buttons."""
    given = journal.current(assignment.member_id, assignment.item_id)
    screen = screen_of(assignment.item, study, journal.order_for(assignment))
    said = []
    for question in screen.questions:
        value = given.get(question.name, "")
        if value:
            label = next((choice.label for choice in question.choices if choice.value == value), value)
            said.append(str(label))
    return said
