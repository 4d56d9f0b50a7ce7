"""Quotas: the share of a study's work that one person gets."""

from __future__ import annotations

import math
from typing import Any

from django.db.models import Sum

from deadpan.studio.models import ACTIVE, ANNOTATOR, MAIN, PARTICIPANT, Member, StoredItem
from deadpan.studio.records.studies import settings_of


def share_of(member: Any, study: Any) -> int:
    """Return the items this person may do: their quota, or all items."""
    quota = settings_of(study).per_person
    return min(quota, study.main_items) if quota else int(study.main_items)


def even_share(study: Any) -> int:
    """Return the quota with which everybody who is in now gets the same share of all the work."""
    people = Member.objects.filter(study=study, state=ACTIVE, role__in=(ANNOTATOR, PARTICIPANT)).count()
    places = StoredItem.objects.filter(study=study, kind=MAIN).aggregate(n=Sum("wanted"))["n"] or 0
    return min(math.ceil(places / people), int(study.main_items)) if people else 0
