"""Dropped and changed records, counted by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

PLACES_PER_REASON = 3


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
        """Return lines for a summary: counts by reason, then the first places of each."""
        lines = []
        for title, counts in (("excluded", self.drops), ("changed", self.changes)):
            if counts:
                parts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
                lines.append(f"{title}: {parts}")
        for reason in sorted(self.drops):
            lines += [f"  {reason}  {place}" for place in self.places.get(reason, [])]
        return tuple(lines)
