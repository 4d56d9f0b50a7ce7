"""Making a study in the browser: a file, its columns, a look at the real screen, and the study is there."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from deadpan.errors import DeadpanError
from deadpan.formats.study import Study
from deadpan.studio.app.forms import NewStudyForm
from deadpan.studio.app.guards import takes_files
from deadpan.studio.app.roles import for_owners
from deadpan.studio.app.texts import clean_text
from deadpan.studio.life import uploads
from deadpan.studio.life.steering import add_items
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.records.creation import create_study
from deadpan.studio.records.studies import protocol_of, screen_of, settings_of

DRAFT = "new_study"
PREVIEWS = 3


@takes_files
@login_required
def new(request: HttpRequest) -> HttpResponse:
    """Ask for the study's name, protocol and file."""
    if not request.user.is_owner:
        raise Http404
    form = NewStudyForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        told = {name: form.cleaned_data[name] for name in ("protocol", "name", "title", "language", "raters")}
        told["settings"] = form.settings()
        file = form.cleaned_data["file"]
        try:
            if file is None:
                return _create(request, told, [])
            told["token"] = uploads.keep_upload(file.name, file.chunks())
            request.session[DRAFT] = told
            return redirect("columns")
        except DeadpanError as bad:
            form.add_error("file", str(bad))
    return render(request, "studio/new.html", {"form": form})


@login_required
def columns(request: HttpRequest) -> HttpResponse:
    """Choose the columns, look at the first items as people will see them, and make the study."""
    told = request.session.get(DRAFT)
    if not request.user.is_owner or not told:
        raise Http404
    context: dict[str, Any] = {"told": told, "error": "", "screens": [], "parts": []}
    try:
        path = uploads.find_upload(told["token"])
        items = uploads.ready_items(path, told["protocol"])
        if items is None:
            items = _from_table(request, path, told, context)
        if items:
            context["screens"] = _screens(told, items[:PREVIEWS])
            context["count"] = len(items)
            if request.method == "POST" and "create" in request.POST:
                response = _create(request, told, items)
                uploads.drop_upload(told["token"])
                request.session.pop(DRAFT, None)
                return response
    except DeadpanError as bad:
        context["error"] = str(bad)
    return render(request, "studio/columns.html", context, status=400 if context["error"] else 200)


def _from_table(request: HttpRequest, path: Any, told: dict[str, Any], context: dict[str, Any]) -> list[Any]:
    """Return the items of the chosen columns; before any is chosen, of those that were guessed."""
    names, rows = uploads.columns_of(path)
    chosen = uploads.guessed(names, told["protocol"])
    if request.method == "POST":
        chosen = {part: clean_text(request.POST.get(f"column.{part}", "")) for part in chosen}
    context["columns"] = names
    context["rows"] = [[row[name] for name in names] for row in rows[:3]]
    context["parts"] = [
        {"name": part, "needed": needed, "chosen": chosen.get(part, ""), "several": part == "options"}
        for part, needed in uploads.wanted_columns(told["protocol"]).items()
    ]
    missing = [
        part
        for part, needed in uploads.wanted_columns(told["protocol"]).items()
        if needed and not chosen.get(part)
    ]
    if missing:
        context["error"] = _("Choose a column for: %(parts)s") % {"parts": ", ".join(missing)}
        return []
    return uploads.table_items(path, told["protocol"], chosen)


def _screens(told: dict[str, Any], items: list[Any]) -> list[Any]:
    """Return the first items as the protocol shows them."""
    protocol = PROTOCOLS.load(told["protocol"])()
    settings = protocol.settings_type()
    return [protocol.screen(item, settings, item.id) for item in items]


def _create(request: HttpRequest, told: dict[str, Any], items: list[Any]) -> HttpResponse:
    study = Study(
        told["protocol"], told["title"], language=told["language"], raters_per_item=told["raters"],
        settings=told.get("settings", {}),
    )  # fmt: skip
    create_study(told["name"], study, items, request.user.name)
    return redirect("dashboard", slug=told["name"])


@takes_files
@for_owners
def more_items(request: HttpRequest) -> HttpResponse:
    """Add the items of a file with the same columns as the protocol's own names."""
    error = ""
    file = request.FILES.get("file") if request.method == "POST" else None
    if request.method == "POST" and file is None:
        error = _("Choose a file.")
    if file is not None:
        try:
            token = uploads.keep_upload(file.name, file.chunks())
            path = uploads.find_upload(token)
            items = uploads.file_items(path, request.study.protocol)
            uploads.drop_upload(token)
            add_items(request.study, items, request.user.name)
            return redirect("dashboard", slug=request.study.slug)
        except DeadpanError as bad:
            error = str(bad)
    context = {"study": request.study, "error": error}
    return render(request, "studio/more.html", context, status=400 if error else 200)


@for_owners
def preview(request: HttpRequest) -> HttpResponse:
    """Show the first items as people see them, with nothing that is saved."""
    study = request.study
    protocol, settings = protocol_of(study), settings_of(study)
    screens = [
        screen_of(item, study, f"preview:{item.pk}") for item in study.items.order_by("position")[:PREVIEWS]
    ]
    context = {"study": study, "screens": screens, "protocol": protocol, "settings": settings}
    return render(request, "studio/preview.html", context)
