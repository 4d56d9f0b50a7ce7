"""Remarks about items: flags for the study leader, and the reasons of skipped items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from deadpan.studio.models import SKIPPED, Assignment


@dataclass(frozen=True, slots=True)
class ItemFlag:
    """One remark about an item, by pseudonym. `what` is "flagged" or "skipped"."""

    item: str
    text: str
    language: str
    annotator: str
    what: str
    said: str


def flagged_assignments(study: Any) -> Any:
    """Return the assignments that are flagged or skipped, the latest first."""
    said = Q(state=SKIPPED) | ~Q(flag="")
    found = Assignment.objects.filter(said, item__study=study).select_related("item", "member")
    return found.order_by("-pk")


def item_flags(assignments: Iterable[Any]) -> Iterator[ItemFlag]:
    """Yield the remarks of these assignments: an item may be flagged and then skipped."""
    for held in assignments:
        words = {"flagged": held.flag, "skipped": held.reason if held.state == SKIPPED else ""}
        for what, said in words.items():
            if said:
                yield ItemFlag(
                    held.item.item_id,
                    str(held.item.response.get("text", "")),
                    held.item.language,
                    held.member.pseudonym,
                    what,
                    said,
                )
