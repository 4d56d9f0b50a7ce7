"""The figures of a dashboard: computed outside the requests, kept until the journal has another entry."""

from __future__ import annotations

import hashlib
import os
import time
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, IntegrityError, transaction
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from deadpan.page import Cell, Table
from deadpan.studio.app.settings import WORKER_VARIABLE
from deadpan.studio.models import MAIN, StoredFigures, StoredJudgment
from deadpan.studio.people.admission import applicants, has_round, shown_name
from deadpan.studio.records.labels import recount_cases, refresh_cases, study_results
from deadpan.studio.records.progress import StudyProgress, pay_rule, study_progress
from deadpan.studio.records.studies import lock_study, settings_of

# Figures that somebody looked at within this time are kept up to date.
_WATCHED = timedelta(seconds=60)
_LATE = timedelta(minutes=2)
# Computing takes at most one part in this many of a processor's time.
_SHARE = 10
_DISAGREEMENTS_SHOWN = 20
# Seconds of figures that a request may compute itself, so that a small study's are always current.
_CHEAP = 0.5
# Items of a study whose figures no request computes, if there is a worker: it shows those of the first items.
_LARGE, _FIRST = 2000, 500
_COEFFICIENTS = {
    "raw": gettext_lazy("plain agreement"),
    "cohen": gettext_lazy("Cohen's kappa, mean of pairs"),
    "fleiss": gettext_lazy("Fleiss' kappa"),
    "alpha": gettext_lazy("Krippendorff's alpha"),
    "ac1": gettext_lazy("Gwet's AC1"),
}


def stamp_of(study: Any) -> str:
    """Return a word that changes with every entry of the journal and every change among people."""
    last = StoredJudgment.objects.filter(study=study).order_by("-id").values_list("id", flat=True).first()
    parts = (
        last,
        study.title,
        sorted(study.settings.items(), key=str),
        study.main_items,
        list(study.members.order_by("id").values_list("id", "state")),
        study.submissions.order_by("-id").values_list("id", flat=True).first(),
        study.tombstones.count(),
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()


def figures_page(study: Any) -> Any:
    """Return progress and people as they are now, and below them the figures that take longer."""
    counted = study_progress(study, timezone.now())
    context = {
        "study": study,
        "progress": counted,
        "people": _people(counted),
        "too_much": [worker for worker in counted.workers if worker.claims_too_much],
        "numeric": [_("hours"), _("owed"), _("checks passed")],
        "rule": pay_rule(settings_of(study)),
    }
    return mark_safe(render_to_string("studio/dashboard_now.html", context) + _kept_figures(study))


def _kept_figures(study: Any) -> Any:
    """Return agreement, report and disagreements: the latest there are, or computed now if nobody else does it."""
    now, language = timezone.now(), (translation.get_language() or "en")[:10]
    row = StoredFigures.objects.filter(study=study, language=language).first()
    if row is not None:
        if now - row.wanted_at > timedelta(seconds=5):
            with suppress(DatabaseError):  # somebody else writes for long: the page needs no write
                StoredFigures.objects.filter(pk=row.pk).update(wanted_at=now)
        # Small studies compute at once: a leader who looks sees the answer that was just given.
        if row.stamp and row.seconds < _CHEAP and row.stamp != stamp_of(study):
            return mark_safe(compute_figures(study, language))
        patience = _LATE + timedelta(seconds=_SHARE * row.seconds)
        # An empty stamp is the page of the first items.
        waiting = not row.stamp and now - row.computed_at < 5 * _LATE
        served = waiting or (os.environ.get(WORKER_VARIABLE) == "1" and now - row.computed_at < patience)
        if served or row.stamp == stamp_of(study):
            return mark_safe(row.page)
    if os.environ.get(WORKER_VARIABLE) == "1" and study.main_items > _LARGE:
        # The worker has them in a while; a request that computed them would keep everybody waiting.
        if row is not None:
            return mark_safe(row.page)
        page = render_to_string("studio/dashboard_live.html", _figures(study, _FIRST))
        values = {"stamp": "", "page": page, "computed_at": now - _LATE}
        StoredFigures.objects.get_or_create(study=study, language=language, defaults=values)
        return mark_safe(page)
    return mark_safe(compute_figures(study, language))


def compute_figures(study: Any, language: str) -> str:
    """Compute the figures of a study in one language, and keep them."""
    began, stamp, gone = time.monotonic(), stamp_of(study), study.tombstones.count()
    refresh_cases(study)
    with translation.override(language):
        page: str = render_to_string("studio/dashboard_live.html", _figures(study))
    values = {"stamp": stamp, "page": page, "seconds": time.monotonic() - began, "computed_at": timezone.now()}
    with suppress(IntegrityError), transaction.atomic():  # another request was faster
        lock_study(study.pk)
        # Somebody who withdrew meanwhile may be named on the page: it is shown once more, and not kept.
        if study.tombstones.count() == gone:
            StoredFigures.objects.update_or_create(study=study, language=language, defaults=values)
    return page


def refresh_watched() -> int:
    """Compute the figures that somebody looks at and that are out of date; return how many."""
    now = timezone.now()
    done = 0
    for row in StoredFigures.objects.filter(wanted_at__gt=now - _WATCHED).select_related("study"):
        rested = timezone.now() - row.computed_at > timedelta(seconds=max(4.0, _SHARE * row.seconds))
        if rested and row.stamp != stamp_of(row.study):
            compute_figures(row.study, row.language)
            done += 1
    return done


def _figures(study: Any, first: int | None = None) -> dict[str, Any]:
    """Return what the page shows: of the whole study, or at once of its first items."""
    found = study_results(study, first=first)
    if first is not None:
        recount_cases(study, study.items.filter(kind=MAIN, position__lt=first).values_list("pk", flat=True))
    cases = study.cases.select_related("item").order_by("decided", "place", "item_id")
    return {
        "study": study,
        "first": first,
        "agreement": [
            (
                question,
                Table(
                    (_("coefficient"), _("value")),
                    tuple((str(_COEFFICIENTS[name]), value) for name, value in coefficients.items()),
                ),
            )
            for question, coefficients in found.agreement.items()
        ],
        "sections": found.report,
        "split": cases[:_DISAGREEMENTS_SHOWN],
        "split_count": study.cases.count(),
        "applicants": applicants(study) if has_round(study) else [],
        "at": timezone.now(),
        "numeric": [_("share")],
    }


def _people(counted: StudyProgress) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (
            shown_name(worker.name, worker.pseudonym),
            _(worker.role),
            _(worker.state),
            worker.done,
            f"{worker.hours:.2f}" + (f" ({_('claimed')} {worker.claimed:.2f})" if worker.claims_too_much else ""),
            f"{worker.owed:.2f} {counted.currency}".strip() if worker.owed is not None else None,
            f"{worker.checks_passed} / {worker.checks}" if worker.checks else None,
        )
        for worker in counted.workers[:100]
    ]
    head = (_("name"), _("role"), _("state"), _("done"), _("hours"), _("owed"), _("checks passed"))
    return Table(head, tuple(rows))
