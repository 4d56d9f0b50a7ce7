"""Recorded runs: whole, of a shipped set, and shown when no folder is given."""

from __future__ import annotations

import pytest

from deadpan.bench.items.sets import open_set
from deadpan.bench.runs.folder import find_runs, unpack_recorded
from deadpan.bench.runs.submission import check_submission

RECORDED_ON = "public@0.3.0"


@pytest.mark.slow
def test_every_recorded_run_could_be_submitted(tmp_path):
    folders = {run.path: run.plan for run in find_runs([unpack_recorded(tmp_path)])}
    whole = [folder for folder, plan in folders.items() if plan.whole_set]
    assert len(whole) >= 6
    assert {check_submission(folder).set for folder in whole} == {RECORDED_ON}
    samples = [plan for folder, plan in folders.items() if folder not in whole]
    assert {plan.model for plan in samples} == {"embedded/qwen2.5-coder-1.5b", "embedded/smollm2-135m"}
    assert all(plan.system.endswith("+reasoning") for plan in samples)


def test_they_are_what_is_found_without_a_folder():
    runs = find_runs([])
    assert {run.plan.set_hash for run in runs} == {open_set(RECORDED_ON).hash}
    assert all(run.complete for run in runs)
