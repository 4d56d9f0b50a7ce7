"""Counts of excluded and changed records, in the words of a result."""

from __future__ import annotations

from deadpan.drops import Tally


def tally_notes(tally: Tally) -> tuple[str, ...]:
    """Return a line of what was excluded, a line of what was changed, and the first places."""
    notes = []
    for title, counts in (("excluded", tally.drops), ("changed", tally.changes)):
        if counts:
            parts = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
            notes.append(f"{title}: {parts}")
    places = [
        f"  {reason}  {place}" for reason in sorted(tally.drops) for place in tally.places.get(reason, [])
    ]
    return (*notes, *places)
