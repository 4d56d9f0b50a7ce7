"""Hundreds of calls to a server that fails in every way: every row accounted for, scores as its own record has them."""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from bench_items import FAST, small_set
from bench_server import FINAL, SHARES, FaultServer
from deadpan.bench.items.prompts import render_prompt
from deadpan.bench.runs.folder import JOURNAL, read_run
from deadpan.bench.runs.journal import read_bench_calls
from deadpan.bench.runs.run import run_models
from deadpan.bench.runs.settings import LIMITS, RunSettings, Sampling
from deadpan.bench.scores.score import score_run
from deadpan.errors import ConfigError
from deadpan.llm import Unavailable

SET = small_set(60 if "DEADPAN_FULL_SIZE" in os.environ else 12)
RUNS = 15
ROWS = len(SET.items) * RUNS
pytestmark = [
    # Inspect's own libraries warn of each other, and connections the server cut are collected late.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def collected():
    """What the cut connections left behind is collected here, not in the middle of another test."""
    yield
    gc.collect()


def serve(shares):
    server = FaultServer(shares)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def ask(server, out: Path, **changes):
    sampling = Sampling(base_url=server.url, timeout=15, concurrency=16)
    job = RunSettings(SET, **{"runs": RUNS, "retries": 8, "sampling": sampling, **changes})
    [(folder, complete)] = run_models(["fault-1"], job, out, clock=FAST)
    return read_run(folder), complete


def is_final(entry) -> bool:
    return entry["kind"] in FINAL or (entry["kind"] == "truncate" and entry["limit"] == LIMITS[-1])


@pytest.mark.slow
def test_many_calls_with_every_fault(tmp_path):
    server = serve({**SHARES, "stall": 0.01})
    run, complete = ask(server, tmp_path)
    server.over.set()
    record = server.record
    server.shutdown()
    server.server_close()
    assert complete
    assert len(record) > 1.1 * ROWS and set(SHARES) <= {each["kind"] for each in record}
    calls = read_bench_calls(run.path / JOURNAL)
    assert len(calls) == len(record), "every request the server saw is in the journal, and no other"

    sent = [call.request for call in calls if not call.error]
    assert all(body["messages"] and body["temperature"] == 0.7 and body["top_p"] == 0.95 for body in sent)

    prompts = {render_prompt(item, range(6)): item for item in SET.items}
    finals = [(prompts[e["prompt"]], e) for e in record if is_final(e)]
    assert len(finals) == len(run.rows) == ROWS
    letters = Counter((i.id, e["letter"] if e["kind"] == "letter" else "") for i, e in finals)
    assert letters == Counter((row.item, row.prediction) for row in run.rows)
    right = sum(e["kind"] == "letter" and "ABCDEF".index(e["letter"]) == i.answer for i, e in finals)
    scores = score_run(run)
    assert scores.avg.value == pytest.approx(right / ROWS)

    kinds = Counter(e["kind"] for e in record)
    assert scores.retries == sum(kinds[k] for k in ("429", "500", "garbage", "empty", "no choices", "stall"))
    assert scores.refused == (kinds["filter 400"] + kinds["refusal"]) / ROWS
    cut = sum(e["kind"] == "truncate" and e["limit"] == LIMITS[-1] for e in record)
    assert scores.truncated * ROWS == pytest.approx(cut)
    assert scores.unread * ROWS == pytest.approx(kinds["unread"] + kinds["no content"])
    assert scores.cost is None  # fault-1 has no price, and that is not the same as free


@pytest.mark.parametrize(("status", "said"), [(401, "rejects the key"), (404, "check the name")])
def test_what_no_retry_will_cure_stops_at_once(tmp_path, status, said, monkeypatch):
    from bench_server import Handler

    monkeypatch.setattr(Handler, "act", lambda self, *_: self.reply(status, {"error": {"message": "no"}}))
    server = serve({})
    with pytest.raises((ConfigError, Unavailable), match=said):
        ask(server, tmp_path)
    server.shutdown()
    server.server_close()
    assert len(server.record) <= 16 + 2, "what was in flight when the third failed"
