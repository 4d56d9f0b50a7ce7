"""The leaderboard's ranks: ranges that paired tests leave open."""

from __future__ import annotations

import pytest

from bench_items import FAST, Scripted, job, says, small_set
from deadpan.bench.runs.folder import find_runs
from deadpan.bench.runs.run import run_models
from deadpan.bench.site.board import make_board
from deadpan.bench.site.index import finding
from deadpan.stats.ranking import rank_ranges

SET = small_set(24)
FAMILIES = list(dict.fromkeys(item.pair_id for item in SET.items))


def add(folder, model, missed, runs=1):
    """A model that is wrong on both items of the first `missed` families."""
    wrong = set(FAMILIES[:missed])
    answer = Scripted(lambda q, limit, n: says((q.item.answer + (q.item.pair_id in wrong)) % 6, q))
    run_models([model], job(SET, runs=runs), folder, clock=FAST, answerers={model: answer})


@pytest.fixture
def ranks(tmp_path):
    def ranked(**missed):
        for name, count in missed.items():
            add(tmp_path / "runs", f"openai/{name}", count)
        board, _ = make_board(find_runs([tmp_path / "runs"]))
        return board, {entry.name: entry.rank for entry in board.entries}

    return ranked


def test_a_small_lead_that_may_be_chance_is_a_tie(ranks):
    board, found = ranks(best=0, close=2, far=16)
    # `close` scores lower than `best`, but not significantly: both may be first.
    assert board.entries[0].scores.avg.value > board.entries[1].scores.avg.value
    assert found == {"best": "1 to 2", "close": "1 to 2", "far": "3"}
    assert "best (100 %) and close (92 %) may each be first" in finding(board)


def test_a_first_place_that_does_not_beat_the_baselines_is_called_so(tmp_path):
    add(tmp_path / "runs", "openai/lucky", 0)
    add(tmp_path / "runs", "baseline/lucky-too", 1)
    board, _ = make_board(find_runs([tmp_path / "runs"]))
    assert "no model is significantly above all baselines" in finding(board)
    add(tmp_path / "other", "openai/good", 0)
    add(tmp_path / "other", "baseline/poor", 16)
    board, _ = make_board(find_runs([tmp_path / "other"]))
    assert "baselines" not in finding(board)


def test_a_rank_counts_the_significantly_better_models_only(ranks):
    _, found = ranks(best=0, middle=3, low=6)
    # `middle` is different from neither, `low` is different from `best`: one model is better than `low`.
    assert found == {"best": "1 to 2", "middle": "1 to 3", "low": "2 to 3"}


def test_a_significant_lead_is_no_tie(ranks):
    _, found = ranks(best=0, far=16)
    assert found == {"best": "1", "far": "2"}


def test_ranks_use_the_corrected_p(ranks):
    board, found = ranks(best=0, twin=0, close=4)
    # Alone, p of best against close is below 0.05; corrected for three comparisons it is not.
    assert 0.02 < board.entries[-1].above.p < 0.05 < board.entries[-1].above.p_holm
    assert set(found.values()) == {"1 to 3"}


def test_a_model_with_fewer_runs_than_the_others_is_shown_without_a_rank(tmp_path):
    for model, runs in (("openai/once", 1), ("openai/five", 5), ("openai/six", 6)):
        add(tmp_path, model, 3, runs)
    board, _ = make_board(find_runs([tmp_path]))
    found = {entry.name: (entry.rank, entry.not_ranked) for entry in board.entries}
    assert found == {"once": ("–", "1 run instead of 5"), "five": ("1 to 2", ""), "six": ("1 to 2", "")}


def test_a_lower_score_never_has_a_better_rank():
    """0.850 loses to two models and 0.832, which varies more, to one: the range of 0.850 grows."""
    beats = {("a", "c"), ("b", "c"), ("a", "d")}
    found = rank_ranges({"a": 0.95, "b": 0.9, "c": 0.85, "d": 0.832}, lambda one, other: (one, other) in beats)
    assert found == {"a": (1, 2), "b": (1, 3), "c": (2, 4), "d": (2, 4)}
