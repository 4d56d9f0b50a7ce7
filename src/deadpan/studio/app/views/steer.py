"""Steering a study in the browser: stage, settings, people, invitations, files and the audit log."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from deadpan.errors import DeadpanError
from deadpan.studio.app.forms import SettingsForm
from deadpan.studio.app.roles import for_owners
from deadpan.studio.app.texts import clean_text, whole_number
from deadpan.studio.app.views.accounts import is_guest, sign_in
from deadpan.studio.life import steering
from deadpan.studio.models import INVITED, ROLES, Event, Invite, Member
from deadpan.studio.people.invites import make_invite, renew_invite, revoke_invite
from deadpan.studio.people.qualification import decide
from deadpan.studio.people.quota import even_share
from deadpan.studio.records.figures.pay import pay_of
from deadpan.studio.records.figures.results import study_results
from deadpan.studio.records.files.export import export_study
from deadpan.studio.records.files.labelstudio import write_tasks
from deadpan.studio.records.files.release import MODES, release_facts, release_study
from deadpan.studio.records.studies import settings_of

PAGE = 100


@for_owners
@require_POST
def stage(request: HttpRequest) -> HttpResponse:
    """Open, pause or close the study."""
    wanted = request.POST.get("stage", "")
    if wanted not in steering.STAGES:
        raise Http404
    steering.set_stage(request.study, wanted, request.user.name)
    return redirect("dashboard", slug=request.study.slug)


@for_owners
def settings(request: HttpRequest) -> HttpResponse:
    """Edit title, guideline and settings; an error stands at its field and nothing is changed."""
    form = SettingsForm(request.study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            steering.change_study(
                request.study,
                form.settings,
                request.user.name,
                title=form.cleaned_data["title"],
                language=form.cleaned_data["language"],
            )
            return redirect("dashboard", slug=request.study.slug)
        except DeadpanError as bad:
            form.add_error(None, str(bad))
    return render(
        request,
        "studio/settings.html",
        {"study": request.study, "form": form, "even": even_share(request.study)},
    )


# ---------------------------------------------------------------- people and invitations


@for_owners
def people(request: HttpRequest, link: str = "") -> HttpResponse:
    """List members and invitations, with what can be done about each."""
    study = request.study
    set_ = settings_of(study)
    members = Member.objects.filter(study=study).select_related("person").order_by("joined_at")
    page = Paginator(members, PAGE).get_page(whole_number(request.GET.get("page", ""), 1))
    rows = [{"m": member, "pay": pay_of(member, set_), "guest": is_guest(member.person)} for member in page]
    invites = Invite.objects.filter(study=study).order_by("-pk")[:PAGE]
    now = timezone.now()
    context = {
        "study": study,
        "rows": rows,
        "page": page,
        "invites": [{"i": invite, "usable": invite.usable(now)} for invite in invites],
        "roles": INVITED,
        "link": link,
    }
    return render(request, "studio/people.html", context)


@for_owners
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """Make a link; it is shown once, in the answer to this request, and stored as a hash."""
    role = request.POST.get("role", "")
    uses = whole_number(request.POST.get("uses", "1"), 0)
    if role not in ROLES or not 1 <= uses <= 10_000:
        raise Http404
    group = clean_text(request.POST.get("group", ""))[:40]
    token = make_invite(request.study, role, uses, timezone.now(), request.user.name, group=group)
    return people(request, slug=request.study.slug, link=_join(request, token))


def _join(request: HttpRequest, token: str) -> str:
    return str(request.build_absolute_uri(f"/join/{token}"))


@for_owners
@require_POST
def change_invite(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an invitation, or replace it by a new link."""
    if request.POST.get("do") == "renew":
        token = renew_invite(request.study, pk, timezone.now(), request.user.name)
        if token is None:
            raise Http404
        return people(request, slug=request.study.slug, link=_join(request, token))
    if not revoke_invite(request.study, pk, timezone.now(), request.user.name):
        raise Http404
    return redirect("people", slug=request.study.slug)


@for_owners
@require_POST
def change_member(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove, restore, admit or refuse a member, or make a link for a new password."""
    member = Member.objects.filter(study=request.study, pk=pk).select_related("person").first()
    do = request.POST.get("do", "")
    if member is None:
        raise Http404
    if do == "remove":
        steering.remove_member(request.study, member.pseudonym, request.user.name)
    elif do == "restore":
        steering.restore_member(request.study, member.pseudonym, request.user.name)
    elif do in ("admit", "refuse"):
        decide(request.study, member.pseudonym, do == "admit", request.user.name)
    elif do == "password" and member.person.has_usable_password() and _below(request.user, member.person):
        token = steering.reset_token(member.person, timezone.now())
        steering.log(request.study, request.user.name, "reset password", member=member.pseudonym)
        return people(
            request, slug=request.study.slug, link=str(request.build_absolute_uri(f"/reset/{token}"))
        )
    else:
        raise Http404
    return redirect("people", slug=request.study.slug)


def _below(leader: Any, person: Any) -> bool:
    """Return whether the leader may reset this password: never an owner's, nor one used in other studies."""
    if person.is_owner or leader == person:
        return False
    return bool(leader.is_owner) or person.memberships.count() == 1


class NewPasswordForm(forms.Form):
    """A new password."""

    password = forms.CharField(
        label=gettext_lazy("Password (10 characters or more)"),
        max_length=200,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password


def reset(request: HttpRequest, token: str) -> HttpResponse:
    """Set a new password by a link that works once and for a day."""
    person = steering.person_of_token(token)
    if person is None:
        raise Http404
    form = NewPasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        person.set_password(form.cleaned_data["password"])
        person.save()
        sign_in(request, person)
        return redirect("home")
    return render(request, "studio/password.html", {"form": form})


# ---------------------------------------------------------------- files


@for_owners
def download(request: HttpRequest, what: str) -> HttpResponse:
    """Send an export, the figures or Label Studio tasks as a file."""
    study, name = request.study, f"{request.study.slug}-{what}"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / what
        try:
            if what == "export":
                export_study(study, place, csv=True, parquet=True)
            elif what == "label-studio":
                place.mkdir()
                write_tasks(study, place / "tasks.json")
            elif what == "figures":
                place.mkdir()
                results = study_results(study)
                figures = json.dumps(results.as_dict(), ensure_ascii=False, indent=1, default=str)
                (place / "figures.json").write_text(figures, "utf-8")
                (place / "figures.txt").write_text(str(results), "utf-8")
            else:
                raise Http404
        except DeadpanError as bad:
            return _refused(request, bad)
        steering.log(study, request.user.name, "download", file=what)
        return _zip(place, f"{name}.zip")


def _refused(request: HttpRequest, bad: Exception) -> HttpResponse:
    context = {"title": _("Not possible yet"), "text": str(bad), "study": request.study}
    return render(request, "studio/error.html", context, status=400)


def _zip(folder: Path, name: str) -> FileResponse:
    """Return a folder as a zip."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=name)


@for_owners
@require_POST
def release(request: HttpRequest) -> HttpResponse:
    """Send a release: ids or gated text."""
    mode = request.POST.get("mode", "")
    if mode not in MODES:
        raise Http404
    facts = {
        name: clean_text(request.POST.get(name, ""))[:300] for name in ("version", "licence", "citation")
    }
    facts = {"version": facts["version"] or "1.0.0", "licence": facts["licence"] or "not decided",
             "citation": facts["citation"] or "not yet published"}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        try:
            described = release_facts(request.study, mode, published=datetime.now(UTC).date(), **facts)
            release_study(request.study, place, described, mode, actor=request.user.name)
        except DeadpanError as bad:
            return _refused(request, bad)
        return _zip(place, f"{request.study.slug}-release-{mode}.zip")


@for_owners
def audit(request: HttpRequest) -> HttpResponse:
    """Show the audit log, the latest first."""
    events = Event.objects.filter(study=request.study).order_by("-id")
    page = Paginator(events, PAGE).get_page(whole_number(request.GET.get("page", ""), 1))
    return render(request, "studio/log.html", {"study": request.study, "page": page})
