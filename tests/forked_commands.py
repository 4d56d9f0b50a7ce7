"""Commands in forks of one process that has imported what they need: half of a short command's time is imports.

A fork is as clean as a new process: what one command changes, the next does not see.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

PRELOADED = (
    "numpy", "scipy.sparse", "scipy.stats", "sklearn.linear_model", "sklearn.metrics", "pyarrow.csv",
    "pyarrow.parquet", "duckdb", "orjson", "rich.table", "rich.progress", "deadpan.cli",
    "deadpan.datasets", "deadpan.detect.detector", "deadpan.bench.runs.run",
)  # fmt: skip
"""Libraries that start no thread when they are imported; PyTorch and Django are left to the fork."""
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OPENBLAS", "OMP", "MKL")}
"""For small jobs a second thread only spins."""


class ForkedCommands:
    """Runs command lines of deadpan in a folder."""

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._server.communicate()

    def run(self, words: list[str], folder: Path) -> tuple[int, str]:
        """Return the exit status of a command and what it wrote to its standard error."""
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps([words, str(folder)]) + "\n")
        self._server.stdin.flush()
        status, told = json.loads(self._server.stdout.readline())
        return status, told


def _serve() -> None:
    for name in PRELOADED:
        with contextlib.suppress(ImportError):
            __import__(name)
    for line in sys.stdin:
        words, folder = json.loads(line)
        with tempfile.TemporaryFile("w+", errors="replace") as told:
            child = os.fork()
            if child == 0:
                _run(words, folder, told.fileno())
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            told.seek(0)
            sys.stdout.write(json.dumps([status, told.read()]) + "\n")
            sys.stdout.flush()


def _run(words: list[str], folder: str, told: int) -> None:
    """Run one command as the shell would; never returns."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, nothing), (1, nothing), (2, told)):
            os.dup2(target, stream)
        os.chdir(folder)
        from deadpan.cli import main

        sys.argv = ["deadpan", *words]
        main(words)
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001 - a fork must not go on as the server
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        _end(status)


def _end(status: int) -> None:
    """End as an interpreter does: servers that were started are stopped by their exit handlers."""
    import atexit

    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()
    os._exit(status)


if __name__ == "__main__":
    _serve()
