"""Items separate models only if the difference is significant."""

from __future__ import annotations

from itertools import product
from math import comb, prod

import pytest

from deadpan.bench.scores.difficulty import benjamini_hochberg, exact_p


def test_two_models_are_compared_by_fisher_s_exact_test():
    scipy = pytest.importorskip("scipy.stats")
    for first, second in product(range(6), repeat=2):
        table = [[first, 5 - first], [second, 5 - second]]
        assert exact_p([first, second], [5, 5]) == pytest.approx(scipy.fisher_exact(table)[1])


@pytest.mark.parametrize("right_answers", [(0, 3, 5), (5, 5, 5), (0, 0, 4), (1, 2, 3)])
def test_several_models_are_compared_over_all_tables(right_answers):
    tables = [t for t in product(range(6), repeat=3) if sum(t) == sum(right_answers)]
    weight = {t: prod(comb(5, each) for each in t) for t in tables}
    expected = sum(w for w in weight.values() if w <= weight[right_answers]) / sum(weight.values())
    assert exact_p(right_answers, [5, 5, 5]) == pytest.approx(expected)


def test_unequal_numbers_of_runs_and_many_models():
    assert exact_p([3, 0], [3, 5]) == pytest.approx(1 / comb(8, 3))
    assert exact_p([5] * 10 + [0] * 10, [5] * 20) < 1e-6


def test_the_false_discovery_rate_is_that_of_benjamini_and_hochberg():
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert benjamini_hochberg([]) == []
