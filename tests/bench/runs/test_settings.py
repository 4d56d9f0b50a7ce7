"""Settings of a run: token limits and constrained answers, per model."""

from __future__ import annotations

import json

import pytest

from bench_items import FAST, Scripted, job, right, small_set
from deadpan.bench.api import run_bench
from deadpan.bench.items.prompts import EXPLAIN, REASONED
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.folder import PLAN, read_run
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import HOSTED_LIMIT, LIMITS, Sampling
from deadpan.errors import ConfigError

SET = small_set(2)
MODEL = "openai/gpt-4o"


def test_limits_go_on_to_more_than_hosted_models_can_write(monkeypatch):
    for name in ("DEADPAN_LLM_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    work = job(SET)
    assert work.limits(MODEL) == work.limits("anthropic/claude-x") == (*LIMITS, HOSTED_LIMIT)
    assert work.limits("openai-api/mine/unknown") == work.limits("ollama/x") == LIMITS
    assert work.limits("baseline/first") == LIMITS
    assert job(SET, sampling=Sampling(base_url="http://127.0.0.1:1/v1")).limits(MODEL) == LIMITS
    assert job(SET, max_tokens=4096).limits(MODEL) == (4096, 8192, 32768, HOSTED_LIMIT)
    assert job(SET, max_tokens=200_000).limits(MODEL) == (200_000,)
    assert job(SET, escalate=False).limits(MODEL) == (128,)
    assert work.limits("embedded/smollm2-135m") == (128,)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    assert work.limits(MODEL) == LIMITS


def test_embedded_models_are_constrained_by_default_and_others_on_request():
    assert job(SET).constrained("embedded/smollm2-135m")
    assert not job(SET).constrained(MODEL)
    assert job(SET, constrain=True).constrained(MODEL)
    assert not job(SET, constrain=False).constrained("embedded/smollm2-135m")
    assert not job(SET, constrain=True, prompt=EXPLAIN).constrained(MODEL)
    assert not job(SET, constrain=True).constrained("baseline/random")


def test_an_embedded_model_that_reasons_first_can_only_end_with_a_letter():
    work = job(SET, prompt=REASONED)
    assert work.constrained("embedded/smollm2-135m")
    assert not work.constrained(MODEL) and not job(SET, prompt=REASONED, constrain=True).constrained(MODEL)
    assert not job(SET, prompt=REASONED, constrain=False).constrained("embedded/smollm2-135m")
    asked = work.call_settings(work.plan("embedded/smollm2-135m"))
    assert asked.choices == () and asked.stop == ()
    assert asked.extra["grammar"].endswith(r'"\nFinal Answer: " ("A" | "B" | "C" | "D" | "E" | "F")')
    assert "grammar" not in work.call_settings(work.plan(MODEL)).extra


def run(out, answer, **changes):
    [(folder, _)] = run_models([MODEL], job(SET, **changes), out, clock=FAST, answerers={MODEL: answer})
    return read_run(folder)


def test_a_run_with_fewer_limits_is_resumed_and_its_cut_off_answers_get_the_larger_ones(tmp_path):
    def long(posed, limit, before):
        return right(posed) if limit > 2048 else GivenAnswer("Hm", "max_tokens", "m", 9, limit)

    old = run(tmp_path, Scripted(lambda q, limit, n: GivenAnswer("Hm", "max_tokens", "m", 9, limit)))
    path = old.path / PLAN
    plan = json.loads(path.read_text())
    del plan["constrained"]
    path.write_text(json.dumps({**plan, "limits": [128, 512, 2048]}))
    from bench_items import forget_calls

    forget_calls(old.path / "calls.sqlite", lambda number, tag: int(tag.split()[-1]) <= 2048)
    again = Scripted(long)
    resumed = run(tmp_path, again)
    assert {limit for *_, limit in again.asked} == {8192}
    assert all(row.correct for row in resumed.rows)
    assert resumed.plan.limits == (*LIMITS, HOSTED_LIMIT)


def test_a_run_is_not_resumed_with_another_constraint(tmp_path):
    run(tmp_path, Scripted(right))
    with pytest.raises(ConfigError, match="another constrained"):
        run(tmp_path, Scripted(right), constrain=True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"temperature": 9.0}, "temperature is 9.0"),
        ({"seed": 3_000_000}, "seed is"),
        ({"timeout": 1e9}, "timeout is"),
        ({"retries": 1_000}, "retries is 1000"),
        ({"concurrency": 500_000}, "concurrency is 500000"),
    ],
)
def test_what_no_server_accepts_is_found_before_a_folder_is_made(tmp_path, options, words):
    with pytest.raises(ConfigError, match=words):
        run_bench(["embedded/smollm2-135m", "baseline/random"], small_set(4), out=tmp_path / "runs", **options)
    assert not (tmp_path / "runs").exists()
