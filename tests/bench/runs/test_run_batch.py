"""Batches: both protocols, half the price, the budget, and nothing sent or paid for twice after kill -9."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from batch_server import batch_server
from bench_items import FAST, job, small_set
from deadpan.bench.items.item import write_items
from deadpan.bench.runs.folder import JOURNAL, read_run
from deadpan.bench.runs.journal import cost_notes, paid_for
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import Sampling
from deadpan.bench.scores.score import score_run
from deadpan.errors import ConfigError, ModelError

SET = small_set(4)
MODELS = {"openai": "openai/gpt-4o", "anthropic": "anthropic/claude-sonnet-4-5"}


@pytest.fixture(autouse=True)
def keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-open")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant")


def go(server, out, provider="openai", **changes):
    sampling = Sampling(base_url=server.url)
    given = {"runs": 2, "price": {MODELS[provider]: (2.0, 10.0)}, **changes}
    work = replace(job(SET), batch=True, sampling=sampling, **given)
    [(folder, _)] = run_models([MODELS[provider]], work, out, clock=FAST)
    return read_run(folder)


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_one_batch_asks_everything_at_half_the_price(tmp_path, provider):
    with batch_server() as server:
        run = go(server, tmp_path, provider)
        assert len(server.batches) == 1 and len(server.record) == 16
        assert go(server, tmp_path, provider).rows == run.rows
        assert len(server.record) == 16, "a finished run asks nothing"
    assert run.complete and all(row.prediction for row in run.rows)
    assert run.rows[0].cost == pytest.approx((100 * 2 + 5 * 10) / 1e6 / 2)
    assert run.plan.price["input"] == 1.0 and "half" in run.plan.price["as_of"]
    assert score_run(run).seconds is None, "a call that waited for others has no time of its own"


def test_anthropic_gets_its_own_protocol(tmp_path):
    with batch_server() as server:
        go(server, tmp_path, "anthropic")
        sent, headers = server.record[0]["params"], server.headers[0]
    assert sent["model"] == "claude-sonnet-4-5"
    assert (sent["max_tokens"], sent["temperature"]) == (128, 0.7)
    assert "top_p" not in sent, "newer models reject it beside a temperature"
    assert headers["x-api-key"] == "sk-ant" and headers["anthropic-version"]
    assert "Authorization" not in headers


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_what_goes_wrong_in_a_batch_is_sorted_as_elsewhere(tmp_path, provider):
    kinds = ["expired", "overloaded", "lost", "refusal", "truncate"]
    seen: dict[str, str] = {}

    def decide(prompt, limit, times):
        kind = seen.setdefault(prompt, [*kinds, "letter"][len(seen) % 6])
        return "letter" if times > 1 and kind in kinds[:3] else "letter" if limit > 128 else kind

    with batch_server(decide=decide) as server:
        run = go(server, tmp_path, provider)
        sent = len(server.record)
    scores = score_run(run)
    assert run.complete
    assert (scores.unread, scores.truncated) == (0.0, 0.0)
    assert scores.refused > 0 and scores.escalated > 0 and scores.retries > 0
    assert sent == sum(row.calls for row in run.rows)


def test_a_parameter_that_a_model_rejects_is_left_out(tmp_path):
    with batch_server() as server:
        server.decide = lambda prompt, limit, times: (
            "rejected" if "temperature" in server.record[-1]["params"] else "letter"
        )
        run = go(server, tmp_path)
        assert len(server.batches) == 2
    assert run.complete and all(row.prediction for row in run.rows)


def test_the_budget_holds_and_counts_half(tmp_path):
    with batch_server() as server:
        # At half of 100 dollars per million, 128 tokens may cost 0.0064 dollars: one call at a time fits.
        with pytest.raises(Exception, match="max_cost"):
            go(server, tmp_path, max_cost=0.009, price={MODELS["openai"]: (2.0, 10_0.0)})
        paid = paid_for(tmp_path / "openai-gpt-4o" / JOURNAL)
        assert 0.001 < paid <= 0.009
        assert go(server, tmp_path, price={MODELS["openai"]: (2.0, 10_0.0)}).complete


def test_a_batch_that_is_refused_as_a_whole_says_why_and_is_not_waited_for_again(tmp_path):
    with batch_server() as server:
        server.failing = "the file has a line that is no JSON"
        with pytest.raises(ModelError, match="no JSON"):
            go(server, tmp_path)
        server.failing = ""
        assert go(server, tmp_path).complete


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_batch_that_the_provider_forgot_is_sent_again_by_the_next_start(tmp_path, provider):
    with batch_server() as server:
        add, server.add = server.add, lambda lines: "forgotten"
        with pytest.raises(ModelError, match="no such batch"):
            go(server, tmp_path, provider)
        server.add = add
        assert go(server, tmp_path, provider).complete


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize("step", ["sending", "results"])
def test_an_answer_that_is_no_batch_is_asked_for_again(tmp_path, provider, step):
    with batch_server() as server:
        server.garbled = step
        assert go(server, tmp_path, provider).complete
        assert len(server.batches) == 1 and not server.garbled


@pytest.mark.parametrize("model", ["mistral/large", "embedded/smollm2-135m"])
def test_a_provider_without_batches_is_refused(tmp_path, model):
    with pytest.raises(ConfigError, match="no batch interface"):
        run_models([model], replace(job(SET), batch=True), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_killed_run_takes_the_answers_of_its_batch(tmp_path, provider):
    """Killed while its batch is worked on: the batch is not sent again, and is paid for once."""
    items = tmp_path / "public-s.jsonl"
    write_items(items, SET.items)
    model, out = MODELS[provider], tmp_path / "runs"
    folder = out / model.replace("/", "-")
    with batch_server(polls=0) as server:
        server.held = True
        words = ["bench", "run", "--set", str(items), "--llm", model, "--base-url", server.url, "--runs", "2",
                 "--batch", "--price", model, "2", "10", "--max-cost", "1", "--out", str(out)]  # fmt: skip
        command = [sys.executable, "-m", "deadpan", *words]
        started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (server.batches and next(iter(server.batches.values()))["looks"]):
            assert started.poll() is None
            time.sleep(0.02)
        started.send_signal(signal.SIGKILL)
        started.wait()
        assert paid_for(folder / JOURNAL) > 0.005, "what is in flight is counted at its most"
        server.held = False
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        assert (len(server.batches), len(server.record)) == (1, 16)
    run = read_run(folder)
    assert run.complete
    assert paid_for(folder / JOURNAL) == pytest.approx(16 * (100 * 2 + 5 * 10) / 1e6 / 2)
    assert cost_notes(folder / JOURNAL) == []
