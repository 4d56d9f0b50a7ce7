"""Trees of comments as arrays: who is below a marked comment, and which chains reach their post.

Works on any number of threads at once, in time linear in the comments but for a logarithm of the deepest
chain: a chain of 10,000 replies costs 14 rounds, a circle of parents is no trap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Trees:
    """`parents` are row numbers; `post` and `nowhere` stand for a parent that is the post, or is missing."""

    parents: Numbers
    post: int
    nowhere: int


def trees(parents: Numbers, is_top: Flags) -> Trees:
    """From row numbers of parent comments (-1 where there is none here) and whether the parent is a post."""
    n = len(parents)
    linked = np.where(parents >= 0, parents, np.where(is_top, n, n + 1))
    return Trees(linked.astype(np.int64), n, n + 1)


def descend(forest: Trees, marked: Flags) -> tuple[Flags, Flags]:
    """(has a marked ancestor, has a whole chain to its post), by doubling the length of every step.

    After round k a row knows its 2^k next ancestors. In a circle a row is its own ancestor, and after as
    many rounds as cover every row it still has not arrived anywhere: its chain is broken.
    """
    n = forest.post
    jump = np.append(forest.parents, [forest.post, forest.nowhere])
    below = np.append(marked, [False, False])[jump]
    moving = np.flatnonzero(jump[:n] < n)
    covered = 1
    while len(moving) and covered <= n:
        ahead = jump[moving]
        below[moving] |= below[ahead]
        jump[moving] = jump[ahead]
        moving = moving[jump[moving] < n]
        covered *= 2
    return below[:n], jump[:n] == forest.post


def paths(forest: Trees, rows: Numbers) -> tuple[Numbers, Numbers]:
    """For each of some rows that have a whole chain, the rows from the one below the post down to it: all
    paths one after the other, and where each begins (and the last ends)."""
    steps, owners = [rows[:0]], [rows[:0]]
    here, owner = rows, np.arange(len(rows))
    while len(here):
        steps.append(here)
        owners.append(owner)
        above = forest.parents[here]
        here, owner = above[above < forest.post], owner[above < forest.post]
    owned = np.concatenate(owners[::-1])  # the highest first
    order = np.argsort(owned, kind="stable")
    begins = np.append(0, np.cumsum(np.bincount(owned, minlength=len(rows))))
    return np.concatenate(steps[::-1])[order], begins
