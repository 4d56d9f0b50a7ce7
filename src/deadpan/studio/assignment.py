"""Who gets which item: as many people an item as the study wants, nobody twice, nothing left lying."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, F, Max, Q

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
    """What this member should do next: the item they left open, or a new one; None if there is nothing.

    Only choosing and giving hold the lock everybody waits for; what is this member's own is read before.
    """
    return_abandoned(member.study, now)
    left_open = _left_open(member)
    if left_open is not None:
        return left_open
    so_far = _so_far(member)
    try:
        with transaction.atomic():
            # One at a time a study: two people who ask at once must not both get an item's last place.
            Study.objects.select_for_update().filter(pk=member.study_id).values_list("pk").first()
            item = _pick(member, so_far)
            return None if item is None else _give(member, item, so_far, now)
    except IntegrityError:  # the same person, at the same moment, in another window: one item for both
        return _left_open(member)


def _left_open(member: Any) -> Any:
    mine = Assignment.objects.filter(member=member, state=OPEN).select_related("item")
    return mine.order_by("number").first()


def _so_far(member: Any) -> dict[str, int]:
    """What this member has had: the last number, finished items and checks, items that went back."""
    finished = Q(state=DONE)
    found: dict[str, int] = Assignment.objects.filter(member=member).aggregate(
        last=Max("number", default=0),
        main=Count("pk", filter=finished & Q(item__kind=MAIN)),
        checks=Count("pk", filter=finished & Q(item__kind=ATTENTION)),
        returned=Count("pk", filter=Q(state=RETURNED)),
    )
    return found


def _pick(member: Any, so_far: Mapping[str, int]) -> Any:
    """Items nearest to having all their raters come first, so that finished ones come in early."""
    seen = Assignment.objects.filter(member=member).exclude(state=RETURNED).values("item_id")
    items = Item.objects.filter(study_id=member.study_id).exclude(pk__in=seen)
    if member.state == APPLICANT:
        return items.filter(kind=QUALIFICATION).order_by("position").first()
    every = int(member.study.settings.get("attention_every", ATTENTION_EVERY))
    if every > 0 and so_far["main"] // every > so_far["checks"]:
        check = items.filter(kind=ATTENTION).order_by("position").first()
        if check is not None:
            return check
    return items.filter(kind=MAIN, taken__lt=F("wanted")).order_by("-taken", "position").first()


def _give(member: Any, item: Any, so_far: Mapping[str, int], now: datetime) -> Any:
    Item.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    earlier = Assignment.objects.filter(member=member, item=item).first() if so_far["returned"] else None
    if earlier is not None:
        Assignment.objects.filter(pk=earlier.pk).update(state=OPEN, touched_at=now)
        earlier.state = OPEN
        return earlier
    number = so_far["last"] + 1
    return Assignment.objects.create(item=item, member=member, number=number, given_at=now, touched_at=now)


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
    for pk, item in assignments.values_list("pk", "item_id"):
        with transaction.atomic():
            changed = assignments.filter(pk=pk).exclude(state=RETURNED).update(state=RETURNED)
            if changed:
                Item.objects.filter(pk=item, taken__gt=0).update(taken=F("taken") - 1)
        returned += changed
    return returned
