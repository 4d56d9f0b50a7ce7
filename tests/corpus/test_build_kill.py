"""Builds killed or interrupted at any moment resume, end with the same bytes, and leave no files behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from corpus.making import difference, files, settings_of
from deadpan.corpus.synthesize import synthesize_dumps
from deadpan.storage import write_config

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
SOURCE = Path(__file__).parents[2] / "src"
KILLS = 5 if "DEADPAN_FULL_SIZE" in os.environ else 3
INTERRUPTS, STARTS = 42, 10


def start(folder: Path, out: str) -> subprocess.Popen[bytes]:
    # Whoever runs the tests in the background may have them ignore Ctrl-C, which is inherited.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from deadpan.cli import main; sys.exit(main())"
    )
    arguments = [
        "corpus",
        "build",
        str(folder / "dumps"),
        "--out",
        str(folder / out),
        "--config",
        str(folder / "corpus.toml"),
    ]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code, *arguments, "--memory", "500MB"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def listing(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*")}


def test_a_killed_build_resumes(tmp_path: Path) -> None:
    synthesize_dumps(tmp_path / "dumps", months=2, comments=3_000, form="gz")
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    began = time.monotonic()
    whole = start(tmp_path, "whole")
    _, said = whole.communicate()
    assert whole.returncode == 0, said.decode()
    seconds = time.monotonic() - began
    random = Random(4)
    for _ in range(KILLS):
        run = start(tmp_path, "out")
        try:
            run.wait(timeout=seconds * random.uniform(0.2, 1.0))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
        run.communicate()
    last = start(tmp_path, "out")
    _, said = last.communicate()
    assert last.returncode == 0, said.decode()
    assert difference(files(tmp_path / "whole"), files(tmp_path / "out")) == ""
    assert listing(tmp_path / "whole") == listing(tmp_path / "out")


IN_PROCESS = """
import json, os, random, shutil, signal, sys, threading, time
from pathlib import Path
from deadpan.corpus import build_corpus
folder, times = Path(sys.argv[1]), int(sys.argv[2])
signal.signal(signal.SIGINT, signal.default_int_handler)

def build(out, **options):
    build_corpus(str(folder / "dumps"), folder / out, folder / "corpus.toml", memory="500MB", **options)

build("whole")  # with all imports, which take as long as the build
began = time.monotonic()
build("out")
seconds = time.monotonic() - began
chance, stopped, slowest = random.Random(7), 0, 0.0
for number in range(times):
    shutil.rmtree(folder / "out", ignore_errors=True)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(seconds * chance.random() * 0.9, interrupt)
    try:
        timer.start()
        build("out", workers=1 + number % 2)
        timer.join()
    except KeyboardInterrupt:
        stopped += 1
        slowest = max(slowest, time.monotonic() - sent[0])
build("out")
left = [path.name for path in (folder / "out" / ".work").glob(".*")]
assert not left, left
print(json.dumps({"stopped": stopped, "slowest": slowest}))
"""


def test_fifty_interrupts_at_random_moments(tmp_path: Path) -> None:
    """A build ends soon after Ctrl-C, whenever it comes; a hang would reach the limit of `communicate`."""
    synthesize_dumps(tmp_path / "dumps", months=1, comments=300, form="gz")  # comments and posts: two dumps
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    command = [sys.executable, "-c", IN_PROCESS, str(tmp_path), str(INTERRUPTS)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["stopped"] >= 30
    assert found["slowest"] < 60
    assert difference(files(tmp_path / "whole"), files(tmp_path / "out")) == ""


def test_interrupts_while_the_program_starts(tmp_path: Path) -> None:
    """Imports are interrupted too; the next run still finishes."""
    synthesize_dumps(tmp_path / "dumps", months=1, comments=500, form="gz")
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    random = Random(3)
    for _ in range(STARTS):
        run = start(tmp_path, "out")
        try:
            run.wait(timeout=random.uniform(0.05, 3.0))
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
        run.communicate(timeout=300)
    last = start(tmp_path, "out")
    _, said = last.communicate(timeout=300)
    assert last.returncode == 0, said.decode()
