"""Recorded runs: whole, of the default set, and shown when no folder is given."""

from __future__ import annotations

import pytest

from deadpan.bench import DEFAULT_SET
from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.folder import find_runs, unpack_recorded
from deadpan.bench.runs.submission import check_submission


@pytest.mark.slow
def test_every_recorded_run_could_be_submitted(tmp_path):
    checked = [check_submission(run.path) for run in find_runs([unpack_recorded(tmp_path)])]
    assert {run.set for run in checked} == {DEFAULT_SET}
    assert {run.runs for run in checked} == {5}
    assert {run.model for run in checked} >= {f"baseline/{rule}" for rule in ("random", "first", "longest", "similar")}


def test_they_are_what_is_found_without_a_folder():
    runs = find_runs([])
    assert {run.plan.set_hash for run in runs} == {open_set(DEFAULT_SET).hash}
    assert all(run.complete for run in runs)
