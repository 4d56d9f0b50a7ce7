"""Splits keep together what belongs together, keep shares, and depend on nothing but the seed."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Turn
from deadpan.splits import TRAIN_DEV_TEST, folds, split


def example(at: int, label: bool | None = None, group: str = "", sequence: str = "", source: str = "") -> Example:
    return Example(
        id=f"e{at:04}", response=Turn("", "nice"), label=label, group=group, sequence=sequence, source=source
    )


names = st.sampled_from(["", "", "a", "b", "c", "d", "e", "f"])
sets = st.lists(st.tuples(st.sampled_from([True, False, None]), names, names), min_size=12, max_size=60).map(
    lambda rows: [example(at, label, group, sequence) for at, (label, group, sequence) in enumerate(rows)]
)


@given(sets, st.randoms(use_true_random=False), st.integers(0, 3))
@settings(deadline=None, max_examples=60)
def test_nothing_crosses_and_order_does_not_matter(examples: list[Example], shuffler: random.Random, seed: int) -> None:
    try:
        parts = split(examples, seed=seed)
    except DataError as error:
        assert "share a group or a sequence" in str(error)
        return
    assert sorted(e.id for part in parts.values() for e in part) == [e.id for e in examples]
    for kind in ("group", "sequence"):
        train, test = ({getattr(e, kind) for e in parts[name]} - {""} for name in ("train", "test"))
        assert not train & test
    assert all(e.split == name for name, part in parts.items() for e in part)
    shuffled = examples.copy()
    shuffler.shuffle(shuffled)
    assert split(shuffled, seed=seed) == parts


def test_sizes_and_label_shares_are_exact_where_rows_are_free() -> None:
    examples = [example(at, at % 4 == 0) for at in range(1000)]
    parts = split(examples, TRAIN_DEV_TEST)
    assert {name: len(part) for name, part in parts.items()} == {"train": 800, "dev": 100, "test": 100}
    assert {name: sum(e.label is True for e in part) for name, part in parts.items()} == {
        "train": 200,
        "dev": 25,
        "test": 25,
    }


def test_sizes_and_label_shares_are_close_with_threads_of_all_sizes() -> None:
    rng = random.Random(0)
    examples = [
        example(at, rng.random() < 0.3, group=f"g{min(rng.randrange(200), rng.randrange(200))}") for at in range(3000)
    ]
    parts = split(examples, TRAIN_DEV_TEST)
    share = sum(e.label is True for e in examples) / 3000
    for name, part in parts.items():
        assert len(part) / 3000 == pytest.approx(TRAIN_DEV_TEST[name], abs=0.005)
        assert sum(e.label is True for e in part) / len(part) == pytest.approx(share, abs=0.02)


def test_large_threads_are_not_all_sent_to_train() -> None:
    examples = [example(at, at % 2 == 0, group=f"large{at // 20}") for at in range(400)]
    examples += [example(at, at % 2 == 0) for at in range(400, 800)]
    test = split(examples)["test"]
    assert sum(e.group != "" for e in test) == 80


def test_by_source_keeps_the_share_of_each_source() -> None:
    rng = random.Random(1)
    examples = [example(at, at % 2 == 0, source="rare" if rng.random() < 0.1 else "common") for at in range(500)]
    rare = Counter(e.source for e in examples)["rare"]
    test = split(examples, seed=5, by_source=True)["test"]
    assert abs(sum(e.source == "rare" for e in test) - rare / 5) <= 1
    shares = {sum(e.source == "rare" for e in split(examples, seed=seed)["test"]) for seed in range(6)}
    assert max(abs(share - rare / 5) for share in shares) > 1


@pytest.mark.parametrize("rows_a_source", [1, 2, 3])
def test_sources_too_small_to_share_out_do_not_spoil_the_sizes(rows_a_source: int) -> None:
    examples = [example(at, at % 2 == 0, source=f"s{at // rows_a_source}") for at in range(120)]
    assert abs(len(split(examples, by_source=True)["test"]) - 24) <= 2


def test_the_seed_changes_the_draw() -> None:
    examples = [example(at, at % 2 == 0) for at in range(200)]
    drawn = [{e.id for e in split(examples, seed=seed)["test"]} for seed in range(3)]
    assert drawn[0] != drawn[1] != drawn[2]
    # Two draws of a fifth share about a fifth of their rows.
    assert len(drawn[0] & drawn[1]) < 25


def test_every_part_gets_something_when_there_is_enough() -> None:
    parts = split([example(at, True) for at in range(3)], TRAIN_DEV_TEST)
    assert sorted(len(part) for part in parts.values()) == [1, 1, 1]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"train": 0.8, "test": 0.3}, "add up to 1.*train 0.8, test 0.3"),
        ({"train": 1.2, "test": -0.2}, "above 0"),
        ({"train": 1.0, "test": 0.0}, "above 0"),
        ({}, "got none"),
        ({"train": 0.8, "held": 0.2}, "unknown split 'held': choose from train, dev, test"),
        ({"train": float("nan"), "test": 0.5}, "above 0"),
    ],
)
def test_bad_sizes_are_refused(sizes: dict[str, float], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        split([example(at) for at in range(10)], sizes)  # type: ignore[arg-type]


def test_a_part_that_must_be_empty_is_an_error() -> None:
    with pytest.raises(DataError, match=r"no examples left for test: 9 examples form 1 clusters .* largest with 9"):
        split([example(at, group="one") for at in range(9)])
    with pytest.raises(DataError, match="no examples to split"):
        split([])
    with pytest.raises(DataError, match="two examples have the id 'e0001'"):
        split([example(1), example(1)])


def test_folds_hold_every_example_back_once() -> None:
    examples = [example(at, at % 3 == 0, group=f"g{at // 4}") for at in range(240)]
    found = folds(examples, k=5, seed=2)
    assert [len(fold.test) for fold in found] == [48] * 5
    assert sorted(e.id for fold in found for e in fold.test) == [e.id for e in examples]
    for fold in found:
        assert sorted(e.id for e in fold.train + fold.test) == [e.id for e in examples]
        assert not {e.group for e in fold.train} & {e.group for e in fold.test}
        assert {e.split for e in fold.train} == {"train"} and {e.split for e in fold.test} == {"test"}
        assert abs(sum(e.label is True for e in fold.test) - 16) <= 1
    assert folds(examples[::-1], k=5, seed=2) == found


def test_too_many_folds_are_refused() -> None:
    examples = [example(at, group=f"g{at % 3}") for at in range(30)]
    assert len(folds(examples, k=3)) == 3
    with pytest.raises(ConfigError, match=r"4 folds need at least 4 clusters.*at most 3"):
        folds(examples, k=4)
    with pytest.raises(ConfigError, match="folds must be a whole number of at least 2"):
        folds(examples, k=1)


def test_defaults_are_a_fifth_for_the_test_five_folds_and_seed_0() -> None:
    examples = [example(at, at % 3 == 0, source="ab"[at % 2]) for at in range(50)]
    assert split(examples) == split(examples, {"train": 0.8, "test": 0.2}, 0, False)
    assert split(examples) not in (split(examples, seed=1), split(examples, by_source=True))
    assert folds(examples) == folds(examples, 5, 0, False)
    assert folds(examples) not in (folds(examples, seed=1), folds(examples, by_source=True))


def test_limits_of_sizes_and_folds() -> None:
    examples = [example(at) for at in range(4)]
    assert len(split(examples, {"test": 1.0})["test"]) == 4
    assert len(split(examples, {"train": 0.5, "test": 0.5 + 9e-7})) == 2  # rounding is forgiven
    assert [len(fold.test) for fold in folds(examples, k=4)] == [1] * 4
    with pytest.raises(ConfigError, match="5 folds need at least 5 examples, but there are 4"):
        folds(examples, k=5)
    with pytest.raises(DataError, match="needs examples"):
        folds([])
    with pytest.raises(ConfigError, match=r"fractions, such as .*: got 'half'"):
        split(examples, {"train": 0.5, "test": "half"})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match="map splits to fractions"):
        split(examples, [0.8, 0.2])  # type: ignore[arg-type]
