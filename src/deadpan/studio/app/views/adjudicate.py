"""Adjudication: disagreements decided by a person who sees the answers without names; the leader looks on."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from deadpan.studio.app.roles import for_judges
from deadpan.studio.app.texts import whole_number
from deadpan.studio.models import MAIN, StoredCase, StoredItem, StoredJudgment
from deadpan.studio.records.figures.cases import recount_cases, refresh_cases
from deadpan.studio.records.studies import screen_of

PAGE = 50
ORDER = ("share", "item_id", "pk")


@for_judges
def queue(request: HttpRequest) -> HttpResponse:
    """List open disagreements with their texts, the most divided first."""
    refresh_cases(request.study)
    waiting = StoredCase.objects.filter(study=request.study, decided="").select_related("item")
    page = Paginator(waiting.order_by(*ORDER), PAGE).get_page(whole_number(request.GET.get("page", ""), 1))
    decided = StoredCase.objects.filter(study=request.study).exclude(decided="").count()
    context = {"study": request.study, "page": page, "decided": decided, "may_decide": request.member}
    return render(request, "studio/queue.html", context)


@for_judges
def case(request: HttpRequest, pk: int, question: str) -> HttpResponse:
    """Show and decide one disagreement. The decision is one more row of the journal."""
    study = request.study
    refresh_cases(study)
    item = StoredItem.objects.filter(study=study, pk=pk, kind=MAIN).first()
    found = StoredCase.objects.filter(study=study, item=item, question=question).first() if item else None
    if item is None or found is None:
        raise Http404
    screen = screen_of(item, study, f"adjudicate:{item.pk}")
    asked = next((q for q in screen.questions if q.name == question), None)
    if asked is None:
        raise Http404
    following = _neighbour(found, forward=True)
    if request.method == "POST":
        answer = request.POST.get("answer", "")
        if request.member is None or answer not in [choice.value for choice in asked.choices]:
            raise Http404
        StoredJudgment.objects.create(
            study=study, item=item, member=request.member, question=question, answer=answer,
            key=secrets.token_hex(16), source="adjudication", created_at=timezone.now(),
        )  # fmt: skip
        recount_cases(study, [item.pk])
        if following is not None and request.POST.get("then") == "next":
            return redirect("case", slug=study.slug, pk=following.item_id, question=following.question)
        return redirect("adjudicate", slug=study.slug)
    context = {
        "study": study,
        "screen": screen,
        "question": asked,
        "votes": [(choice, found.counts.get(choice.value, 0)) for choice in asked.choices],
        "case": found,
        "item": item,
        "following": following,
        "previous": _neighbour(found, forward=False),
        "may_decide": request.member,
    }
    return render(request, "studio/case.html", context)


def _neighbour(case: Any, forward: bool) -> Any:
    """Return the open case after this one in the list, or the one before it."""
    waiting = StoredCase.objects.filter(study_id=case.study_id, decided="")
    if forward:
        later = Q(share__gt=case.share) | Q(share=case.share, item_id__gt=case.item_id)
        later |= Q(share=case.share, item_id=case.item_id, pk__gt=case.pk)
        return waiting.filter(later).order_by(*ORDER).first()
    earlier = Q(share__lt=case.share) | Q(share=case.share, item_id__lt=case.item_id)
    earlier |= Q(share=case.share, item_id=case.item_id, pk__lt=case.pk)
    return waiting.filter(earlier).order_by(*(f"-{name}" for name in ORDER)).first()
