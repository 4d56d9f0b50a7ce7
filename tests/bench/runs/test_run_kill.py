"""kill -9 at any moment: the same command goes on, repeats at most what was in flight, gives the same score."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path

import pytest

from bench_items import small_set
from deadpan.bench.items.item import write_items
from deadpan.bench.runs.folder import JOURNAL, read_run
from deadpan.bench.runs.journal import read_bench_calls
from deadpan.bench.scores.score import score_run
from forked_commands import ForkedCommands

CONCURRENCY, KILLS = 4, 4
SERVER = Path(__file__).parents[2] / "bench_server.py"


@pytest.fixture
def url():
    process = subprocess.Popen([sys.executable, str(SERVER), "plain"], stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.kill()
    process.wait()
    process.stdout.close()


def record(url: str) -> list[dict]:
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


@pytest.fixture
def forked():
    """The runs that are killed are forks: they would spend half of their time on imports."""
    with ForkedCommands("deadpan.bench.api", "openai") as commands:
        yield commands


@pytest.mark.slow
def test_killed_again_and_again(url, forked, tmp_path):
    items = tmp_path / "public-s.jsonl"
    write_items(items, small_set(60).items)
    out, draw = tmp_path / "runs", random.Random(0)
    journal = out / "fault-1" / JOURNAL
    words = [
        "bench", "run", "--set", str(items), "--llm", "fault-1", "--base-url", url, "--runs", "1",
        "--concurrency", str(CONCURRENCY), "--out", str(out),
    ]  # fmt: skip
    for kill in range(KILLS):
        process = forked.start(words, tmp_path)
        wanted = (kill + 1) * 25 + draw.randrange(10)
        while process.poll() is None and len(read_bench_calls(journal)) < wanted:
            time.sleep(0.02)
        assert process.poll() is None, "it was killed before its end"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    last = subprocess.run([sys.executable, "-m", "deadpan", *words], capture_output=True, check=False)
    assert last.returncode == 0, last.stderr

    run = read_run(out / "fault-1")
    assert run.complete
    seen = record(url)
    repeated = len(seen) - len(read_bench_calls(journal))
    assert 0 <= repeated <= KILLS * CONCURRENCY, "at most what was in flight was asked again"
    assert sum(count - 1 for count in Counter((e["prompt"], e["limit"]) for e in seen).values()) == repeated

    # The answers it kept are the server's: an unbroken run of the same answers scores the same.
    assert len(run.rows) == 120
    assert all(row.prediction or row.truncated for row in run.rows)
    answers = {call.key: call.text for call in read_bench_calls(journal)}
    assert {(row.item, row.run): row.text for row in run.rows} == answers
    assert score_run(run).avg.value == sum(row.correct for row in run.rows) / 120
