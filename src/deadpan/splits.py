"""Splits and folds: seeded, stratified, and never crossing a group or a sequence.

Clusters of examples that share a group or a sequence are assigned as a whole, the largest first, those
alike in the order of a hash of (seed, cluster): the result does not depend on the order of the examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import get_args

from deadpan.arguments import check_examples, check_flag, check_seed, check_whole
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Split
from deadpan.stats.interval import cluster_codes

TRAIN_TEST: Mapping[Split, float] = MappingProxyType({"train": 0.8, "test": 0.2})
TRAIN_DEV_TEST: Mapping[Split, float] = MappingProxyType({"train": 0.8, "dev": 0.1, "test": 0.1})

# The stratum of all examples, so that sizes are balanced as well as label shares.
_ALL = "all"


@dataclass(frozen=True, slots=True)
class Fold:
    """One fold of cross-validation; every example is in `test` of exactly one fold."""

    train: list[Example]
    test: list[Example]


def split(
    examples: Sequence[Example], sizes: Mapping[Split, float] = TRAIN_TEST, seed: int = 0, by_source: bool = False
) -> dict[Split, list[Example]]:
    """Split the examples into train, dev and test without separating a group or a sequence.

    Parameters
    ----------
    examples : the examples; their ids must be unique.
    sizes : a fraction per split, such as {"train": 0.8, "dev": 0.1, "test": 0.1}; they add up to 1.
    seed : the random seed.
    by_source : stratify by source as well as by label.

    Returns the examples of each split in the order of ids, with `split` set. Labels have about the same
    shares in every split. Clusters are never divided, so sizes are approximate; no split is empty.

    >>> from deadpan import read_dataset, split
    >>> parts = split(read_dataset("starter-en").examples, {"train": 0.9, "test": 0.1}, seed=0)
    >>> sorted(parts)
    ['test', 'train']
    """
    examples = check_examples(examples)
    _check_sizes(sizes)
    by_source = check_flag(by_source, "by_source")
    parts = _partition(examples, list(sizes.values()), seed, by_source)
    for name, part in zip(sizes, parts, strict=True):
        if not part:
            raise DataError(_why_empty(examples, name))
    return {name: [replace(example, split=name) for example in part] for name, part in zip(sizes, parts, strict=True)}


def folds(examples: Sequence[Example], k: int = 5, seed: int = 0, by_source: bool = False) -> list[Fold]:
    """Return k folds for cross-validation, of about equal size and label shares.

    Parameters
    ----------
    examples : the examples; their ids must be unique.
    k : the number of folds, at least 2.
    seed : the random seed.
    by_source : stratify by source as well as by label.

    Examples that share a group or a sequence are in one fold. Each Fold has `train` and `test`.

    >>> from deadpan import folds, read_dataset
    >>> len(folds(read_dataset("starter-en").examples, k=5))
    5
    """
    examples = check_examples(examples)
    k, by_source = check_whole(k, "the number of folds", 2), check_flag(by_source, "by_source")
    if not examples:
        raise DataError("cross-validation needs examples: got none")
    if k > len(examples):
        raise ConfigError(f"{k} folds need at least {k} examples, but there are {len(examples)}: use fewer folds")
    parts = _partition(examples, [1 / k] * k, seed, by_source)
    if not all(parts):
        n_clusters = len(set(_clusters(examples)))
        raise ConfigError(
            f"{k} folds need at least {k} clusters of examples, but there are {n_clusters}: examples that "
            f"share a group or a sequence stay together; use at most {n_clusters} folds"
        )
    tests = [[replace(example, split="test") for example in part] for part in parts]
    trains = [[replace(example, split="train") for example in part] for part in parts]
    return [
        Fold(train=sorted((e for other in trains[:at] + trains[at + 1 :] for e in other), key=_id), test=tests[at])
        for at in range(k)
    ]


def _check_sizes(sizes: Mapping[Split, float]) -> None:
    names = [name for name in get_args(Split) if name]
    if not isinstance(sizes, Mapping):
        raise ConfigError(f"sizes must map splits to fractions, such as {dict(TRAIN_TEST)}: got {sizes!r}")
    if bad := [size for size in sizes.values() if not isinstance(size, int | float)]:
        raise ConfigError(f"sizes must be fractions, such as {dict(TRAIN_TEST)}: got {bad[0]!r}")
    strange = [name for name in sizes if name not in names]
    if strange:
        raise ConfigError(f"unknown split {strange[0]!r}: choose from {', '.join(names)}")
    if not sizes or not all(0 < size <= 1 for size in sizes.values()) or abs(sum(sizes.values()) - 1) > 1e-6:
        sizes_text = ", ".join(f"{name} {size:g}" for name, size in sizes.items()) or "none"
        raise ConfigError(
            f"sizes are fractions above 0 that add up to 1, such as train 0.8, test 0.2: got {sizes_text}"
        )


def _clusters(examples: Sequence[Example]) -> list[int]:
    codes: list[int] = cluster_codes([e.group for e in examples], [e.sequence for e in examples]).tolist()
    return codes


def _id(example: Example) -> str:
    return example.id


def _partition(
    examples: Sequence[Example], fractions: Sequence[float], seed: int, by_source: bool
) -> list[list[Example]]:
    """Return the examples of each part, in the order of ids; a part is empty only if clusters are too few."""
    check_seed(seed)
    ordered = sorted(examples, key=_id)
    for one, other in pairwise(ordered):
        if one.id == other.id:
            raise DataError(f"two examples have the id {one.id!r}: ids must be unique")
    members: dict[int, list[Example]] = {}
    for example, code in zip(ordered, _clusters(ordered), strict=True):
        members.setdefault(code, []).append(example)
    # By size, then by strata, so that each part gets its share of every kind of cluster.
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
    """Return the number of examples of each stratum in a cluster."""
    counts = Counter(f"{e.label} {e.source if by_source else ''}" for e in cluster)
    counts[_ALL] = len(cluster)
    return counts


def _places(clusters: Sequence[Mapping[str, int]], fractions: Sequence[float]) -> list[int]:
    """Return the part of each cluster: the one whose strata then deviate least from their targets."""
    have: list[Counter[str]] = [Counter() for _ in fractions]
    places = []
    for at, cluster in enumerate(clusters):
        empty = [part for part in range(len(fractions)) if not have[part]]
        # If only as many clusters are left as parts are empty, each of these parts gets one.
        open_parts = empty if len(empty) >= len(clusters) - at else range(len(fractions))
        place = min(open_parts, key=lambda part: _cost(cluster, have[part], fractions[part]))
        have[place].update(cluster)
        places.append(place)
    return places


def _cost(cluster: Mapping[str, int], have: Mapping[str, int], fraction: float) -> float:
    """Return how much adding the cluster increases a part's (count - target)^2 / fraction over strata.

    A term that is the same for every part is omitted. Dividing by the fraction fills the parts in
    proportion, so a large thread can be in test; the plain square would put every large one into train.
    """
    return sum(added * (added + 2 * have[stratum]) for stratum, added in cluster.items()) / fraction


def _why_empty(examples: Sequence[Example], name: str) -> str:
    if not examples:
        return "there are no examples to split: pass some"
    sizes = Counter(_clusters(examples))
    largest = max(sizes.values())
    return (
        f"no examples left for {name}: {len(examples)} examples form {len(sizes)} clusters that share a "
        f"group or a sequence, the largest with {largest}; use fewer splits"
    )
