"""Who may see a page. What somebody may not see does not exist for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse

from deadpan.studio.models import (
    ADJUDICATOR,
    ANNOTATOR,
    OWNER,
    PARTICIPANT,
    REFUSED,
    WITHDRAWN,
    Assignment,
    Member,
    Study,
)

View = Callable[..., HttpResponse]


def for_members(*roles: str) -> Callable[[View], View]:
    """Only for members of the study in these roles; the view gets the membership as `request.member`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
            member = (
                Member.objects.filter(study__slug=slug, person=request.user).select_related("study").first()
            )
            if member is None or member.role not in roles or member.state == WITHDRAWN:
                raise Http404
            request.member, request.study = member, member.study
            return view(request, **kwargs)

        entered: View = login_required(guarded)
        return entered

    return decorate


for_workers = for_members(ANNOTATOR, PARTICIPANT)
for_adjudicators = for_members(ADJUDICATOR)


def for_holders(view: View) -> View:
    """Only for whom the item was given to; the view gets it as `request.assignment`. One query finds
    everything, because this stands before every save."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, number: int) -> HttpResponse:
        found = Assignment.objects.filter(
            member__study__slug=slug, member__person=request.user, number=number
        ).select_related("item", "member__study")
        assignment = found.first()
        if assignment is None or not _at_work(assignment.member):
            raise Http404
        request.assignment, request.member, request.study = (
            assignment,
            assignment.member,
            assignment.member.study,
        )
        return view(request, number)

    entered: View = login_required(guarded)
    return entered


def _at_work(member: Any) -> bool:
    here = member.role in (ANNOTATOR, PARTICIPANT) and member.state not in (WITHDRAWN, REFUSED)
    return here and member.consented_at is not None


def for_owners(view: View) -> View:
    """Only for the studio's owners and for members who own this study."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = Study.objects.filter(slug=slug).first()
        own = study is not None and (
            request.user.is_owner
            or Member.objects.filter(study=study, person=request.user, role=OWNER).exists()
        )
        if not own:
            raise Http404
        request.study = study
        return view(request, **kwargs)

    entered: View = login_required(guarded)
    return entered
