"""Disagreements, decided by somebody who sees the answers but not whose they are."""

from __future__ import annotations

import secrets

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from deadpan.studio.creation import protocol_of
from deadpan.studio.models import MAIN, Item, Judgment
from deadpan.studio.results import disagreements
from deadpan.studio.roles import for_adjudicators


@for_adjudicators
def queue(request: HttpRequest) -> HttpResponse:
    """What is open, the most divided first."""
    found = disagreements(request.study)
    keys = dict(Item.objects.filter(study=request.study, kind=MAIN).values_list("item_id", "pk"))
    rows = [{"case": case, "pk": keys[case.item]} for case in found]
    waiting = [row for row in rows if not row["case"].adjudicated]
    context = {"study": request.study, "waiting": waiting, "decided": len(rows) - len(waiting)}
    return render(request, "studio/queue.html", context)


@for_adjudicators
def case(request: HttpRequest, pk: int, question: str) -> HttpResponse:
    """One disagreement. The decision is a row of the journal like any other."""
    study = request.study
    item = Item.objects.filter(study=study, pk=pk, kind=MAIN).first()
    found = next(
        (d for d in disagreements(study) if item and (d.item, d.question) == (item.item_id, question)), None
    )
    if item is None or found is None:
        raise Http404
    screen = protocol_of(study).screen(item, study.settings, f"adjudicate:{item.pk}")
    asked = next((q for q in screen.questions if q.name == question), None)
    if asked is None:
        raise Http404
    if request.method == "POST":
        answer = request.POST.get("answer", "")
        if answer not in [choice.value for choice in asked.choices]:
            raise Http404
        Judgment.objects.create(
            study=study, item=item, member=request.member, question=question, answer=answer,
            key=secrets.token_hex(16), source="adjudication", created_at=timezone.now(),
        )  # fmt: skip
        return redirect("adjudicate", slug=study.slug)
    votes = [(choice, found.counts.get(choice.value, 0)) for choice in asked.choices]
    context = {"study": study, "screen": screen, "question": asked, "votes": votes, "case": found}
    return render(request, "studio/case.html", context)
