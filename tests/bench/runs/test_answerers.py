"""Models over HTTP: the journal keeps what was sent, limits and choices are taken as each server wants them."""

from __future__ import annotations

import pytest

from bench_items import FAST, job, small_set
from deadpan.bench.runs.folder import JOURNAL, read_run
from deadpan.bench.runs.journal import read_bench_calls
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import Sampling
from deadpan.llm import Unreachable
from scripted_server import completion, send, served

SET = small_set(1)
BODY = {**completion("Final Answer: A"), "id": "1", "object": "chat.completion", "created": 1}
BODY["choices"][0]["index"] = 0
BODY["usage"]["total_tokens"] = 120
ANSWER = send(200, BODY)


def run(model, url, out, **sampling):
    work = job(SET, runs=1, sampling=Sampling(base_url=url, **sampling))
    [(folder, complete)] = run_models([model], work, out, clock=FAST)
    assert complete, read_bench_calls(folder / JOURNAL)
    return read_bench_calls(folder / JOURNAL)


def test_the_request_in_the_journal_is_the_one_the_server_got(tmp_path):
    with served() as server:
        server.acts = [ANSWER]
        calls = run("mine", server.url, tmp_path)
    kept = {call.request["messages"][0]["content"]: call.request for call in calls}
    assert len(kept) == len(server.requests) == 2
    for body in server.requests:
        assert {name: kept[body["messages"][0]["content"]][name] for name in body} == body
    assert all(call.request["temperature"] == 0.7 and not call.unsupported for call in calls)


def test_unset_sampling_is_not_sent(tmp_path):
    with served() as server:
        server.acts = [ANSWER]
        run("mine", server.url, tmp_path, temperature=None, top_p=None, extra={"top_k": 20})
    assert not {"temperature", "top_p"} & set().union(*server.requests)
    assert all(body["top_k"] == 20 for body in server.requests)


def body_with(text, stop="stop", reasoning=0):
    body = {**completion(text), "id": "1", "object": "chat.completion", "created": 1}
    body["choices"][0] |= {"index": 0, "finish_reason": stop}
    body["usage"] |= {"total_tokens": 120, "completion_tokens_details": {"reasoning_tokens": reasoning}}
    return body


def test_a_limit_above_the_model_s_own_is_not_sent_and_the_answer_is_not_lost(tmp_path):
    def act(handler):
        limit = handler.server.requests[-1].get("max_tokens")
        if limit is None:
            send(200, body_with("Final Answer: A", reasoning=900))(handler)
        elif limit > 2048:
            error = {"message": "max_tokens is too large: 8192", "type": "invalid_request_error"}
            send(400, {"error": error})(handler)
        else:
            send(200, body_with("", "length"))(handler)

    with served() as server:
        server.acts = [act]
        work = job(SET, runs=1, sampling=Sampling(base_url=server.url, concurrency=1))
        [(folder, complete)] = run_models(["mine"], work, tmp_path, clock=FAST)
    rows = read_run(folder).rows
    assert complete
    assert all(row.prediction == "A" and row.escalated == 3 and row.retries == 0 for row in rows)
    assert all(row.reasoning_tokens == 900 for row in rows)
    assert read_run(folder).plan.limits == (128, 512, 2048, 8192, 32768)


def test_a_choice_is_requested_as_json_where_the_server_has_no_grammar(tmp_path):
    with served() as server:
        server.acts = [send(200, body_with('{"answer": "B"}'))]
        work = job(SET, runs=1, constrain=True, sampling=Sampling(base_url=server.url))
        [(folder, _)] = run_models(["mine"], work, tmp_path, clock=FAST)
    schema = server.requests[0]["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == list("ABCDEF")
    run = read_run(folder)
    assert run.plan.constrained
    assert all(row.prediction == "B" and row.in_form for row in run.rows)


def test_a_server_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(Unreachable, match=r"nothing listens at http://127\.0\.0\.1:9/v1: start the server"):
        run_models(["ollama/bar"], job(SET, runs=1, retries=0), tmp_path, clock=FAST)
