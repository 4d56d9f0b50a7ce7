"""Scores: the question is the unit, letters are voted on, ceilings keep their doubt."""

from __future__ import annotations

import pytest

from bench_items import FAST, Scripted, job, right, says, small_set
from deadpan.bench.asking import Reply
from deadpan.bench.comparison import compare_runs
from deadpan.bench.difficulty import item_facts
from deadpan.bench.folder import find_runs, read_run
from deadpan.bench.merge import merge_runs
from deadpan.bench.run import run_models
from deadpan.bench.scores import Answered, mean_interval, score_run
from deadpan.errors import ConfigError, DataError
from deadpan.llm.retries import Failed

SET = small_set(12)


def run(tmp_path, name, answer, items=SET, **changes):
    [(folder, _)] = run_models(
        [name], job(items, **changes), tmp_path, clock=FAST, answerers={name: Scripted(answer)}
    )
    return read_run(folder)


def off_by(step):
    return lambda q, limit, n: says((q.item.answer + step) % 6, q)


@pytest.mark.parametrize(
    ("letters", "voted", "tied"),
    [("CCDEF", "C", False), ("CCDDF", "", True), ("C", "C", False), ("CD", "", True)],
)
def test_the_vote_is_on_letters_and_a_tie_is_flagged(letters, voted, tied):
    answered = Answered("i", "f", "c", "en", "C", tuple(letters), 0.4)
    assert (answered.plurality, answered.tied) == (voted, tied)


def test_unread_letters_have_no_vote():
    assert Answered("i", "f", "c", "en", "C", ("", "", "C"), 0.3).plurality == "C"
    assert not Answered("i", "f", "c", "en", "C", ("", ""), 0.0).tied


def test_a_perfect_score_keeps_its_doubt(tmp_path):
    scores = score_run(run(tmp_path, "openai/perfect", right))
    assert (scores.avg.value, scores.avg.high) == (1.0, 1.0)
    assert 0.7 < scores.avg.low < 0.8  # Wilson on 12 families, not on 72 answers
    assert scores.consistency.value == scores.letter_consistency.value == scores.pairs.value == 1.0
    assert (scores.n, scores.families, scores.runs, scores.rows) == (24, 12, 3, 72)


def test_the_paper_s_consistency_is_not_that_of_letters(tmp_path):
    # Always wrong, with another letter each time: consistent in being wrong, never in what is said.
    scores = score_run(run(tmp_path, "openai/w", lambda q, limit, n: says((q.item.answer + q.run) % 6, q)))
    assert (scores.consistency.value, scores.letter_consistency.value) == (1.0, 0.0)


def test_half_of_every_pair_is_no_pair(tmp_path):
    scores = score_run(run(tmp_path, "openai/h", lambda q, limit, n: says(0 if q.item.id.endswith("-0") else q.item.answer, q)))  # fmt: skip
    assert scores.pairs.value < scores.avg.value
    assert scores.pairs.n == 12


def test_runs_of_one_question_do_not_narrow_the_interval():
    groups = [f"g{n}" for n in range(40)]
    values = [float(n % 2) for n in range(40)]
    few = mean_interval(values, groups)
    twins = mean_interval([v for v in values for _ in range(5)], [g for g in groups for _ in range(5)])
    assert few.high - few.low == pytest.approx(twins.high - twins.low, rel=0.15)


def test_an_incomplete_run_says_so(tmp_path):
    broken = run(tmp_path, "openai/b", lambda q, limit, n: Failed("x") if q.run == 3 else right(q), retries=0)
    scores = score_run(broken)
    assert not scores.complete
    assert (scores.errors, scores.rows) == (24, 48)


def test_models_that_differ_are_told_apart_and_twins_are_not(tmp_path):
    runs = [
        run(tmp_path, "openai/good", right),
        run(tmp_path, "openai/same", right),
        run(tmp_path, "openai/bad", off_by(1)),
    ]
    found = {(each.first, each.second): each for each in compare_runs(runs)}
    twins, apart = found["openai/good", "openai/same"], found["openai/good", "openai/bad"]
    assert (twins.differ, twins.p, twins.difference.value) == (False, 1.0, 0.0)
    assert apart.differ
    assert apart.difference.value == 1.0
    assert apart.mcnemar.only_first == 24


def test_many_models_can_still_differ(tmp_path):
    runs = [run(tmp_path, f"openai/m{n}", right) for n in range(11)] + [
        run(tmp_path, "openai/bad", off_by(2))
    ]
    assert sum(each.differ for each in compare_runs(runs)) == 11


def test_runs_of_two_set_versions_are_not_compared(tmp_path):
    one = run(tmp_path / "a", "openai/x", right)
    other = run(tmp_path / "b", "openai/x", right, small_set(5))
    with pytest.raises(DataError, match="compare runs of one set version"):
        compare_runs([one, other])
    with pytest.raises(ConfigError, match="two runs"):
        compare_runs([one])


def test_dead_items_and_tempting_letters_are_found(tmp_path):
    def skilled(level):
        return lambda q, limit, n: right(q) if int(q.item.id[1:].split("-")[0]) % 4 <= level else says((q.item.answer + 1) % 6, q)  # fmt: skip

    runs = [run(tmp_path, f"openai/s{level}", skilled(level)) for level in (0, 1, 2)]
    runs.append(run(tmp_path, "openai/none", skilled(0)))
    facts = {each.item: each for each in item_facts(runs)}
    assert facts["i0-0"].state == "dead: all right"
    assert facts["i3-0"].state == "dead: all wrong"
    assert facts["i1-0"].state == "separates"
    assert facts["i1-0"].discrimination > 0.3
    assert facts["i3-0"].tempting == "E"


def test_a_rerun_fills_gaps_and_never_replaces_an_answer(tmp_path):
    def first(question, limit, before):
        if question.run == 1:
            return Failed("http_500")
        return Reply("hm", "max_tokens", "m") if question.run == 2 else off_by(1)(question, limit, before)

    early = run(tmp_path / "first", "openai/m", first, retries=0, escalate=False)
    late = run(tmp_path / "second", "openai/m", right, max_tokens=512)
    complete, sources = merge_runs([early, late], tmp_path / "both")
    assert complete
    merged = read_run(tmp_path / "both")
    assert {row.run for row in merged.rows if not row.correct} == {3}
    assert sources == {early.path.as_posix(): 24, late.path.as_posix(): 48}
    assert {row.source for row in merged.rows if row.run == 3} == {early.path.as_posix()}
    assert score_run(merged).avg.value == pytest.approx(2 / 3)
    with pytest.raises(DataError, match="not empty"):
        merge_runs([early, late], tmp_path / "both")


def test_other_questions_are_not_merged(tmp_path):
    one, other = run(tmp_path / "a", "openai/m", right), run(tmp_path / "b", "openai/m", right, runs=2)
    with pytest.raises(DataError, match=r"differs from .* in runs"):
        merge_runs([one, other], tmp_path / "c")
    with pytest.raises(DataError, match="given twice"):
        merge_runs([one, one], tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_run_named_twice_counts_once(tmp_path):
    one = run(tmp_path / "a", "openai/m", right)
    assert [each.path for each in find_runs([tmp_path / "a", one.path])] == [one.path]


def test_a_folder_without_runs_says_what_to_give(tmp_path):
    with pytest.raises(DataError, match="no run in it"):
        find_runs([tmp_path])
