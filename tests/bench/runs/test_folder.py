"""Run folders are found, once each."""

from __future__ import annotations

import pytest

from bench_items import right, run_scripted, small_set
from deadpan.bench.runs.folder import find_runs
from deadpan.errors import DataError

SET = small_set(12)


def run(out, name, answer, items=SET, **changes):
    return run_scripted(out, name, answer, items, **changes)


def test_a_run_named_twice_counts_once(tmp_path):
    one = run(tmp_path / "a", "openai/m", right)
    assert [each.path for each in find_runs([tmp_path / "a", one.path])] == [one.path]


def test_a_folder_without_runs_says_what_to_give(tmp_path):
    with pytest.raises(DataError, match="no run in it"):
        find_runs([tmp_path])
