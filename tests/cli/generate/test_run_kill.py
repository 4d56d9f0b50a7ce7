"""kill -9 at any moment: the result is that of a run nobody disturbed, and no finished call is made twice."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from deadpan.journal import Journal
from deadpan.llm import read_calls
from dialogue_server import DialogueServer
from forked_commands import ForkedCommand, ForkedCommands

SRC = Path(__file__).parents[3] / "src"
DIALOGUES, KILLS = (500, 20) if "DEADPAN_FULL_SIZE" in os.environ else (50, 4)
NAME = re.compile(r"[0-9a-f]{16}")


def finished(run: Path) -> set[str]:
    """The names of the questions whose answers a run has kept; an answer carries its question's name."""
    if not (run / ".calls.sqlite").exists():
        return set()
    with Journal(run / ".calls.sqlite") as journal:
        return {NAME.findall(call.text)[-1] for call in read_calls(journal) if not call.error}


def words(plan: Path, out: Path) -> list[str]:
    return ["generate", "run", str(plan), "--out", str(out), "--resume"]


def start(plan: Path, out: Path, cache: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "deadpan", *words(plan, out)]
    environment = {**os.environ, "PYTHONPATH": str(SRC), "OPENAI_API_KEY": "x", "DEADPAN_CACHE": str(cache)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture
def forked() -> Iterator[ForkedCommands]:
    """Runs that are killed during calls are forks: they would spend half of their time on imports."""
    with ForkedCommands("deadpan.cli.generate", "deadpan.generate.generation", "openai") as commands:
        yield commands


@pytest.mark.slow
def test_a_run_killed_again_and_again_is_a_run(plan_of, tmp_path, server: DialogueServer, forked):
    plan = plan_of(DIALOGUES, model="concurrency = 8")

    def fork(out: str, cache: str) -> ForkedCommand:
        environment = {"OPENAI_API_KEY": "x", "DEADPAN_CACHE": str(tmp_path / cache)}
        return forked.start(words(plan, tmp_path / out), tmp_path, environment)

    assert fork("whole", "cache-whole").wait() == 0
    calls = len(server.asked)
    draw = random.Random(6)
    moments = sorted(draw.sample(range(1, calls), KILLS))
    killed = threading.Event()
    moment = [0]

    def watch(body, nth):
        if len(server.asked) >= moment[0]:
            killed.set()

    server.asked.clear()
    server.fault = watch
    kept: set[str] = set()
    for number, at in enumerate(moments):
        moment[0] = at
        killed.clear()
        begun = len(server.asked)
        if number % 3 == 2:
            process: ForkedCommand | subprocess.Popen[bytes] = start(plan, tmp_path / "run", tmp_path / "cache")
            killed.wait(draw.uniform(0.3, 3))  # also outside of calls: while it starts, filters or writes
        else:
            process = fork("run", "cache")
            while not killed.wait(0.05) and process.poll() is None:
                pass
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not kept & set(server.asked[begun:]), "a finished call was made again"
        kept = finished(tmp_path / "run")
    begun = len(server.asked)
    assert start(plan, tmp_path / "run", tmp_path / "cache").wait() == 0
    assert not kept & set(server.asked[begun:])
    for path in sorted(p for p in (tmp_path / "whole").rglob("*") if p.is_file() and not p.name.startswith(".")):
        ours = tmp_path / "run" / path.relative_to(tmp_path / "whole")
        assert ours.read_bytes() == path.read_bytes(), path
    assert len(set(server.asked)) == calls
