"""Joining a study by an invitation: accounts, guests, and participants sent by a platform."""

from __future__ import annotations

import secrets
from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from deadpan.studio.app.views.accounts import AccountForm, is_guest, sign_in
from deadpan.studio.models import ADJUDICATOR, OWNER, PARTICIPANT, Identity, Member, Person
from deadpan.studio.people.invites import GUEST, any_invite, use_invite
from deadpan.studio.people.platforms import is_preview, known_participant, platform_ids

TRUSTED = (OWNER, ADJUDICATOR)
"""Roles that need a password, because they see other people's work."""


def join(request: HttpRequest, token: str) -> HttpResponse:
    """Accept an invitation. Annotators make an account; participants need none."""
    invite = any_invite(token)
    if invite is None or invite.study is None:
        raise Http404
    if (known := _own(request, invite)) is not None:
        return known
    if not invite.usable(timezone.now()):
        return _used_up(request, invite)
    if is_preview(request.GET):
        return render(request, "studio/join.html", {"study": invite.study, "preview": True})
    outsider = not request.user.is_authenticated or (invite.role in TRUSTED and is_guest(request.user))
    form = AccountForm(request.POST or None) if invite.role != PARTICIPANT and outsider else None
    if request.method == "POST" and (form is None or form.is_valid()):
        return _enter(request, invite, form, outsider)
    context = {"form": form, "study": invite.study, "role": invite.role}
    return render(request, "studio/join.html", context)


def _own(request: HttpRequest, invite: Any) -> HttpResponse | None:
    """Return the next page for somebody who is already in the study: their link works again."""
    if request.user.is_authenticated:
        if Member.objects.filter(study=invite.study, person=request.user, role=invite.role).exists():
            return redirect("study", slug=invite.study.slug)
        return None
    # A link for one person is that person's own: a guest who used it comes back by it.
    if request.method == "POST" and invite.uses == 1 and invite.revoked_at is None:
        member = invite.members.select_related("person").first()
        if member is not None and is_guest(member.person):
            sign_in(request, member.person)
            return redirect("study", slug=invite.study.slug)
    return None


def _used_up(request: HttpRequest, invite: Any) -> HttpResponse:
    """Say that a link is used, withdrawn or too old, and what to do."""
    if invite.members.exists() and invite.revoked_at is None:
        mine = invite.uses == 1 and is_guest(invite.members.select_related("person").first().person)
        context = {"study": invite.study, "again": mine, "form": None}
        return render(request, "studio/join_again.html", context, status=200 if mine else 404)
    raise Http404


def _enter(request: HttpRequest, invite: Any, form: AccountForm | None, outsider: bool) -> HttpResponse:
    crowd_id, visit = platform_ids(request.GET)
    if invite.role == PARTICIPANT and crowd_id:
        earlier = known_participant(invite.study, crowd_id)
        if earlier is not None and (not request.user.is_authenticated or earlier.person != request.user):
            title = _("You have taken part already")
            # A start page would ask somebody without an account to log in: there is no way on from here.
            context = {"title": title, "text": taken_part(), "final": not request.user.is_authenticated}
            return render(request, "studio/error.html", context, status=409)
    try:
        with transaction.atomic():
            person = _person(request, form, outsider)
            member = use_invite(invite, person)
            if member is None:
                raise Http404
            if crowd_id:
                Identity.objects.update_or_create(
                    member=member, defaults={"crowd_id": crowd_id, "platform": visit}
                )
            if not member.language:
                Member.objects.filter(pk=member.pk).update(language=_language(invite.study))
    except IntegrityError:  # somebody else took the name at the same time
        return redirect("join", token=request.resolver_match.kwargs["token"])
    if person != request.user:
        sign_in(request, person)
    return redirect("study", slug=invite.study.slug)


def taken_part() -> str:
    """Return what somebody is told who comes with an id that has taken part."""
    return str(_("Somebody with this id has already taken part. If it was you, use the link you were given."))


def _language(study: Any) -> str:
    """Return the reader's language if the study has items in it; else everybody gets everything."""
    language = (get_language() or "")[:2]
    own = study.items.exclude(language="")
    return language if own.filter(language=language).exists() else ""


def _person(request: HttpRequest, form: AccountForm | None, outsider: bool) -> Any:
    if form is not None:
        return Person.objects.make(**form.cleaned_data)
    if request.user.is_authenticated and not outsider:
        return request.user
    return Person.objects.make(f"{GUEST}{secrets.token_hex(8)}")
