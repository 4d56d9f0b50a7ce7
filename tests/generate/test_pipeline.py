"""A run with a faulty server: every dialogue is accounted for."""

from __future__ import annotations

import random

import pytest

from deadpan.generate.generation import open_run
from deadpan.generate.plan import open_plan
from deadpan.llm.retries import Backoff
from dialogue_server import DialogueServer, name_of


def faulty(body, nth):
    """Half of the questions fail in some way at first; some for ever."""
    draw = random.Random(f"{name_of(body)} {nth}").random()
    forever = random.Random(name_of(body)).random()
    if forever < 0.05:
        return 500, "broken"
    if draw < 0.1:
        return 429, '{"error": {"message": "slow down"}}'
    if draw < 0.2:
        return 503, "busy"
    if draw < 0.25:
        return "cut"
    if draw < 0.3:
        return 200, b"{not json"
    if draw < 0.31:
        return "stall"
    if draw < 0.45:
        return 200, random.Random(draw).choice(
            ["", "Sure! I can help.", "A: one\nB: two", "A: x\nExplanation: y\nResponse (B): z\nA: x", "안녕하세요"]
        )
    return None


@pytest.mark.slow
def test_every_dialogue_is_accounted_for_however_the_server_behaves(tmp_path, plan_of, monkeypatch):
    monkeypatch.setattr("deadpan.llm.client.Backoff", lambda: Backoff(first=0.001, longest=0.002))
    with DialogueServer(faulty) as bad:
        path = plan_of(120, model="timeout = 0.3\nretries = 3\nconcurrency = 16")
        text = path.read_text()
        path.write_text(text.replace(text.split('base_url = "')[1].split('"')[0], bad.url))
        plan = open_plan(path)
        with open_run(plan) as pipeline:
            pipeline.run_all()
            run = pipeline.run
            retried = dict(pipeline.client.retried)
    assert {"http_429", "http_503", "garbage"} <= retried.keys()
    total_dropped = 0
    for name in plan.steps:
        found = run.manifest(name)
        assert found.counts["read"] == found.counts["kept"] + sum(found.drops.values()), name
        assert len(list(run.dropped(name))) == sum(found.drops.values())
        total_dropped += sum(found.drops.values())
    assert run.manifest("source").counts["read"] == 120
    assert run.manifest("review").counts["kept"] + total_dropped == 120
    ids = [draft.id for draft in run.drafts("review")]
    ids += [each.id for name in plan.steps for each in run.dropped(name)]
    assert sorted(ids) == [f"s{n:05}" for n in range(120)]
    assert run.manifest("situation").drops["call_failed"] > 0
