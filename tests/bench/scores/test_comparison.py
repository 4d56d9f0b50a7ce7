"""Comparisons of runs: paired by item, corrected over all pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import t

from bench_items import off_by, right, run_scripted, small_set
from bench_rows import make_row, make_rows, make_run
from deadpan.bench.items.item import CATEGORIES
from deadpan.bench.scores.comparison import BenchComparison, clustered_p, compare_bench, compare_runs
from deadpan.errors import ConfigError, DataError
from deadpan.stats import wilson

PAIRS = [f"{letter}{twin}" for letter in "abcdefghijkl" for twin in (1, 2)]


def says(letter, name, **changes):
    """A run of twelve pairs that gives this letter everywhere."""
    return make_run(make_rows(dict.fromkeys(PAIRS, letter)), f"openai/{name}", path=name, **changes)


def test_models_that_differ_are_told_apart_and_twins_are_not():
    runs = [says("A", "good"), says("A", "same"), says("B", "bad")]
    found = {(each.first, each.second): each for each in compare_runs(runs)}
    twins, apart = found["openai/good", "openai/same"], found["openai/good", "openai/bad"]
    assert (twins.different, twins.p, twins.difference.value) == (False, 1.0, 0.0)
    assert apart.different
    assert (apart.n, apart.difference.value, apart.difference.high) == (24, 1.0, 1.0)
    assert apart.difference.low == pytest.approx(1 - 2 * wilson(0, 12).high)
    assert twins.difference.high == pytest.approx(wilson(0, 12).high)
    assert (apart.mcnemar.only_first, apart.mcnemar.only_second) == (24, 0)
    assert apart.p == 2.0**-11, "as likely as that all of twelve families have the same sign"
    back = found["openai/same", "openai/bad"]
    assert back.mcnemar_p_holm == pytest.approx(3 * back.mcnemar.p)


def test_folders_of_runs_are_compared(tmp_path):
    for name, answer in (("good", right), ("bad", off_by(1))):
        run_scripted(tmp_path, f"openai/{name}", answer, small_set(2), runs=1)
    found = compare_bench([tmp_path])
    assert repr(found) == "BenchComparison(1 pairs, 0 different)"
    assert abs(found.pairs[0].difference.value) == 1.0


def test_many_models_can_still_differ():
    runs = [says("A", f"m{n}") for n in range(11)] + [says("B", "bad")]
    assert sum(each.different for each in compare_runs(runs)) == 11


def test_a_comparison_counts_items_that_both_answered():
    one = make_run([*make_rows({"a1": "AAB", "b1": "ABB", "f1": "A", "g1": "B"}), make_row("c1", 1, "B", category=CATEGORIES[1]),
                    make_row("d1", 1, "A"), make_row("e1", 1, "B", error="timeout")], "openai/one")  # fmt: skip
    other = make_run([*make_rows({"a1": "BBB", "b1": "AAA", "f1": "A", "g1": "C"}), make_row("c1", 1, "A", category=CATEGORIES[1]),
                      make_row("e1", 1, "A")], "openai/other")  # fmt: skip
    [found] = compare_runs([one, other])
    assert (found.n, found.difference.value) == (5, pytest.approx((2 / 3 - 2 / 3 - 1) / 5))
    assert (found.mcnemar.only_first, found.mcnemar.only_second) == (1, 2)
    assert {name: (gap.value, gap.n) for name, gap in found.categories.items()} == {
        CATEGORIES[0]: (pytest.approx(0), 4),
        CATEGORIES[1]: (-1.0, 1),
    }
    alone = found.categories[CATEGORIES[1]]
    assert (alone.low, alone.why) == (None, "one cluster only: no interval")
    with pytest.raises(DataError, match="no item in common"):
        compare_runs([one, make_run([make_row("z1", 1, "A")], "openai/z")])


def test_one_family_is_no_evidence():
    [found] = compare_runs([make_run(make_rows({"a1": letter, "a2": letter}), f"openai/{letter}") for letter in "AB"])  # fmt: skip
    assert (found.p, found.different, found.difference.value) == (1.0, False, 1.0)


def test_the_p_value_is_that_of_errors_clustered_on_families():
    """The variance of a mean, pair by pair of one family, with the correction for nine families."""
    rng = np.random.default_rng(3)
    codes = np.sort(rng.integers(0, 9, size=40))
    gaps = np.round(rng.normal(0.3, 1, size=9)[codes] + rng.normal(0, 0.5, size=40), 1)
    off = gaps - gaps.mean()
    shared = sum(off[i] * off[j] for i in range(40) for j in range(40) if codes[i] == codes[j])
    wanted = 2 * t.sf(abs(gaps.mean()) / np.sqrt(shared / 40**2 * 9 / 8), 8)
    assert clustered_p(gaps, codes) == pytest.approx(wanted)
    assert clustered_p(-gaps, codes) == pytest.approx(wanted)
    assert clustered_p(np.full(4, 0.5), np.array([0, 1, 2, 2])) == 0.25
    assert clustered_p(np.zeros(4), np.array([0, 1, 2, 2])) == 1.0


def test_the_intervals_are_those_of_seed_0():
    letters = {f"{letter}1": "A" * n + "B" * (12 - n) for n, letter in enumerate("abcdefghijkl")}
    runs = [make_run(make_rows(letters), "openai/one"), make_run(make_rows(dict.fromkeys(letters, "B")), "openai/two")]  # fmt: skip
    assert compare_runs(runs) == compare_runs(runs, seed=0) != compare_runs(runs, seed=1)
    gap = compare_runs(runs)[0].difference
    assert 0.2 < gap.low < gap.value < gap.high < 0.7, "0.46, with a standard error of 0.09"


def test_what_is_significant_is_said():
    [found] = compare_runs([says("A", "good"), says("B", "bad")])
    assert [replace(found, p_holm=p).different for p in (0.049, 0.05, 0.2)] == [True, False, False]
    shown = BenchComparison((replace(found, p_holm=0.001, mcnemar_p_holm=0.0009),))
    row = shown.summary().tables[0].rows[0]
    assert row[2:] == ("0.001", "< 0.001", "significantly different")
    unsure = BenchComparison((replace(found, p_holm=0.2),))
    assert unsure.summary().tables[0].rows[0][-1] == "not significantly different"
    assert repr(shown) == "BenchComparison(1 pairs, 1 different)"
    assert unsure.as_dict()["comparisons"][0]["differ"] is False


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
