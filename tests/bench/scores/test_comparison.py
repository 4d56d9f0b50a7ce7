"""Comparisons of runs: paired by item, corrected over all pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench_items import off_by, right, run_scripted, small_set
from bench_rows import make_row, make_rows, make_run
from deadpan.bench.items.item import CATEGORIES
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.scores.comparison import compare_bench, compare_runs
from deadpan.errors import ConfigError, DataError
from deadpan.stats import paired_difference, wilson

PAIRS = [f"{letter}{twin}" for letter in "abcdefghijkl" for twin in (1, 2)]


def says(letter, name, **changes):
    """A run of twelve pairs that gives this letter everywhere."""
    return make_run(make_rows(dict.fromkeys(PAIRS, letter)), f"openai/{name}", path=name, **changes)


def test_models_that_differ_are_told_apart_and_twins_are_not():
    runs = [says("A", "good"), says("A", "same"), says("B", "bad")]
    found = {(each.first, each.second): each for each in compare_runs(runs)}
    twins, apart = found["openai/good", "openai/same"], found["openai/good", "openai/bad"]
    assert (twins.significant, twins.p, twins.difference.value) == (False, 1.0, 0.0)
    assert apart.significant
    assert (apart.difference.n, apart.difference.value, apart.difference.high) == (24, 1.0, 1.0)
    assert apart.difference.low == pytest.approx(1 - 2 * wilson(0, 12).high)
    assert twins.difference.high == pytest.approx(wilson(0, 12).high)
    assert apart.p < 0.001 and apart.p_holm == pytest.approx(3 * apart.p)


def test_folders_of_runs_are_compared(tmp_path):
    for name, answer in (("good", right), ("bad", off_by(1))):
        run_scripted(tmp_path, f"openai/{name}", answer, small_set(2), runs=1)
    found = compare_bench(find_runs([tmp_path]))
    assert abs(found.pairs[0].difference.value) == 1.0
    assert found.as_dict()["comparisons"][0]["verdict"].startswith("not settled (")
    assert found.summary().tables[0].rows[0][-1] == found.pairs[0].verdict


def test_many_models_can_still_differ():
    runs = [says("A", f"m{n}") for n in range(11)] + [says("B", "bad")]
    assert sum(each.significant for each in compare_runs(runs)) == 11


def test_a_comparison_counts_items_that_both_answered():
    one = make_run([*make_rows({"a1": "AAB", "b1": "ABB", "f1": "A", "g1": "B"}), make_row("c1", 1, "B", category=CATEGORIES[1]),
                    make_row("d1", 1, "A"), make_row("e1", 1, "B", error="timeout")], "openai/one")  # fmt: skip
    other = make_run([*make_rows({"a1": "BBB", "b1": "AAA", "f1": "A", "g1": "C"}), make_row("c1", 1, "A", category=CATEGORIES[1]),
                      make_row("e1", 1, "A")], "openai/other")  # fmt: skip
    [found] = compare_runs([one, other])
    assert (found.difference.n, found.difference.value) == (5, pytest.approx((2 / 3 - 2 / 3 - 1) / 5))
    [categories] = compare_bench([one, other]).categories
    assert {name: (gap.value, gap.n) for name, gap in categories.items()} == {
        CATEGORIES[0]: (pytest.approx(0), 4),
        CATEGORIES[1]: (-1.0, 1),
    }
    alone = categories[CATEGORIES[1]]
    assert (alone.low, alone.why) == (None, "one cluster only: no interval")
    with pytest.raises(DataError, match="no item in common"):
        compare_runs([one, make_run([make_row("z1", 1, "A")], "openai/z")])


def test_one_family_is_no_evidence():
    [found] = compare_runs([make_run(make_rows({"a1": letter, "a2": letter}), f"openai/{letter}") for letter in "AB"])  # fmt: skip
    assert (found.p, found.significant, found.difference.value) == (None, False, 1.0)


def test_the_answer_is_that_of_the_paired_test():
    letters = {f"{letter}1": "A" * n + "B" * (12 - n) for n, letter in enumerate("abcdefghijkl")}
    runs = [make_run(make_rows(letters), "openai/one"), make_run(make_rows(dict.fromkeys(letters, "B")), "openai/two")]  # fmt: skip
    [found] = compare_runs(runs)
    alone = paired_difference(np.arange(12) / 12, np.zeros(12), names=("openai/one", "openai/two"), metric="accuracy")
    assert found == alone and found.verdict == "openai/one is better"


def test_a_model_that_was_run_twice_is_named_by_its_folder():
    runs = [says("A", "m"), says("B", "m"), says("B", "n")]
    placed = [replace(run, path=run.path.absolute().parent / place) for run, place in zip(runs, ("x/m", "y/m", "y/n"), strict=True)]  # fmt: skip
    assert [each.first for each in compare_runs(placed)] == ["x/m", "x/m", "y/m"]
    assert [each.first for each in compare_runs(placed[1:])] == ["openai/m"]


def test_runs_of_two_set_versions_or_prompts_are_not_compared():
    one = says("A", "x")
    with pytest.raises(DataError, match=r"y answers public \(1{12}\), x answers public \(0{12}\): compare"):
        compare_runs([one, says("A", "y", set_hash="1" * 64)])
    with pytest.raises(DataError, match="used prompt zero-shot/1, y used zero-shot/2"):
        compare_runs([one, says("A", "y", prompt="zero-shot/2")])
    assert compare_runs([one, says("A", "y", prompt="reasoned/2")])
    with pytest.raises(ConfigError, match="two runs"):
        compare_runs([one])
    with pytest.raises(ConfigError, match="no runs"):
        compare_runs([])
