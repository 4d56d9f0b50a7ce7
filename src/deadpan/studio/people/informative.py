"""Studies that ask first what teaches a detector most; raters do not see which items these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deadpan.errors import ConfigError
from deadpan.formats.study_items import StudyItem
from deadpan.ordering import Ordering, informative_order
from deadpan.records import Example, Judgment, Predictor
from deadpan.registry import unknown
from deadpan.studio.models import Event

ORDERS = ("random", "informative")


def order_items(
    items: Sequence[StudyItem], predictor: Predictor | None, order: str, seed: int = 0
) -> Ordering | None:
    """Return the order of a study's items by a detector's scores; None for the usual random order."""
    if order not in ORDERS:
        raise ConfigError(unknown("order", order, ORDERS))
    if order == ORDERS[0]:
        return None
    if predictor is None:
        raise ConfigError("an informative order needs a detector: name one with --model")
    asked = [item for item in items if not item.check]
    examples = [Example(item.id, item.response, context=item.context) for item in asked]
    scores = [0.5 if p.score is None else p.score for p in predictor.predict(examples)]
    return informative_order([e.id for e in examples], [e.response.text for e in examples], scores, seed=seed)


def control_items(study: Any) -> set[str]:
    """Return the ids of a study's control stratum; empty where all items are in random order."""
    made = Event.objects.filter(study=study, what="create").order_by("pk").first()
    found = made.detail.get("control", []) if made is not None else []
    return set(found)


def control_only(study: Any, judgments: Sequence[Judgment]) -> list[Judgment]:
    """Return the judgments that estimate agreement without bias: of the control stratum, if there is one."""
    control = control_items(study)
    return [judgment for judgment in judgments if not control or judgment.item_id in control]
