"""Items separate models only if the difference is significant."""

from __future__ import annotations

from itertools import product
from math import comb, prod

import pytest

from bench_items import off_by, right, run_scripted, says, small_set
from deadpan.bench.scores.difficulty import ItemReport, item_facts
from deadpan.bench.scores.separation import benjamini_hochberg, exact_p


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


def test_one_different_answer_does_not_separate_models(tmp_path):
    items = small_set(12)

    def once(posed, limit, before):
        wrong = posed.run == 1 and posed.item.id == "i0-0"
        return says((posed.item.answer + wrong) % 6, posed)

    same = [run_scripted(tmp_path, "openai/a", right, items, runs=5)]
    facts = item_facts([*same, run_scripted(tmp_path, "openai/b", once, items, runs=5)])
    assert [each.state for each in facts if each.item == "i0-0"] == ["unclear"]
    assert not any(each.separates for each in facts)
    facts = item_facts([*same, run_scripted(tmp_path, "openai/c", off_by(1), items, runs=5)])
    assert all(each.separates and each.state == "separates" for each in facts)
    assert ItemReport(tuple(facts)).as_dict()["separating"] == 24
    assert "24 items separate" in str(ItemReport(tuple(facts)))
