"""Pages of the study leader: dashboard, steering, making a study, and the adjudication of disagreements."""

from __future__ import annotations

import io
import json
import secrets
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.password_validation import validate_password
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from deadpan.errors import DeadpanError
from deadpan.formats.study import Study
from deadpan.studio import models
from deadpan.studio.app.accounts import is_guest, sign_in
from deadpan.studio.app.figures import figures_page
from deadpan.studio.app.forms import NewStudyForm, SettingsForm
from deadpan.studio.app.security import clean_text, for_judges, for_owners, owns, takes_files, whole_number
from deadpan.studio.app.templating import guideline_html
from deadpan.studio.app.work import consent_sections
from deadpan.studio.people.admission import (
    make_invite,
    platform_links,
    renew_invite,
    revoke_invite,
    set_admission,
    shown_name,
)
from deadpan.studio.people.assignment import even_share
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.records import sources, steering
from deadpan.studio.records.export import export_study, source_columns
from deadpan.studio.records.labels import recount_cases, refresh_cases, study_results
from deadpan.studio.records.labelstudio import write_tasks
from deadpan.studio.records.progress import flagged_assignments, item_flags, pay_of
from deadpan.studio.records.questions import write_questions
from deadpan.studio.records.release import MODES, release_facts, release_study
from deadpan.studio.records.steering import add_items
from deadpan.studio.records.studies import create_study, protocol_of, screen_of, settings_of

_ROWS_PER_PAGE = 50
# What the last request did, said on the next page.
_SAID = "said"


@for_owners
def dashboard(request: HttpRequest) -> HttpResponse:
    """Show the whole page; its script fetches the live part again."""
    study = request.study
    context = {
        "study": study,
        "roles": models.INVITED,
        "live": figures_page(study),
        "said": request.session.pop(_SAID, ""),
    }
    context |= {"columns": source_columns(study), "settings": settings_of(study), "protocol": protocol_of(study)}
    return render(request, "studio/dashboard.html", context)


@for_owners
def live_figures(request: HttpRequest) -> HttpResponse:
    """Show the live part alone."""
    return HttpResponse(figures_page(request.study))


@for_owners
def flags(request: HttpRequest) -> HttpResponse:
    """List what people flagged and why they skipped items, the latest first."""
    pages = Paginator(flagged_assignments(request.study), _ROWS_PER_PAGE)
    page = pages.get_page(whole_number(request.GET.get("page", ""), 1))
    context = {"study": request.study, "page": page, "rows": list(item_flags(page))}
    return render(request, "studio/flags.html", context)


@for_owners
@require_POST
def decide_applicant(request: HttpRequest) -> HttpResponse:
    """Admit or refuse somebody after the qualification round."""
    admit = request.POST.get("decision") == "admit"
    if not set_admission(request.study, request.POST.get("member", ""), admit, request.user.name):
        raise Http404
    return redirect("dashboard", slug=request.study.slug)


# ---------------------------------------------------------------- steering


_ROWS_PER_LONG_PAGE = 100


@for_owners
@require_POST
def stage(request: HttpRequest) -> HttpResponse:
    """Open, pause or close the study."""
    wanted = request.POST.get("stage", "")
    if wanted not in steering.STAGES:
        raise Http404
    try:
        steering.set_stage(request.study, wanted, request.user.name)
    except DeadpanError as bad:
        return _not_possible(request, bad)
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
                raters=form.cleaned_data["raters"],
            )
            request.session[_SAID] = str(_("Saved"))
            return redirect("dashboard", slug=request.study.slug)
        except DeadpanError as bad:
            form.add_error(None, str(bad))
    return render(
        request, "studio/settings.html", {"study": request.study, "form": form, "even": even_share(request.study)}
    )


# ---------------------------------------------------------------- people and invitations


@for_owners
def people_page(request: HttpRequest, link: str = "") -> HttpResponse:
    """List members and invitations, with what can be done about each."""
    study = request.study
    set_ = settings_of(study)
    members = models.Member.objects.filter(study=study).select_related("person").order_by("joined_at")
    page = Paginator(members, _ROWS_PER_LONG_PAGE).get_page(whole_number(request.GET.get("page", ""), 1))
    rows = [
        {"m": member, "pay": pay_of(member, set_), "guest": is_guest(member.person),
         "name": shown_name(member.person.name, member.pseudonym)}
        for member in page
    ]  # fmt: skip
    invites = models.Invite.objects.filter(study=study).order_by("-pk")[:_ROWS_PER_LONG_PAGE]
    now = timezone.now()
    context = {
        "study": study,
        "rows": rows,
        "page": page,
        "invites": [{"i": invite, "usable": invite.usable(now)} for invite in invites],
        "roles": models.INVITED,
        "link": link,
        "platforms": platform_links(link) if "/join/" in link else {},
    }
    return render(request, "studio/people.html", context)


@for_owners
@require_POST
def invite_page(request: HttpRequest) -> HttpResponse:
    """Make a link; it is shown once, in the answer to this request, and stored as a hash."""
    role = request.POST.get("role", "")
    uses = whole_number(request.POST.get("uses", "1"), 0)
    if role not in models.ROLES or not 1 <= uses <= 10_000:
        raise Http404
    group = clean_text(request.POST.get("group", ""))[:40]
    token = make_invite(request.study, role, uses, timezone.now(), request.user.name, group=group)
    return people_page(request, slug=request.study.slug, link=_join(request, token))


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
        return people_page(request, slug=request.study.slug, link=_join(request, token))
    if not revoke_invite(request.study, pk, timezone.now(), request.user.name):
        raise Http404
    return redirect("people", slug=request.study.slug)


@for_owners
@require_POST
def change_member(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove, restore, admit or refuse a member, or make a link for a new password."""
    member = models.Member.objects.filter(study=request.study, pk=pk).select_related("person").first()
    do = request.POST.get("do", "")
    if member is None:
        raise Http404
    if do == "remove":
        steering.remove_member(request.study, member.pseudonym, request.user.name)
    elif do == "restore":
        steering.restore_member(request.study, member.pseudonym, request.user.name)
    elif do in ("admit", "refuse"):
        set_admission(request.study, member.pseudonym, do == "admit", request.user.name)
    elif do == "password" and member.person.has_usable_password() and _may_reset_password(request.user, member.person):
        token = steering.reset_token(member.person, timezone.now())
        steering.log_event(request.study, request.user.name, "reset password", member=member.pseudonym)
        return people_page(request, slug=request.study.slug, link=str(request.build_absolute_uri(f"/reset/{token}")))
    else:
        raise Http404
    return redirect("people", slug=request.study.slug)


def _may_reset_password(leader: Any, person: Any) -> bool:
    """Return whether the leader may reset this password: never an owner's, nor one used in other studies."""
    # A leader of one study could otherwise take over the account of an owner.
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
            elif what in ("questions-xml", "questions-yaml"):
                place = Path(folder) / what.replace("-", ".")
                write_questions(study, place)
                # Small, and read before its folder is deleted.
                return FileResponse(io.BytesIO(place.read_bytes()), as_attachment=True, filename=place.name)
            elif what == "figures":
                place.mkdir()
                results = study_results(study)
                figures = json.dumps(results.as_dict(), ensure_ascii=False, indent=1, default=str)
                (place / "figures.json").write_text(figures, "utf-8")
                (place / "figures.txt").write_text(str(results), "utf-8")
            else:
                raise Http404
        except DeadpanError as bad:
            return _not_possible(request, bad)
        steering.log_event(study, request.user.name, "download", file=what)
        return _zip(place, f"{name}.zip")


def _not_possible(request: HttpRequest, bad: Exception) -> HttpResponse:
    context = {"title": _("Not possible yet"), "text": str(bad), "study": request.study}
    return render(request, "studio/error.html", context, status=400)


def _zip(folder: Path, name: str) -> FileResponse:
    """Return a folder as a zip."""
    # In memory: the temporary folder is deleted before the response is sent.
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    packed.seek(0)
    return FileResponse(packed, as_attachment=True, filename=name)


@for_owners
@require_POST
def release_page(request: HttpRequest) -> HttpResponse:
    """Send a release: ids or gated text."""
    mode = request.POST.get("mode", "")
    if mode not in MODES:
        raise Http404
    facts = {name: clean_text(request.POST.get(name, ""))[:300] for name in ("version", "licence", "citation")}
    facts = {"version": facts["version"] or "1.0.0", "licence": facts["licence"] or "not decided",
             "citation": facts["citation"] or "not yet published"}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        try:
            card = release_facts(request.study, mode, published=datetime.now(UTC).date(), **facts)
            chosen = [clean_text(name) for name in request.POST.getlist("columns")]
            release_study(request.study, place, card, mode, columns=chosen, actor=request.user.name)
        except DeadpanError as bad:
            return _not_possible(request, bad)
        return _zip(place, f"{request.study.slug}-release-{mode}.zip")


@for_owners
def log_page(request: HttpRequest) -> HttpResponse:
    """Show the audit log, the latest first."""
    events = models.Event.objects.filter(study=request.study).order_by("-id")
    page = Paginator(events, _ROWS_PER_LONG_PAGE).get_page(whole_number(request.GET.get("page", ""), 1))
    return render(request, "studio/log.html", {"study": request.study, "page": page})


# ---------------------------------------------------------------- making a study


_DRAFT = "new_study"
_PREVIEWS = 3


@takes_files
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Ask for the study's name, protocol and file."""
    if not request.user.is_owner:
        raise Http404
    form = NewStudyForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        draft = {name: form.cleaned_data[name] for name in ("protocol", "name", "title", "language", "raters")}
        draft["settings"] = form.settings()
        file = form.cleaned_data["file"]
        try:
            if file is None:
                return _create(request, draft, [])
            draft |= {"token": sources.keep_upload(file.name, file.chunks()), "file": file.name}
            request.session[_DRAFT] = draft
            return redirect("columns")
        except DeadpanError as bad:
            form.add_error("file", str(bad))
    return render(request, "studio/new.html", {"form": form})


@login_required
def columns(request: HttpRequest) -> HttpResponse:
    """Choose the columns, look at the first items as people will see them, and make the study."""
    draft = request.session.get(_DRAFT)
    if not request.user.is_owner or not draft:
        raise Http404
    context: dict[str, Any] = {"draft": draft, "error": "", "screens": [], "parts": []}
    try:
        path = sources.find_upload(draft["token"])
        items = sources.ready_items(path, draft["protocol"])
        if items is None:
            items = _from_table(request, path, draft, context)
        if items:
            context["screens"] = _screens(draft, items[:_PREVIEWS])
            context["count"] = len(items)
            if request.method == "POST" and "create" in request.POST:
                response = _create(request, draft, items)
                sources.drop_upload(draft["token"])
                request.session.pop(_DRAFT, None)
                return response
    except DeadpanError as bad:
        context["error"] = sources.own_name(str(bad), draft["token"], draft["file"])
    return render(request, "studio/columns.html", context, status=400 if context["error"] else 200)


def _from_table(request: HttpRequest, path: Any, draft: dict[str, Any], context: dict[str, Any]) -> list[Any]:
    """Return the items of the chosen columns; before any is chosen, of those that were guessed."""
    names, rows = sources.columns_of(path)
    chosen = sources.guess_columns(names, draft["protocol"])
    if request.method == "POST":
        chosen = {part: clean_text(request.POST.get(f"column.{part}", "")) for part in chosen}
    context["columns"] = names
    context["rows"] = [[row[name] for name in names] for row in rows[:3]]
    context["parts"] = [
        {"name": part, "needed": needed, "chosen": chosen.get(part, ""), "several": part == "options"}
        for part, needed in sources.wanted_columns(draft["protocol"]).items()
    ]
    missing = [
        part for part, needed in sources.wanted_columns(draft["protocol"]).items() if needed and not chosen.get(part)
    ]
    if missing:
        context["error"] = _("Choose a column for: %(parts)s") % {"parts": ", ".join(missing)}
        return []
    return sources.table_items(path, draft["protocol"], chosen)


def _screens(draft: dict[str, Any], items: list[Any]) -> list[Any]:
    """Return the first items as the protocol shows them."""
    protocol = PROTOCOLS.load(draft["protocol"])()
    settings = protocol.settings_type()
    return [protocol.screen(item, settings, item.id) for item in items]


def _create(request: HttpRequest, draft: dict[str, Any], items: list[Any]) -> HttpResponse:
    study = Study(
        draft["protocol"], draft["title"], language=draft["language"], raters_per_item=draft["raters"],
        settings=draft.get("settings", {}),
    )  # fmt: skip
    create_study(draft["name"], study, items, request.user.name, draft=True)
    return redirect("dashboard", slug=draft["name"])


@takes_files
@for_owners
def more_items(request: HttpRequest) -> HttpResponse:
    """Add the items of a file with the same columns as the protocol's own names."""
    error, token = "", ""
    file = request.FILES.get("file") if request.method == "POST" else None
    if request.method == "POST" and file is None:
        error = _("Choose a file.")
    if file is not None:
        try:
            token = sources.keep_upload(file.name, file.chunks())
            path = sources.find_upload(token)
            items = sources.file_items(path, request.study.protocol)
            sources.drop_upload(token)
            add_items(request.study, items, request.user.name)
            return redirect("dashboard", slug=request.study.slug)
        except DeadpanError as bad:
            error = sources.own_name(str(bad), token, file.name)
    context = {"study": request.study, "error": error}
    return render(request, "studio/more.html", context, status=400 if error else 200)


@for_owners
def preview(request: HttpRequest) -> HttpResponse:
    """Show the first items as people see them, with nothing that is saved."""
    study = request.study
    protocol, settings = protocol_of(study), settings_of(study)
    screens = [screen_of(item, study, f"preview:{item.pk}") for item in study.items.order_by("position")[:_PREVIEWS]]
    context = {"study": study, "screens": screens, "protocol": protocol, "settings": settings}
    context |= {"sections": consent_sections(study), "own": guideline_html(settings.guideline)}
    context["introduction"] = protocol.introduction(settings)
    return render(request, "studio/preview.html", context)


# ---------------------------------------------------------------- adjudication


_CASE_ORDER = ("place", "item_id", "pk")
_LONGEST_NOTE = 2000


@for_judges
def queue(request: HttpRequest) -> HttpResponse:
    """List open disagreements with their texts: those with a model first, then the most divided."""
    refresh_cases(request.study)
    waiting = models.StoredCase.objects.filter(study=request.study, decided="").select_related("item")
    page = Paginator(waiting.order_by(*_CASE_ORDER), _ROWS_PER_PAGE).get_page(
        whole_number(request.GET.get("page", ""), 1)
    )
    decided = models.StoredCase.objects.filter(study=request.study).exclude(decided="").count()
    context = {"study": request.study, "page": page, "decided": decided, "owner": owns(request.user, request.study)}
    return render(request, "studio/queue.html", context | {"blind": settings_of(request.study).blind_adjudication})


@for_judges
def case(request: HttpRequest, pk: int, question: str) -> HttpResponse:
    """Show and decide one disagreement. The decision is one more row of the journal."""
    study = request.study
    refresh_cases(study)
    item = models.StoredItem.objects.filter(study=study, pk=pk, kind=models.MAIN).first()
    found = models.StoredCase.objects.filter(study=study, item=item, question=question).first() if item else None
    if item is None or found is None:
        raise Http404
    screen = screen_of(item, study, f"adjudicate:{item.pk}")
    asked = next((q for q in screen.questions if q.name == question), None)
    if asked is None:
        raise Http404
    following = _neighbour(found, forward=True)
    if request.method == "POST":
        answer = request.POST.get("answer", "")
        if answer not in [choice.value for choice in asked.choices]:
            raise Http404
        models.StoredJudgment.objects.create(
            study=study, item=item, member=_judge(request), question=question, answer=answer,
            key=secrets.token_hex(16), source="adjudication", created_at=timezone.now(),
            note=clean_text(request.POST.get("note", ""))[:_LONGEST_NOTE],
        )  # fmt: skip
        recount_cases(study, [item.pk])
        if following is not None and request.POST.get("then") == "next":
            return redirect("case", slug=study.slug, pk=following.item_id, question=following.question)
        return redirect("adjudicate", slug=study.slug)
    earlier = (
        models.StoredJudgment.objects.filter(item=item, question=question, source="adjudication")
        .order_by("-id")
        .first()
    )
    context = {
        "study": study,
        "screen": screen,
        "question": asked,
        "votes": [(choice, found.counts.get(choice.value, 0)) for choice in asked.choices],
        "case": found,
        "item": item,
        "following": following,
        "previous": _neighbour(found, forward=False),
        "note": earlier.note if earlier else "",
        "blind": settings_of(study).blind_adjudication and not found.decided,
    }
    return render(request, "studio/case.html", context)


def _judge(request: HttpRequest) -> Any:
    """Return the membership that decides; an owner who has none becomes a member with the first decision."""
    if request.member is not None:
        return request.member
    defaults = {"role": models.OWNER, "consented_at": timezone.now()}
    return models.Member.objects.get_or_create(study=request.study, person=request.user, defaults=defaults)[0]


def _neighbour(case: Any, forward: bool) -> Any:
    """Return the open case after this one in the list, or the one before it."""
    waiting = models.StoredCase.objects.filter(study_id=case.study_id, decided="")
    if forward:
        later = Q(place__gt=case.place) | Q(place=case.place, item_id__gt=case.item_id)
        later |= Q(place=case.place, item_id=case.item_id, pk__gt=case.pk)
        return waiting.filter(later).order_by(*_CASE_ORDER).first()
    earlier = Q(place__lt=case.place) | Q(place=case.place, item_id__lt=case.item_id)
    earlier |= Q(place=case.place, item_id=case.item_id, pk__lt=case.pk)
    return waiting.filter(earlier).order_by(*(f"-{name}" for name in _CASE_ORDER)).first()
