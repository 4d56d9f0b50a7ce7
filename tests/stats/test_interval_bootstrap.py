"""Resampling whole clusters: the quick way and the general way are the same bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from deadpan.errors import ConfigError
from deadpan.stats import bootstrap_interval, confusion, f1, wilson
from deadpan.stats.interval import (
    FloatArray,
    IntArray,
    check_resamples,
    clustered_mean,
    counted_clusters,
    resample_rows,
    resample_totals,
    totals_interval,
    unique_clusters,
)
from deadpan.stats.scores import confusion_columns


def _f1_of(sums: FloatArray) -> FloatArray:
    return f1(sums.reshape(-1, 2, 3))


def _labels(rows: int, seed: int = 0) -> tuple[list[bool], list[bool]]:
    rng = np.random.default_rng(seed)
    truth = rng.random(rows) < 0.4
    return truth.tolist(), np.where(rng.random(rows) < 0.75, truth, ~truth).tolist()


@pytest.mark.parametrize("cluster_size", [1, 7])
def test_quick_and_general_bootstrap_have_the_same_spread(cluster_size: int) -> None:
    truth, answers = _labels(280)
    clusters = np.arange(280) // cluster_size
    kinds, multiplicity = unique_clusters(confusion_columns(truth, answers), clusters)
    quick = resample_totals(kinds, multiplicity, _f1_of, resamples=4000, seed=1)

    def of_rows(rows: IntArray) -> float:
        return float(f1(confusion([truth[row] for row in rows], [answers[row] for row in rows])))

    general = resample_rows(of_rows, clusters, resamples=800, seed=2)
    assert quick.mean() == pytest.approx(general.mean(), abs=0.006)
    assert quick.std() == pytest.approx(general.std(), rel=0.12)


def test_drawing_kinds_or_clusters_gives_the_standard_error_of_a_mean() -> None:
    values = np.random.default_rng(0).normal(size=400)
    columns = np.stack([values, np.ones(400)], axis=1)
    for rounded in (columns, columns.round(1)):
        kinds, multiplicity = unique_clusters(rounded, np.arange(400))
        means = resample_totals(kinds, multiplicity, lambda sums: sums[:, 0] / sums[:, 1], resamples=4000)
        assert means.std() == pytest.approx(rounded[:, 0].std() / 20, rel=0.06)
        assert len(means) == 4000


def test_clusters_that_repeat_each_other_widen_the_interval() -> None:
    truth, answers = _labels(100)
    right = np.array([a == b for a, b in zip(truth, answers, strict=True)] * 9, dtype=float)

    def accuracy(rows: IntArray) -> float:
        return float(right[rows].mean())

    by_row = bootstrap_interval(accuracy, [""] * 900, resamples=400)
    by_group = bootstrap_interval(accuracy, [f"g{row % 100}" for row in range(900)], resamples=400)
    assert by_row.value == by_group.value
    assert None not in (by_row.low, by_row.high, by_group.low, by_group.high)
    width_by_row = (by_row.high or 0) - (by_row.low or 0)
    width_by_group = (by_group.high or 0) - (by_group.low or 0)
    # Nine copies of a row tell no more than one: the honest interval is three times as wide.
    assert width_by_group / width_by_row == pytest.approx(3, rel=0.2)


def test_the_seed_decides_and_the_order_of_rows_does_not() -> None:
    truth, answers = _labels(120)
    columns, clusters = confusion_columns(truth, answers), np.arange(120) // 4
    shuffled = np.random.default_rng(9).permutation(120)
    first = resample_totals(*unique_clusters(columns, clusters), _f1_of, 50, seed=3)
    again = resample_totals(*unique_clusters(columns[shuffled], clusters[shuffled]), _f1_of, 50, seed=3)
    other = resample_totals(*unique_clusters(columns, clusters), _f1_of, 50, seed=4)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_degenerate_rows_have_no_interval_and_say_why() -> None:
    def mean(rows: IntArray) -> float:
        return float(len(rows))

    assert bootstrap_interval(mean, []).why == "no rows"
    one = bootstrap_interval(mean, ["g", "g", "g"])
    assert (one.value, one.low, one.why) == (3.0, None, "one cluster only: no interval")
    assert bootstrap_interval(lambda rows: None, ["a", "b"]).value is None
    partly = bootstrap_interval(lambda rows: None if len(set(rows)) == 1 else 1.0, ["a", "b"], resamples=100)
    assert partly.value == 1.0 and "resamples undefined" in partly.why
    with pytest.raises(ConfigError, match=r"resamples must be .* at least 1: got 0"):
        bootstrap_interval(mean, ["a", "b"], resamples=0)
    with pytest.raises(ConfigError, match=r"at most 1,000,000: got 1,000,000,000,000; 2,000 are enough"):
        bootstrap_interval(mean, ["a", "b"], resamples=10**12)


def test_the_mean_of_clusters_is_that_of_the_general_bootstrap() -> None:
    values, groups = np.random.default_rng(2).random(120), [str(row // 3) for row in range(120)]
    general = bootstrap_interval(lambda rows: float(values[rows].mean()), groups, resamples=600)
    quick = clustered_mean(values, groups, resamples=4000)
    assert quick.value == pytest.approx(general.value)
    assert (quick.low, quick.high) == pytest.approx((general.low, general.high), abs=0.015)
    assert clustered_mean(np.ones(4), [""] * 4, limits=(0.0, 1.0)).low == pytest.approx(0.51, abs=0.01)
    assert clustered_mean(np.empty(0), []).value is None


def _mean(sums: FloatArray) -> FloatArray:
    return sums[..., 0] / sums[..., 1]


def _columns(rows: int) -> tuple[FloatArray, IntArray]:
    """Kinds of clusters of as many different numbers, and how many clusters have each."""
    columns = np.stack([np.arange(rows, dtype=float), np.ones(rows)], axis=1)
    return unique_clusters(columns, np.arange(rows))


@pytest.mark.parametrize(("cells", "most"), [(12, 4), (1, 1)])
def test_batches_add_up_to_the_resamples_and_are_as_small_as_asked(monkeypatch, cells, most) -> None:
    monkeypatch.setattr("deadpan.stats.interval.CELLS_AT_ONCE", cells)
    seen: list[int] = []

    def of(sums: FloatArray) -> FloatArray:
        seen.append(len(sums))
        return _mean(sums)

    assert len(resample_totals(*_columns(3), of, resamples=10)) == 10
    assert max(seen) == most


def test_the_seed_is_0_unless_another_is_given() -> None:
    kinds, multiplicity = _columns(30)
    values = np.arange(30, dtype=float)
    groups = [""] * 30

    def of_rows(rows: IntArray) -> float:
        return float(values[rows].mean())

    for draw in (
        lambda **seed: resample_totals(kinds, multiplicity, _mean, resamples=20, **seed).tolist(),
        lambda **seed: resample_rows(of_rows, np.arange(30), resamples=20, **seed).tolist(),
        lambda **seed: bootstrap_interval(of_rows, groups, resamples=20, **seed),
        lambda **seed: totals_interval(kinds, multiplicity, _mean, 30, resamples=20, **seed),
        lambda **seed: clustered_mean(values, groups, resamples=20, **seed),
    ):
        assert draw() == draw(seed=0) != draw(seed=1)


def test_few_clusters_are_said_to_be_few() -> None:
    kinds, multiplicity = _columns(3)
    assert totals_interval(kinds[:0], multiplicity[:0], _mean, 0).why == "nothing to score"
    assert totals_interval(kinds[:0], multiplicity[:0], _mean, 0, "no pairs").why == "no pairs"
    one = totals_interval(kinds[2:], multiplicity[2:], _mean, 1)
    assert (one.value, one.low, one.why) == (2.0, None, "one cluster only: no interval")
    two = totals_interval(kinds[1:], multiplicity[1:], _mean, 2)
    assert two.low is not None and two.low < two.value < two.high
    nowhere = totals_interval(kinds, multiplicity, lambda sums: np.full(len(sums), np.nan), 3)
    assert (nowhere.value, nowhere.why) == (None, "undefined on these data")
    for empty in (bootstrap_interval(len, []), clustered_mean(np.empty(0), [])):
        assert (empty.value, empty.n, empty.why) == (None, 0, "no rows")


def test_an_unvaried_statistic_has_the_interval_of_its_clusters() -> None:
    found = bootstrap_interval(lambda rows: 1.0, list("abcdef"), resamples=20, limits=(0.0, 1.0))
    assert found.low == pytest.approx(wilson(6, 6).low)
    assert check_resamples(1_000_000) == 1_000_000


def test_a_score_is_about_the_clusters_of_its_smallest_part() -> None:
    multiplicity = np.array([5, 7])
    assert counted_clusters(np.array([[0.0, 1.0], [2.0, 3.0]]), multiplicity) == 7
    assert counted_clusters(np.array([[1.0, 1.0], [1.0, 2.0]]), multiplicity) == 12
