"""The last stop: recorded runs on the board, and no claim that their intervals do not support."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from deadpan.bench.runs.folder import find_runs, unpack_recorded
from deadpan.bench.scores.score import score_run
from deadpan.page import Page
from deadpan.stats import Interval
from deadpan.tour import stages
from deadpan.tour.guide import Guide
from deadpan.tour.stages import _finding, board_stop


@pytest.mark.slow
def test_the_stop_writes_a_board_of_the_recorded_runs(tmp_path, monkeypatch):
    def unpack(folder):
        unpacked = unpack_recorded(folder)
        for run in sorted(path.parent for path in unpacked.rglob("run.json"))[2:]:
            shutil.rmtree(run)  # two runs show what all of them would, in half the time
        return unpacked

    monkeypatch.setattr(stages, "unpack_recorded", unpack)
    guide = Guide(Page(""), tmp_path)
    board_stop(guide)
    assert (tmp_path / "board" / "index.html").is_file()
    page = guide.page.html()
    for run in find_runs([tmp_path / "bench"]):
        assert run.plan.model.removeprefix("embedded/") in page
    assert "chance" in guide.finding and "0.167" in guide.finding


def test_a_model_is_above_chance_only_if_its_interval_is():
    base = score_run(find_runs([])[0], 0)
    low, high = (
        replace(base, model=f"openai/{name}", kind="model", avg=Interval(0.2, end, 0.24, 0.95, 400, ""))
        for name, end in (("low", 0.16), ("high", 0.18))
    )
    assert "not significantly above chance" in _finding([low, base])
    assert "not" not in _finding([high, base]) and "openai/high" in _finding([high, base])
    assert "rules that read only the options" in _finding([base])
    guessed = replace(base, avg=Interval(0.3, 0.2, 0.4, 0.95, 400, ""))
    assert "do not give the answers away" not in _finding([guessed])
