"""The k-anonymity check of a release: how few people share what the release says of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deadpan.records import Example

SMALLEST = 5


@dataclass(frozen=True, slots=True)
class Anonymity:
    """`k`: the fewest people who share a combination of released facts; None if none are released.

    `alone` raters gave a set of answers that nobody else gave; another release that names raters across
    items could be joined to this one by them.
    """

    k: int | None
    raters: int
    alone: int
    per_item: bool
    earlier: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the findings."""
        found = []
        if self.k is not None:
            found.append(f"Every released combination of facts is shared by {self.k} people or more.")
        if self.per_item:
            found.append("A rater has a new name for every item, so that releases cannot be joined.")
        elif self.raters:
            found.append(
                f"{self.alone} of {self.raters} raters can be told apart by their answers: publish no second "
                "release that names raters across items."
            )
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            "k": self.k,
            "raters": self.raters,
            "raters_alone": self.alone,
            "names_per_item": self.per_item,
            "earlier_releases": self.earlier,
        }


def anonymity(
    examples: Sequence[Example], judgments: Sequence[Any], *, earlier: int, per_item: bool
) -> Anonymity:
    """Check what a release says about people."""
    people = {e.group: json.dumps(dict(e.meta), sort_keys=True) for e in examples if e.group and e.meta}
    sizes = Counter(people.values())
    answers: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for row in judgments:
        answers[row.annotator].add((row.item_id, row.question, row.answer))
    sets = Counter(frozenset(given) for given in answers.values())
    return Anonymity(
        k=min(sizes.values()) if sizes else None,
        raters=0 if per_item else len(answers),
        alone=0 if per_item else sum(1 for n in sets.values() if n == 1),
        per_item=per_item,
        earlier=earlier,
    )
