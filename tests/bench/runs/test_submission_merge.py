"""A rerun fills the gaps of a run."""

from __future__ import annotations

import pytest

from bench_items import off_by, right, run_scripted, small_set
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.folder import read_run
from deadpan.bench.runs.submission import merge_runs
from deadpan.bench.scores.score import score_run
from deadpan.errors import DataError
from deadpan.llm import Failed

SET = small_set(12)


def run(out, name, answer, items=SET, **changes):
    return run_scripted(out, name, answer, items, **changes)


def test_a_rerun_fills_gaps_and_never_replaces_an_answer(tmp_path):
    def first(question, limit, before):
        if question.run == 1:
            return Failed("http_500")
        return GivenAnswer("hm", "max_tokens", "m") if question.run == 2 else off_by(1)(question, limit, before)

    early = run(tmp_path / "first", "openai/m", first, retries=0, escalate=False)
    late = run(tmp_path / "second", "openai/m", right, max_tokens=512)
    merged = merge_runs([early.path, late.path], tmp_path / "both")
    assert merged.complete
    sources = merged.sources
    merged = read_run(tmp_path / "both")
    assert {row.run for row in merged.rows if not row.correct} == {3}
    assert sources == {early.path.as_posix(): 24, late.path.as_posix(): 48}
    assert {row.source for row in merged.rows if row.run == 3} == {early.path.as_posix()}
    assert score_run(merged).avg.value == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="not empty"):
        merge_runs([early.path, late.path], tmp_path / "both")


def test_a_corrected_rerun_replaces_the_model_whole(tmp_path):
    early, late = run(tmp_path / "first", "openai/m", off_by(1)), run(tmp_path / "second", "openai/m", right)
    merged = merge_runs([early.path, late.path], tmp_path / "both", replace_by="model")
    assert (merged.complete, merged.sources) == (True, {late.path.as_posix(): 72})


def test_other_questions_are_not_merged(tmp_path):
    one, other = run(tmp_path / "a", "openai/m", right), run(tmp_path / "b", "openai/m", right, runs=2)
    with pytest.raises(DataError, match=r"differs from .* in runs"):
        merge_runs([one.path, other.path], tmp_path / "c")
    with pytest.raises(DataError, match="two runs or more"):
        merge_runs([one.path, one.path], tmp_path / "c")
    assert not (tmp_path / "c").exists()
