"""Runs: nothing lost, nothing asked twice, nothing unseen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import FAST, Scripted, forget_calls, job, right, says, small_set
from deadpan.bench.items.prompts import REASONED
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.folder import JOURNAL, read_run
from deadpan.bench.runs.journal import cost_notes, paid_for, read_bench_calls
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import HOSTED_LIMIT, Sampling
from deadpan.bench.scores.score import score_run
from deadpan.bench.site.board import make_board
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.journal import Journal
from deadpan.llm import Answer, CostLimit, Denied, Failed, Unavailable, Unreachable

SET = small_set()
MODEL = "openai/gpt-4o"


def go(model, out, work=None, clock=FAST):
    [(folder, complete)] = run_models([MODEL], work or job(SET), out, clock=clock, answerers={MODEL: model})
    assert read_run(folder).complete == complete
    return read_run(folder)


def test_every_item_is_asked_in_every_run_and_costs_are_counted(tmp_path):
    model = Scripted(right)
    run = go(model, tmp_path)
    assert run.complete
    assert len(run.rows) == len(model.asked) == 36
    row = run.rows[0]
    assert (row.correct, row.returned, row.retries, row.escalated) == (True, "m-1", 0, 0)
    assert row.cost == pytest.approx((100 * 2.5 + 5 * 10) / 1e6)


def test_a_cut_off_answer_is_asked_again_with_more_room_and_counted(tmp_path):
    def answer(question, limit, before):
        return right(question) if limit >= 512 else GivenAnswer("Let me think about A", "max_tokens", "m", 9, limit)

    model = Scripted(answer)
    run = go(model, tmp_path)
    assert {limit for *_, limit in model.asked} == {128, 512}
    assert all(row.correct and row.escalated == 1 and row.calls == 2 for row in run.rows)
    assert run.rows[0].output_tokens == 128 + 5
    assert score_run(run).escalated == 1.0


def test_a_model_that_reasons_first_is_a_system_of_its_own(tmp_path):
    def answer(question, limit, before):
        given = right(question)
        return replace(given, text=f"She is annoyed. A and B take her at her word.\n{given.text}")

    reasoned = go(Scripted(answer), tmp_path, replace(job(SET), prompt=REASONED))
    direct = go(Scripted(right), tmp_path)
    assert reasoned.path.name == f"{direct.path.name}-reasoning"
    assert all(row.correct and row.in_form for row in reasoned.rows)
    assert reasoned.plan.limits[0] == 512 and "explain" in reasoned.plan.prompt_texts["en"]
    board, _ = make_board([reasoned, direct])
    assert {entry.scores.model for entry in board.entries} == {MODEL, f"{MODEL}+reasoning"}
    changed = replace(direct, plan=replace(direct.plan, prompt="zero-shot/2", model="openai/other"))
    with pytest.raises(DataError, match="one version of a prompt"):
        make_board([direct, changed])


def test_what_is_cut_off_to_the_end_is_truncated_and_not_silently_right(tmp_path):
    run = go(Scripted(lambda q, limit, n: GivenAnswer("So, hm", "max_tokens", "m", 1, limit)), tmp_path)
    assert run.complete
    scores = score_run(run)
    assert (scores.truncated, scores.unread, scores.avg.value) == (1.0, 0.0, 0.0)
    assert run.rows[0].max_tokens == run.plan.limits[-1] == HOSTED_LIMIT


def test_failures_are_tried_again_a_bounded_number_of_times(tmp_path):
    model = Scripted(lambda q, limit, n: Failed("http_500", "oh") if n < 2 else right(q))
    run = go(model, tmp_path)
    assert run.complete
    assert all(row.retries == 2 and row.correct for row in run.rows)

    broken = Scripted(lambda q, limit, n: Failed("http_500", "oh") if q.item.id == "i0-0" else right(q))
    run = go(broken, tmp_path / "b", job(SET, retries=4))
    assert not run.complete
    assert broken.asked.count(("i0-0", 1, 128)) == 5
    assert [row.error for row in run.rows if row.item == "i0-0"] == ["http_500: oh"] * 3


def test_an_incomplete_run_goes_on_where_it_stopped(tmp_path):
    broken = Scripted(lambda q, limit, n: Failed("timeout") if q.run == 2 else right(q))
    assert not go(broken, tmp_path, job(SET, retries=0)).complete
    healed = Scripted(right)
    run = go(healed, tmp_path, job(SET, retries=0))
    assert run.complete
    assert {each for _, each, _ in healed.asked} == {2}
    assert go(Scripted(right), tmp_path, job(SET, retries=0)).rows == run.rows


def test_one_call_that_is_refused_is_one_row_without_an_answer(tmp_path):
    def answer(question, limit, before):
        return ModelError("too long: shorten it") if question.item.id == "i3-0" else right(question)

    model = Scripted(answer)
    run = go(model, tmp_path)
    assert not run.complete
    assert len(model.asked) == 36
    assert sum(bool(row.error) for row in run.rows) == 3


def test_nothing_is_asked_again_of_a_whole_run(tmp_path):
    go(Scripted(right), tmp_path)
    again = Scripted(right)
    assert go(again, tmp_path).complete
    assert again.asked == []


def test_a_model_that_has_answered_everything_need_not_be_there(tmp_path, monkeypatch):
    journal = go(Scripted(right), tmp_path).path / JOURNAL
    monkeypatch.setattr("deadpan.bench.runs.run.connect", gone := Gone())
    [(_, complete)] = run_models([MODEL], job(SET), tmp_path)
    assert complete
    assert gone.called == []
    # The journal says what was answered, whatever the stored rows still claim.
    forget_calls(journal, lambda number, tag: number < 35)
    with pytest.raises(ModelError, match="not there"):
        run_models([MODEL], job(SET), tmp_path)
    assert gone.called == [MODEL]


def test_what_is_connected_is_what_is_still_asked(tmp_path, monkeypatch):
    go(Scripted(right), tmp_path)
    monkeypatch.setattr("deadpan.bench.runs.run.connect", gone := Gone(but="openai/gpt-5"))
    found = run_models([MODEL, "openai/gpt-5"], job(SET), tmp_path, clock=FAST)
    assert [complete for _, complete in found] == [True, True]
    assert gone.called == ["openai/gpt-5"]


class Gone:
    """Every model is away but one."""

    def __init__(self, but=""):
        self.but, self.called = but, []

    def __call__(self, settings, seed):
        self.called.append(settings.model)
        if settings.model != self.but:
            raise ModelError(f"{settings.model} is not there")
        return Scripted(right)


def test_what_is_not_in_the_journal_is_asked_again_and_only_that(tmp_path):
    run = go(Scripted(right), tmp_path)
    journal = run.path / JOURNAL
    assert forget_calls(journal, lambda number, tag: number < 20) == 20
    again = Scripted(right)
    assert go(again, tmp_path).complete
    assert len(again.asked) == 36 - 20
    assert len(read_bench_calls(journal)) == 36


def test_the_journal_of_another_program_is_not_mixed_in(tmp_path):
    run = go(Scripted(right), tmp_path)
    with Journal(run.path / JOURNAL) as journal:
        journal.append("k", {"tag": "something else"})
    with pytest.raises(DataError, match="another program"):
        go(Scripted(right), tmp_path)


def test_a_kill_between_two_limits_does_not_repeat_the_first(tmp_path):
    def answer(question, limit, before):
        return right(question) if limit >= 512 else GivenAnswer("hm", "max_tokens", "m", 9, limit)

    run = go(Scripted(answer), tmp_path)
    journal = run.path / JOURNAL
    assert forget_calls(journal, lambda number, tag: tag.endswith(" 128")) == 36
    again = Scripted(answer)
    assert go(again, tmp_path).complete
    assert {limit for *_, limit in again.asked} == {512}


def test_refusals_and_unread_answers_are_counted_apart_and_stay_in_the_denominator(tmp_path):
    def answer(question, limit, before):
        if question.run == 1:
            return GivenAnswer("", "content_filter", "m")
        return GivenAnswer("All of them!", "stop", "m") if question.run == 2 else right(question)

    scores = score_run(go(Scripted(answer), tmp_path))
    assert scores.refused == scores.unread == pytest.approx(1 / 3)
    assert scores.avg.value == pytest.approx(1 / 3)
    assert scores.cost is not None


def test_shuffled_options_are_read_back_as_the_items_own(tmp_path):
    seen = set()

    def answer(question, limit, before):
        seen.add(question.order)
        return says(question.item.answer, question)

    run = go(Scripted(answer), tmp_path, job(SET, shuffle=True))
    assert len(seen) > 20
    assert all(row.correct and row.prediction == row.answer for row in run.rows)


def test_another_plan_is_not_mixed_in(tmp_path):
    run = go(Scripted(right), tmp_path)
    before = (run.path / JOURNAL).read_bytes()
    with pytest.raises(ConfigError, match="started with another runs"):
        go(Scripted(right), tmp_path, job(SET, runs=2))
    with pytest.raises(ConfigError, match="another set_hash"):
        go(Scripted(right), tmp_path, job(replace(small_set(), hash="0" * 64)))
    assert (run.path / JOURNAL).read_bytes() == before


def test_a_foreign_folder_is_left_alone(tmp_path):
    (tmp_path / "openai-gpt-4o").mkdir()
    (tmp_path / "openai-gpt-4o" / "thesis.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(DataError, match="file: is a file"):
        run_models(["baseline/first"], job(SET), tmp_path / "file")
    with pytest.raises(DataError, match="not empty and not a run"):
        go(Scripted(right), tmp_path)


def test_a_hopeless_error_stops_the_run_and_keeps_what_was_answered(tmp_path):
    def answer(question, limit, before):
        return ConfigError("no such model: check it") if question.item.id == "i3-0" else right(question)

    with pytest.raises(ConfigError, match="no such model"):
        go(Scripted(answer), tmp_path)
    healed = Scripted(right)
    assert go(healed, tmp_path).complete
    assert 0 < len(healed.asked) < 36


def test_one_failing_model_does_not_stop_the_others(tmp_path):
    models = {
        "openai/gpt-5": Scripted(lambda q, limit, n: Denied("the key is rejected: check it")),
        MODEL: Scripted(right),
    }
    with pytest.raises(Unavailable, match=r"3 calls in a row failed.*check it"):
        run_models(list(models), job(SET), tmp_path, clock=FAST, answerers=models)
    assert read_run(tmp_path / "openai-gpt-4o").complete
    assert not read_run(tmp_path / "openai-gpt-5").complete
    assert len(models["openai/gpt-5"].asked) <= 8 + 2, "what was in flight when the third failed"


def test_a_server_that_is_away_is_not_asked_for_every_row(tmp_path):
    gone = Failed("refused", "connection refused", most=2, final=Unreachable("nothing listens at x: start it"))
    model = Scripted(lambda q, limit, n: gone)
    with pytest.raises(Unavailable, match="nothing listens at x: start it"):
        go(model, tmp_path, job(SET, sampling=Sampling(concurrency=1)))
    assert len(model.asked) == 3 * 3, "three rows, with two retries each"
    assert go(Scripted(right), tmp_path, job(SET, sampling=Sampling(concurrency=1))).complete


def test_a_run_too_short_for_the_breaker_still_names_the_cure(tmp_path):
    gone = Failed("refused", "connection refused", most=0, final=Unreachable("nothing listens at x: start it"))
    with pytest.raises(Unreachable, match="nothing listens at x: start it"):
        go(Scripted(lambda q, limit, n: gone), tmp_path, job(SET, limit=2, runs=1))
    assert go(Scripted(right), tmp_path, job(SET, limit=2, runs=1)).complete


def test_what_is_in_flight_when_the_money_ends_is_logged(tmp_path):
    model = Scripted(right)
    with pytest.raises(CostLimit):
        go(model, tmp_path, job(SET, max_cost=0.006))
    assert 0 < len(model.asked) == len(read_bench_calls(tmp_path / "openai-gpt-4o" / JOURNAL)) < 36
    assert score_run(read_run(tmp_path / "openai-gpt-4o")).cost <= 0.006


def test_a_model_without_a_price_is_refused_where_money_has_a_limit(tmp_path):
    model = "openai-api/mine/unheard-of"
    with pytest.raises(ConfigError, match="no price is known"):
        run_models([model], job(SET, max_cost=1.0), tmp_path, answerers={model: Scripted(right)})
    assert list(tmp_path.iterdir()) == []
    own = job(SET, max_cost=1.0, price={model: (1.0, 2.0)})
    assert run_models([model], own, tmp_path, clock=FAST, answerers={model: Scripted(right)})[0][1]


def test_money_has_a_limit(tmp_path):
    with pytest.raises(CostLimit, match="max_cost"):
        go(Scripted(right), tmp_path, job(SET, max_cost=0.001))
    again = Scripted(right)
    with pytest.raises(CostLimit, match="max_cost"):  # what was spent before counts too
        go(again, tmp_path, job(SET, max_cost=0.001))
    assert again.asked == []
    assert go(Scripted(right), tmp_path, job(SET)).complete
    assert go(Scripted(right), tmp_path, job(SET, max_cost=0.001)).complete, "nothing left to pay for"


def test_the_money_of_a_finished_model_counts_for_the_others(tmp_path):
    go(Scripted(right), tmp_path)
    other = Scripted(right)
    with pytest.raises(CostLimit):
        run_models(
            [MODEL, "openai/gpt-5"], job(SET, max_cost=0.001), tmp_path, clock=FAST,
            answerers={"openai/gpt-5": other},
        )  # fmt: skip
    assert other.asked == []


def test_an_unknown_price_is_unknown_not_free(tmp_path):
    model = "openai-api/mine/unheard-of"
    [(folder, _)] = run_models([model], job(SET), tmp_path, clock=FAST, answerers={model: Scripted(right)})
    assert score_run(read_run(folder)).cost is None


def test_baselines_need_no_model(tmp_path):
    names = ["baseline/random", "baseline/first", "baseline/longest"]
    found = run_models(names, job(SET, runs=4), tmp_path)
    assert all(complete for _, complete in found)
    first = read_run(found[1][0])
    assert {row.prediction for row in first.rows} == {"A"}
    one, other = (run_models(names[:1], job(SET), tmp_path / word)[0][0] for word in "ab")
    assert [row.prediction for row in read_run(one).rows] == [row.prediction for row in read_run(other).rows]


def test_a_model_named_twice_and_an_unknown_baseline_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="twice"):
        run_models(["baseline/first"] * 2, job(SET), tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'baseline/random'"):
        run_models(["baseline/rndom"], job(SET), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_journal_of_a_private_run_is_for_its_owner(tmp_path):
    run = go(Scripted(right), tmp_path, job(small_set(visibility="private")))
    assert (run.path / JOURNAL).stat().st_mode & 0o077 == 0
    assert run.path.stat().st_mode & 0o077 == 0, "its rows hold answers too"


def test_two_models_with_one_folder_are_refused_before_anything_is_asked(tmp_path):
    with pytest.raises(ConfigError, match="openai/m and openai-m would both be stored in"):
        run_models(["openai/m", "openai-m"], job(SET), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_what_a_killed_call_may_have_cost_stays_counted_and_is_said(tmp_path):
    def dies(question, limit, before):
        return RuntimeError("an error of the program: nothing is cleaned up") if question.run == 2 else right(question)

    with pytest.raises(ExceptionGroup):
        go(Scripted(dies), tmp_path, job(SET, sampling=Sampling(concurrency=1)))
    folder = tmp_path / "openai-gpt-4o"
    answered = sum(call.cost for call in read_bench_calls(folder / JOURNAL))
    assert paid_for(folder / JOURNAL) > answered > 0
    assert "1 calls were in flight when it was killed" in cost_notes(folder / JOURNAL)[0]
    assert go(Scripted(right), tmp_path).complete
    assert "in flight" in cost_notes(folder / JOURNAL)[0], "the lost call may have been charged all the same"


def test_answers_without_token_counts_are_counted_at_what_they_may_cost(tmp_path):
    def uncounted(question, limit, before):
        return replace(right(question), counted=False)

    with pytest.raises(CostLimit):
        go(Scripted(uncounted), tmp_path, job(SET, max_cost=0.01))
    again = Scripted(uncounted)
    with pytest.raises(CostLimit):
        go(again, tmp_path, job(SET, max_cost=0.01))
    assert again.asked == [], "also after a restart"
    assert "came without token counts" in cost_notes(tmp_path / "openai-gpt-4o" / JOURNAL)[0]


def test_a_run_without_an_answer_may_start_over_with_other_settings(tmp_path):
    def denied(question, limit, before):
        return ModelError("temperature must be 1")

    with pytest.raises(ModelError):
        go(Scripted(denied), tmp_path, job(SET, runs=1))
    run = go(Scripted(right), tmp_path, job(SET, runs=1, sampling=Sampling(temperature=None)))
    assert run.complete
    assert run.plan.temperature is None
    with pytest.raises(ConfigError, match="another temperature"):
        go(Scripted(right), tmp_path, job(SET, runs=1))


def test_a_timeout_is_what_was_asked_for_at_every_limit(tmp_path):
    asked = []

    class Slow:
        async def send(self, messages, settings, replicate):
            asked.append((settings.max_tokens, settings.timeout))
            stop = "max_tokens" if settings.max_tokens < 8192 else "stop"
            return Answer("Final Answer: A", stop, None, "m")

        def identity(self, settings):
            return "m"

        def check(self, settings):
            pass

        async def close(self):
            pass

    for folder, timeout in (("own", 4.0), ("none", None)):
        run_models([MODEL], job(SET, runs=1, limit=1, sampling=Sampling(timeout=timeout)), tmp_path / folder,
                   answerers={MODEL: Slow()})  # fmt: skip
    assert {seconds for _, seconds in asked[:4]} == {4.0}
    assert (8192, 8192 / 20) in asked
