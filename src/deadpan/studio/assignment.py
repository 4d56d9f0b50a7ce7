"""Who gets which item: as many people an item as the study wants, nobody twice, nothing left lying."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, Max

from deadpan.studio.models import (
    APPLICANT,
    ATTENTION,
    DONE,
    MAIN,
    OPEN,
    QUALIFICATION,
    RETURNED,
    Assignment,
    Item,
    Study,
)

ABANDON_MINUTES = 60
ATTENTION_EVERY = 20


def next_assignment(member: Any, now: datetime) -> Any:
    """What this member should do next: the item they left open, or a new one; None if there is nothing."""
    with transaction.atomic():
        # One at a time a study: two people who ask at once must not both get an item's last place.
        study = Study.objects.select_for_update().get(pk=member.study_id)
        return_abandoned(study, now)
        mine = Assignment.objects.filter(member=member).select_related("item")
        left_open = mine.filter(state=OPEN).order_by("number").first()
        if left_open is not None:
            return left_open
        item = _pick(member, study)
        if item is None:
            return None
        return _give(member, item, now)


def _pick(member: Any, study: Any) -> Any:
    """Items nearest to having all their raters come first, so that finished ones come in early."""
    items = Item.objects.filter(study=study)
    seen = Assignment.objects.filter(member=member).exclude(state=RETURNED).values("item_id")
    if member.state == APPLICANT:
        return items.filter(kind=QUALIFICATION).exclude(pk__in=seen).order_by("position").first()
    if _check_is_due(member, study):
        check = items.filter(kind=ATTENTION).exclude(pk__in=seen).order_by("position").first()
        if check is not None:
            return check
    free = items.filter(kind=MAIN, taken__lt=F("wanted")).exclude(pk__in=seen)
    return free.order_by("-taken", "position").first()


def _check_is_due(member: Any, study: Any) -> bool:
    every = int(study.settings.get("attention_every", ATTENTION_EVERY))
    if every < 1:
        return False
    kinds = Assignment.objects.filter(member=member, state=DONE).values_list("item__kind", flat=True)
    done = list(kinds)
    return bool(done.count(MAIN) // every > done.count(ATTENTION))


def _give(member: Any, item: Any, now: datetime) -> Any:
    Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    earlier = Assignment.objects.filter(member=member, item=item).first()
    if earlier is not None:
        Assignment.objects.filter(pk=earlier.pk).update(state=OPEN, touched_at=now)
        earlier.state = OPEN
        return earlier
    last = Assignment.objects.filter(member=member).aggregate(last=Max("number"))["last"] or 0
    return Assignment.objects.create(item=item, member=member, number=last + 1, given_at=now, touched_at=now)


def return_abandoned(study: Any, now: datetime) -> int:
    """Items somebody took and let lie go back to the pool; how many. Their answers stay in the journal."""
    minutes = float(study.settings.get("abandon_minutes", ABANDON_MINUTES))
    idle = Assignment.objects.filter(
        item__study=study, state=OPEN, touched_at__lt=now - timedelta(minutes=minutes)
    )
    return give_back(idle)


def give_back(assignments: Any) -> int:
    """Return these assignments' items to the pool."""
    returned = 0
    for assignment in list(assignments):
        changed = Assignment.objects.filter(pk=assignment.pk).exclude(state=RETURNED).update(state=RETURNED)
        if changed:
            Item.objects.filter(pk=assignment.item_id, taken__gt=0).update(taken=F("taken") - 1)
        returned += changed
    return returned
