"""Participants from crowdsourcing platforms: their ids from the address, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from deadpan.studio.app.texts import clean_text
from deadpan.studio.models import APPLICANT, Identity
from deadpan.studio.records.studies import settings_of

PERSON = ("PROLIFIC_PID", "workerId", "survey_code", "SONA_ID", "id")
"""Parameters that name the person: Prolific, Mechanical Turk, SONA."""
VISIT = ("STUDY_ID", "SESSION_ID", "assignmentId", "hitId", "experiment_id")
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
LONGEST = 120


@dataclass(frozen=True, slots=True)
class Completion:
    """The way back to the platform: a code to enter, or an address to return to."""

    code: str
    url: str


def platform_ids(query: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the person's id on a platform and the parameters of the visit, from the address."""
    person = next((clean_text(query[name])[:LONGEST] for name in PERSON if query.get(name)), "")
    visit = {name: clean_text(query[name])[:LONGEST] for name in (*PERSON, *VISIT) if query.get(name)}
    return person, visit


def is_preview(query: Mapping[str, str]) -> bool:
    """Return whether a Mechanical Turk worker only looks at the task and has not accepted it."""
    return query.get("assignmentId") == PREVIEW


def known_participant(study: Any, crowd_id: str) -> Any:
    """Return the member who came with this id before, or None."""
    found = Identity.objects.filter(member__study=study, crowd_id=crowd_id).select_related("member__person")
    identity = found.first() if crowd_id else None
    return identity.member if identity else None


def completion_of(member: Any, study: Any, state: str) -> Completion | None:
    """Return the way back for somebody who is done, or who cannot take part; None while there is work."""
    settings = settings_of(study)
    if state == "done" and member.done > 0 and member.state != APPLICANT:
        return filled_completion(settings, member)
    # Who comes when the study is full did nothing, and cannot take part either.
    out = state == "refused" or (state == "done" and not member.done)
    return Completion("", _filled(settings.screenout_url, member)) if out and settings.screenout_url else None


def filled_completion(settings: Any, member: Any) -> Completion | None:
    """Return the code and the address of the settings; None if the study names neither."""
    if not (settings.completion_code or settings.completion_url):
        return None
    return Completion(settings.completion_code, _filled(settings.completion_url, member))


def _filled(url: str, member: Any) -> str:
    """Return the address with SONA's and others' placeholders filled from the member's visit."""
    if not url or urlsplit(url).scheme not in ("http", "https"):
        return ""
    visit = Identity.objects.filter(member=member).values_list("platform", flat=True).first() or {}
    for name, value in visit.items():
        url = url.replace(f"{{{name}}}", urlencode({"v": value})[2:])
    return url
