"""Dropped and changed records, counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

PLACES_PER_REASON = 3
MOST_REASONS = 5
"""Reasons that a summary names; a messy table may have a reason per unknown label."""


@dataclass(slots=True)
class Tally:
    """Counts of drops and changes by reason, with the places of the first few."""

    drops: Counter[str] = field(default_factory=Counter)
    changes: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def drop(self, reason: str, place: str = "", detail: str = "") -> None:
        """Count a dropped record; `place` is file:line."""
        self.drops[reason] += 1
        self._show(reason, place, detail)

    def change(self, reason: str, count: int = 1) -> None:
        """Count records that were kept but changed, such as by stripping a marker."""
        if count:
            self.changes[reason] += count

    def _show(self, reason: str, place: str, detail: str) -> None:
        shown = self.places.setdefault(reason, [])
        if len(shown) < PLACES_PER_REASON and (place or detail):
            shown.append(": ".join(part for part in (place, detail[:120]) if part))

    def merge(self, other: Tally) -> None:
        """Add another tally to this one."""
        self.drops.update(other.drops)
        self.changes.update(other.changes)
        for reason, places in other.places.items():
            for place in places:
                self._show(reason, "", place)

    @property
    def dropped(self) -> int:
        return sum(self.drops.values())

    def as_dict(self) -> dict[str, object]:
        """Return the counts and places as JSON for a manifest or --json."""
        return {
            "drops": dict(sorted(self.drops.items())),
            "changes": dict(sorted(self.changes.items())),
            "places": {reason: list(places) for reason, places in sorted(self.places.items())},
        }

    def notes(self) -> tuple[str, ...]:
        """Return lines for a summary: counts by reason, then the first places of each; few of many."""
        lines = [
            _counts(title, counts)
            for title, counts in (("excluded", self.drops), ("changed", self.changes)) if counts
        ]  # fmt: skip
        named = _commonest(self.drops)
        shown = PLACES_PER_REASON if len(self.drops) < PLACES_PER_REASON else 1
        for reason in named:
            lines += [f"  {reason}  {place}" for place in self.places.get(reason, [])[:shown]]
        return tuple(lines)


def _commonest(counts: Counter[str]) -> list[str]:
    """Return the reasons with the largest counts, in alphabetical order."""
    return sorted(sorted(counts, key=lambda reason: (-counts[reason], reason))[:MOST_REASONS])


def _counts(title: str, counts: Counter[str]) -> str:
    named = _commonest(counts)
    told = f"{title}: {', '.join(f'{reason} {counts[reason]:,}' for reason in named)}"
    if not (others := len(counts) - len(named)):
        return told
    rest = counts.total() - sum(counts[reason] for reason in named)
    words = "another reason" if others == 1 else f"{others} other reasons"
    return f"{told}, and {rest:,} for {words} (all of them: --json)"
