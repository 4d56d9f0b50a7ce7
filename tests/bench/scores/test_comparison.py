"""Comparisons of runs: paired by item, corrected over all pairs."""

from __future__ import annotations

import pytest

from bench_items import off_by, right, run_scripted, small_set
from deadpan.bench.scores.comparison import compare_runs
from deadpan.errors import ConfigError, DataError

SET = small_set(12)


def run(out, name, answer, items=SET, **changes):
    return run_scripted(out, name, answer, items, **changes)


def test_models_that_differ_are_told_apart_and_twins_are_not(tmp_path):
    runs = [
        run(tmp_path, "openai/good", right),
        run(tmp_path, "openai/same", right),
        run(tmp_path, "openai/bad", off_by(1)),
    ]
    found = {(each.first, each.second): each for each in compare_runs(runs)}
    twins, apart = found["openai/good", "openai/same"], found["openai/good", "openai/bad"]
    assert (twins.different, twins.p, twins.difference.value) == (False, 1.0, 0.0)
    assert apart.different
    assert apart.difference.value == 1.0
    assert apart.mcnemar.only_first == 24


def test_many_models_can_still_differ(tmp_path):
    runs = [run(tmp_path, f"openai/m{n}", right) for n in range(11)] + [
        run(tmp_path, "openai/bad", off_by(2))
    ]
    assert sum(each.different for each in compare_runs(runs)) == 11


def test_runs_of_two_set_versions_are_not_compared(tmp_path):
    one = run(tmp_path / "a", "openai/x", right)
    other = run(tmp_path / "b", "openai/x", right, small_set(5))
    with pytest.raises(DataError, match="compare runs of one set version"):
        compare_runs([one, other])
    with pytest.raises(ConfigError, match="two runs"):
        compare_runs([one])
