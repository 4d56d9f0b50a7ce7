"""Batches: every row once, little padding, the same for a seed, sequences together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from deadpan.detect.neural.texts import NumberedTexts
from deadpan.detect.neural.training import by_length, sequence_units, shuffled_units

lengths_of = st.lists(st.integers(1, 60), min_size=1, max_size=300).map(lambda rows: np.array(rows, np.int64))


def shuffled(lengths, size, seed, epoch):
    """Batches where every row is a unit of its own."""
    return shuffled_units([[row] for row in range(len(lengths))], lengths, size, seed, epoch)


@given(lengths_of, st.integers(1, 70), st.integers(0, 5), st.integers(0, 5))
def test_every_row_is_in_one_batch(lengths, size, seed, epoch):
    batches = shuffled(lengths, size, seed, epoch)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(1 <= len(batch) <= size for batch in batches)
    assert batches == shuffled(lengths, size, seed, epoch)


@given(lengths_of, st.integers(1, 70))
def test_prediction_takes_every_row_the_longest_first(lengths, size):
    batches = by_length(lengths, size)
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    assert lengths[batches[0][0]] == lengths.max()


def test_batches_have_little_padding_and_differ_by_epoch():
    lengths = np.random.default_rng(0).geometric(0.05, 4_000).astype(np.int64)
    batches = shuffled(lengths, 32, seed=0, epoch=0)
    places = sum(len(batch) * lengths[batch].max() for batch in batches)
    at_random = np.random.default_rng(1).permutation(4_000).reshape(-1, 32)
    assert places < 1.15 * lengths.sum()
    assert sum(32 * lengths[batch].max() for batch in at_random) > 2 * lengths.sum()
    assert batches != shuffled(lengths, 32, seed=0, epoch=1)
    assert batches != shuffled(lengths, 32, seed=1, epoch=0)


def test_rows_of_a_sequence_stay_together():
    sequences = [f"pair {row // 2}" for row in range(100)] + [""] * 10
    units = sequence_units(sequences)
    assert len(units) == 60
    lengths = np.random.default_rng(0).integers(1, 40, 110)
    for batch in shuffled_units(units, lengths, 16, 0, 0):
        assert 1 <= len(batch) <= 20
        for row in batch:
            if sequences[row]:
                assert (row ^ 1) in batch


def test_numbers_are_padded_on_the_right():
    torch = pytest.importorskip("torch")
    texts = NumberedTexts([[5, 6, 7], [8], [9, 9]], features=np.eye(3, dtype=np.float32))
    given_ = texts.batch([1, 0])
    assert given_["numbers"].tolist() == [[8, 0, 0], [5, 6, 7]]
    assert given_["lengths"].tolist() == [1, 3]
    assert torch.equal(given_["features"], torch.tensor([[0.0, 1, 0], [1, 0, 0]]))
