"""Demographics in groups that identify nobody: every combination that is released is shared by k people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Group = dict[str, str]


def safe_groups(groups: Sequence[Mapping[str, str]], k: int) -> tuple[list[Group], int]:
    """Return the groups without values that make somebody one of fewer than k, and how many were removed.

    While a combination is too rare, the fact with the most different values is taken from the people who
    have it. In the end everybody shares all their remaining facts with k - 1 others, or has none.
    """
    kept = [dict(group) for group in groups]
    before = sum(map(len, kept))
    while rare := _rare(kept, k):
        values = Counter(name for name, _ in {pair for group in rare for pair in group.items()})
        for group in rare:
            del group[max(group, key=lambda name: (values[name], name))]
    return kept, before - sum(map(len, kept))


def _rare(groups: Sequence[Group], k: int) -> list[Group]:
    """Return the groups whose combination of facts fewer than k people share."""
    sizes = Counter(tuple(sorted(group.items())) for group in groups)
    return [group for group in groups if group and sizes[tuple(sorted(group.items()))] < k]
