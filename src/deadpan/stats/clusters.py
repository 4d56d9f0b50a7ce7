"""Clusters of dependent rows: intervals resample them as a whole, and splits never cross them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deadpan.arguments import check_list
from deadpan.errors import DataError
from deadpan.stats.interval import FloatArray, IntArray


def cluster_sums(columns: FloatArray, clusters: IntArray) -> FloatArray:
    """Return the sums of columns (rows x columns) over the rows of each cluster (clusters x columns)."""
    return np.stack([np.bincount(clusters, weights=column) for column in columns.T], axis=1)


def cluster_codes(*keys: Sequence[str]) -> IntArray:
    """Return the connected components of rows that share a key, as one number per row.

    Each argument is one kind of key (group, sequence) with a string per row; rows that share a non-empty
    key are connected, and an empty key connects nothing. A sequence that spans two groups joins them.
    Numbers count from 0 in order of first appearance.
    """
    columns = [check_list(column, "keys") for column in keys]
    rows = len(columns[0]) if columns else 0
    if any(len(column) != rows for column in columns):
        lengths = ", ".join(str(len(column)) for column in columns)
        raise DataError(f"keys need one string per row: the columns have {lengths} rows")
    for column in columns:
        if strange := [key for key in column if not isinstance(key, str)]:
            raise DataError(f"a key must be text, got {strange[0]!r}: use an empty string for none")
    parents = list(range(rows))
    for column in columns:
        first_with: dict[str, int] = {}
        for row, key in enumerate(column):
            if key:
                parents[_root(parents, row)] = _root(parents, first_with.setdefault(key, row))
    numbers: dict[int, int] = {}
    codes = [numbers.setdefault(_root(parents, row), len(numbers)) for row in range(rows)]
    return np.array(codes, dtype=np.int64)


def _root(parents: list[int], row: int) -> int:
    """Return the root of a row's component, halving the path on the way (union-find)."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row
