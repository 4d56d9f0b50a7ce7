"""Access control: decorators of views. A page somebody may not see is answered with 404."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from deadpan.studio.models import (
    ACTIVE,
    ADJUDICATOR,
    ANNOTATOR,
    OWNER,
    PARTICIPANT,
    REFUSED,
    REMOVED,
    WITHDRAWN,
    Assignment,
    Member,
    StoredStudy,
)

View = Callable[..., HttpResponse]
OUT = (REMOVED, WITHDRAWN)
"""States of people who are no longer in the study."""


def for_members(*roles: str) -> Callable[[View], View]:
    """Restrict a view to members of the study in these roles; it gets the membership as `request.member`."""

    def decorate(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
            member = (
                Member.objects.filter(study__slug=slug, person=request.user).select_related("study").first()
            )
            if member is None or member.role not in roles or member.state in OUT:
                raise Http404
            request.member, request.study = member, member.study
            return view(request, **kwargs)

        entered: View = login_required(guarded)
        return entered

    return decorate


for_workers = for_members(ANNOTATOR, PARTICIPANT)


def for_judges(view: View) -> View:
    """Restrict a view to adjudicators, who decide, and to owners, who look on; `request.member` decides."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = StoredStudy.objects.filter(slug=slug).first()
        member = Member.objects.filter(study=study, person=request.user).first() if study else None
        judges = member is not None and member.role == ADJUDICATOR and member.state not in OUT
        if study is None or not (judges or owns(request.user, study)):
            raise Http404
        request.study, request.member = study, member if judges else None
        return view(request, **kwargs)

    entered: View = login_required(guarded)
    return entered


def owns(person: Any, study: Any) -> bool:
    """Return whether somebody owns the studio or this study."""
    mine = Member.objects.filter(study=study, person=person, role=OWNER, state=ACTIVE)
    return bool(person.is_owner) or bool(mine.exists())


def for_holders(view: View) -> View:
    """Restrict a view to the person an item is assigned to; it gets `request.assignment`.

    One query finds everything, because this runs before every save.
    """

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

    @wraps(view)
    def answering(request: HttpRequest, slug: str, number: int) -> HttpResponse:
        # A script follows a redirect and takes the login page for an answer: tell it what happened instead.
        if request.content_type == "application/json" and not request.user.is_authenticated:
            return JsonResponse({"login": True}, status=401)
        return entered(request, slug, number)

    return answering


def _at_work(member: Any) -> bool:
    here = member.role in (ANNOTATOR, PARTICIPANT) and member.state not in (*OUT, REFUSED)
    return here and member.consented_at is not None


def for_owners(view: View) -> View:
    """Restrict a view to the studio's owners and to members who own this study."""

    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponse:
        study = StoredStudy.objects.filter(slug=slug).first()
        own = study is not None and owns(request.user, study)
        if not own:
            raise Http404
        request.study = study
        return view(request, **kwargs)

    entered: View = login_required(guarded)
    return entered
