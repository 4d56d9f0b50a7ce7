"""kill -9 at any moment: the next run goes on, ends with the same bytes, and leaves nothing lying about."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from corpus.making import difference, files, settings_of
from deadpan.config import write_config
from deadpan.corpus.synthesize import synthesize

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).parents[2] / "src"


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


def test_killed_and_run_again(tmp_path: Path) -> None:
    synthesize(tmp_path / "dumps", months=2, comments=30_000, form="gz")
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    began = time.monotonic()
    whole = start(tmp_path, "whole")
    _, said = whole.communicate()
    assert whole.returncode == 0, said.decode()
    seconds = time.monotonic() - began
    random = Random(4)
    for _ in range(5):
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


def test_stopped_by_ctrl_c(tmp_path: Path) -> None:
    synthesize(tmp_path / "dumps", months=2, comments=30_000, form="gz")
    write_config(tmp_path / "corpus.toml", settings_of(tmp_path))
    stopped = 0
    for moment in range(8):
        run = start(tmp_path, f"out{moment}")
        while not (tmp_path / f"out{moment}" / ".work").is_dir():
            time.sleep(0.01)
        time.sleep(0.25 * moment)
        run.send_signal(signal.SIGINT)
        said = run.communicate()[1].decode()
        assert "Traceback" not in said
        if not (tmp_path / f"out{moment}" / "manifest.json").is_file():  # else it was done by then
            assert (run.returncode, said.strip()) == (130, "deadpan: stopped"), moment
            stopped += 1
        assert not list((tmp_path / f"out{moment}" / ".work").glob(".*"))
    assert stopped > 3
