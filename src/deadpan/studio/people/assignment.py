"""Assignment of items: as many people per item as the study wants, nobody twice, abandoned ones returned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, F, Max, OuterRef, Q, Subquery, Sum

from deadpan.studio import models
from deadpan.studio.records.studies import lock_study, settings_of

# Open items of one person at most: the one on the screen, and the next one, fetched before it is needed.
_OPEN_AT_MOST = 2


def next_assignment(member: Any, now: datetime, *, after: int | None = None) -> Any:
    """Return the member's open assignment, or a new one; None if there is nothing left.

    With `after` it is the one after that number, made although that one is open.
    Only choosing and assigning hold the study's lock.
    """
    return_abandoned(member.study, now)
    held = _left_open(member)
    if _enough(held, after):
        return _first(held, after)
    try:
        with transaction.atomic():
            lock_study(member.study_id)  # two people must not both get an item's last place
            # While this request waited, another one of the same person may have been given the item.
            held = _left_open(member)
            if _enough(held, after):
                return _first(held, after)
            # An answer saved meanwhile counts: after what is held, so that no item is counted in neither.
            member.refresh_from_db(fields=("done", "checks", "state"))
            item = _pick(member, [one.item.kind for one in held])
            return None if item is None else _give(member, item, now)
    except IntegrityError:  # the same person in another window, at the same moment
        return _first(_left_open(member), after)


def _enough(held: Sequence[Any], after: int | None) -> bool:
    """Return whether no new assignment is needed, or none may be made."""
    return _first(held, after) is not None or len(held) >= _OPEN_AT_MOST


def _first(held: Sequence[Any], after: int | None) -> Any:
    return next((one for one in held if after is None or one.number > after), None)


def _left_open(member: Any) -> list[Any]:
    mine = models.Assignment.objects.filter(member=member, state=models.OPEN).select_related("item")
    return list(mine.order_by("number")[: _OPEN_AT_MOST + 1])


def _pick(member: Any, at_work: Sequence[str] = ()) -> Any:
    """Return the next item: the one nearest to having all its raters, then the first by position."""
    mine = models.Assignment.objects.filter(member=member).exclude(state=models.RETURNED)
    items = models.StoredItem.objects.filter(~Exists(mine.filter(item=OuterRef("pk"))), study_id=member.study_id)
    if member.state == models.APPLICANT:
        return items.filter(kind=models.QUALIFICATION).order_by("position").first()
    settings = settings_of(member.study)
    done, checks = (
        n + at_work.count(kind) for n, kind in ((member.done, models.MAIN), (member.checks, models.ATTENTION))
    )
    if settings.attention_every > 0 and done // settings.attention_every > checks:
        check = items.filter(kind=models.ATTENTION).order_by("position").first()
        if check is not None:
            return check
    if settings.per_person and done >= settings.per_person:
        return None
    wanted = items.filter(kind=models.MAIN, taken__lt=F("wanted"))
    if member.language:
        wanted = wanted.filter(language__in=("", member.language))
    cap = settings.per_group.get(member.group) if member.group else None
    if cap is not None:
        wanted = wanted.annotate(of_group=Subquery(_held_by(member))).filter(Q(of_group=None) | Q(of_group__lt=cap))
    # Both twins of a pair shown to one person would give the answer away.
    relatives = mine.filter(item__family=OuterRef("family"), item__study_id=member.study_id)
    wanted = wanted.filter(Q(family="") | ~Exists(relatives))
    # With a quota everybody must find enough items they have not seen: those with the fewest raters first.
    order = ("taken", "-position") if settings.per_person else ("-taken", "position")
    return wanted.order_by(*order).first()


def _held_by(member: Any) -> Any:
    """Count the people of the member's group who have an item."""
    held = models.Assignment.objects.filter(item=OuterRef("pk"), member__group=member.group).exclude(
        state__in=(models.RETURNED, models.SKIPPED)
    )
    return held.values("item").annotate(n=Count("pk")).values("n")


def _give(member: Any, item: Any, now: datetime) -> Any:
    models.StoredItem.objects.filter(pk=item.pk).update(taken=F("taken") + 1)
    # One query for both: everybody else waits for the lock.
    known = models.Assignment.objects.filter(member=member).aggregate(
        last=Max("number"), earlier=Max("pk", filter=Q(item=item))
    )
    if known["earlier"] is not None:
        models.Assignment.objects.filter(pk=known["earlier"]).update(state=models.OPEN, touched_at=now)
        return models.Assignment.objects.select_related("item").get(pk=known["earlier"])
    # Numbers count per person: addresses like /item/3 say nothing about others.
    number = (known["last"] or 0) + 1
    return models.Assignment.objects.create(item=item, member=member, number=number, given_at=now, touched_at=now)


def skip_assignment(assignment: Any, reason: str) -> None:
    """Give an item back with a reason. Its answers stay in the journal, and it is not given again."""
    with transaction.atomic():
        held = models.Assignment.objects.filter(pk=assignment.pk).exclude(state__in=(models.RETURNED, models.SKIPPED))
        was_done = held.filter(state=models.DONE).exists()
        if held.update(state=models.SKIPPED, reason=reason):
            item = models.StoredItem.objects.filter(pk=assignment.item_id)
            item.filter(taken__gt=0).update(taken=F("taken") - 1)
            if was_done:
                item.filter(finished__gt=0).update(finished=F("finished") - 1)
                models.Member.objects.filter(pk=assignment.member_id, done__gt=0).update(done=F("done") - 1)


def return_abandoned(study: Any, now: datetime) -> int:
    """Return abandoned items to the pool, and their number. Their answers stay in the journal."""
    minutes = max(settings_of(study).abandon_minutes, 1)  # an item on the screen is not abandoned
    idle = models.Assignment.objects.filter(
        item__study=study, state=models.OPEN, touched_at__lt=now - timedelta(minutes=minutes)
    )
    return return_items(idle)


def return_items(assignments: Any) -> int:
    """Return these assignments' items to the pool."""
    returned = 0
    held = assignments.exclude(state__in=(models.RETURNED, models.SKIPPED))
    for pk, item in held.values_list("pk", "item_id"):
        with transaction.atomic():
            changed = held.filter(pk=pk).update(state=models.RETURNED)
            if changed:
                models.StoredItem.objects.filter(pk=item, taken__gt=0).update(taken=F("taken") - 1)
        returned += changed
    return returned


# ---------------------------------------------------------------- quotas


def share_of(member: Any, study: Any) -> int:
    """Return the items this person may do: their quota, or all items."""
    quota = settings_of(study).per_person
    return min(quota, study.main_items) if quota else int(study.main_items)


def progress_of(member: Any, study: Any) -> tuple[int, int]:
    """Return how many items this person has finished, and of how many: their share, without checks."""
    if member.state == models.APPLICANT:
        return min(member.round_done, study.round_items), study.round_items
    return member.done, max(share_of(member, study), member.done)


def even_share(study: Any) -> int:
    """Return the quota with which everybody who is in now gets the same share of all the work."""
    people = models.Member.objects.filter(
        study=study, state=models.ACTIVE, role__in=(models.ANNOTATOR, models.PARTICIPANT)
    ).count()
    places = models.StoredItem.objects.filter(study=study, kind=models.MAIN).aggregate(n=Sum("wanted"))["n"] or 0
    return min(math.ceil(places / people), int(study.main_items)) if people else 0
