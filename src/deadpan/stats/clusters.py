"""Rows that belong together: what intervals resample whole and splits never cross."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.errors import DataError
from deadpan.stats.interval import IntArray


def cluster_codes(*keys: Sequence[str]) -> IntArray:
    """Number the rows so that rows sharing any non-empty key have one number; an empty key joins nothing.

    Each argument is one kind of key (group, sequence) with a string a row. Sharing is transitive: a
    sequence that spans two groups joins them. Numbers count from 0 in order of first appearance.
    """
    rows = len(keys[0]) if keys else 0
    if any(len(column) != rows for column in keys):
        raise DataError(f"one key a row: the columns have {', '.join(str(len(c)) for c in keys)} rows")
    parents = list(range(rows))
    for column in keys:
        first_with: dict[str, int] = {}
        for row, key in enumerate(column):
            if key:
                parents[_root(parents, row)] = _root(parents, first_with.setdefault(key, row))
    numbers: dict[int, int] = {}
    codes = [numbers.setdefault(_root(parents, row), len(numbers)) for row in range(rows)]
    return np.array(codes, dtype=np.int64)


def _root(parents: list[int], row: int) -> int:
    """The row that stands for this row's cluster; the path is shortened on the way to keep it quick."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row
