"""Train, dev and test, or folds: seeded, stratified, and never crossing a group or a sequence.

Clusters of examples sharing a group or a sequence are dealt out whole, the largest first, those alike in
the order of a hash of (seed, cluster): the draw does not depend on the order of the examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import get_args

from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Split
from deadpan.stats.clusters import cluster_codes

TRAIN_TEST: Mapping[Split, float] = MappingProxyType({"train": 0.8, "test": 0.2})
TRAIN_DEV_TEST: Mapping[Split, float] = MappingProxyType({"train": 0.8, "dev": 0.1, "test": 0.1})

ALL = "all"
"""A stratum that holds every example, so that sizes are kept to as well as label shares."""


@dataclass(frozen=True, slots=True)
class Fold:
    """One of k ways to hold a part back; every example is in `test` of exactly one fold."""

    train: list[Example]
    test: list[Example]


def split(
    examples: Sequence[Example],
    sizes: Mapping[Split, float] = TRAIN_TEST,
    seed: int = 0,
    by_source: bool = False,
) -> dict[Split, list[Example]]:
    """Deal the examples out by these fractions; each comes back with `split` set, in the order of ids.

    Labels (and sources, with `by_source`) have about the same shares in every part. Whole clusters move,
    so sizes are as near as the clusters allow; every part gets at least one.
    """
    _check_sizes(sizes)
    parts = _deal(examples, list(sizes.values()), seed, by_source)
    for name, part in zip(sizes, parts, strict=True):
        if not part:
            raise DataError(_why_empty(examples, name))
    return {
        name: [replace(example, split=name) for example in part]
        for name, part in zip(sizes, parts, strict=True)
    }


def folds(examples: Sequence[Example], k: int = 5, seed: int = 0, by_source: bool = False) -> list[Fold]:
    """k folds of about equal size and label shares, for cross-validation; `split` is set in each."""
    if k < 2:
        raise ConfigError(f"cross-validation needs at least 2 folds: got {k}")
    parts = _deal(examples, [1 / k] * k, seed, by_source)
    if not all(parts):
        n_clusters = len(set(_clusters(examples)))
        raise ConfigError(
            f"{k} folds of {n_clusters} clusters: examples sharing a group or a sequence stay together, "
            f"so ask for at most {n_clusters} folds"
        )
    tests = [[replace(example, split="test") for example in part] for part in parts]
    trains = [[replace(example, split="train") for example in part] for part in parts]
    return [
        Fold(
            train=sorted((e for other in trains[:at] + trains[at + 1 :] for e in other), key=_id),
            test=tests[at],
        )
        for at in range(k)
    ]


def _check_sizes(sizes: Mapping[Split, float]) -> None:
    names = [name for name in get_args(Split) if name]
    strange = [name for name in sizes if name not in names]
    if strange:
        raise ConfigError(f"unknown split {strange[0]!r}: choose from {', '.join(names)}")
    if not sizes or not all(0 < size <= 1 for size in sizes.values()) or abs(sum(sizes.values()) - 1) > 1e-6:
        given = ", ".join(f"{name} {size:g}" for name, size in sizes.items()) or "none"
        raise ConfigError(
            f"sizes are fractions above 0 that add up to 1, such as train 0.8, test 0.2: got {given}"
        )


def _clusters(examples: Sequence[Example]) -> list[int]:
    codes: list[int] = cluster_codes([e.group for e in examples], [e.sequence for e in examples]).tolist()
    return codes


def _id(example: Example) -> str:
    return example.id


def _deal(
    examples: Sequence[Example], fractions: Sequence[float], seed: int, by_source: bool
) -> list[list[Example]]:
    """The examples of each part, in the order of ids. Parts are empty only where clusters are too few."""
    ordered = sorted(examples, key=_id)
    for one, other in pairwise(ordered):
        if one.id == other.id:
            raise DataError(f"two examples have the id {one.id!r}: a split needs ids that tell them apart")
    members: dict[int, list[Example]] = {}
    for example, code in zip(ordered, _clusters(ordered), strict=True):
        members.setdefault(code, []).append(example)
    # Large first, then alike by alike, so that each part gets its share of every kind of cluster.
    drawn = sorted(
        (-len(cluster), sorted(_strata(cluster, by_source).items()), draw(seed, cluster[0].id), cluster)
        for cluster in members.values()
    )
    parts: list[list[Example]] = [[] for _ in fractions]
    places = _places([dict(strata) for _, strata, _, _ in drawn], fractions)
    for (_, _, _, cluster), place in zip(drawn, places, strict=True):
        parts[place].extend(cluster)
    return [sorted(part, key=_id) for part in parts]


def _strata(cluster: Sequence[Example], by_source: bool) -> Counter[str]:
    """How many of each stratum a cluster has."""
    counts = Counter(f"{e.label} {e.source if by_source else ''}" for e in cluster)
    counts[ALL] = len(cluster)
    return counts


def _places(clusters: Sequence[Mapping[str, int]], fractions: Sequence[float]) -> list[int]:
    """The part each cluster goes to: where the counts of all strata stray least from what is wanted."""
    have: list[Counter[str]] = [Counter() for _ in fractions]
    places = []
    for at, cluster in enumerate(clusters):
        empty = [part for part in range(len(fractions)) if not have[part]]
        # As many clusters left as parts still empty: each must get one.
        open_parts = empty if len(empty) >= len(clusters) - at else range(len(fractions))
        place = min(open_parts, key=lambda part: _cost(cluster, have[part], fractions[part]))
        have[place].update(cluster)
        places.append(place)
    return places


def _cost(cluster: Mapping[str, int], have: Mapping[str, int], fraction: float) -> float:
    """How much a part strays if it takes the cluster: the growth of (had - wanted)^2 / fraction over strata.

    Less a term that is the same for every part. Dividing by the fraction fills the parts in proportion,
    so a large thread can land in test; the plain square would send every large one to train.
    """
    return sum(added * (added + 2 * have[stratum]) for stratum, added in cluster.items()) / fraction


def _why_empty(examples: Sequence[Example], name: str) -> str:
    if not examples:
        return f"nothing left for {name}: there are no examples to split"
    sizes = Counter(_clusters(examples))
    largest = max(sizes.values())
    return (
        f"nothing left for {name}: {len(examples)} examples form {len(sizes)} clusters that share a group or "
        f"a sequence, the largest of {largest}"
    )
