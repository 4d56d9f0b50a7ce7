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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self

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

    def __init__(self, *modules: str) -> None:
        """Store what is imported in addition, before the first command."""
        self.modules = modules

    def __enter__(self) -> Self:
        self._server = subprocess.Popen(
            [sys.executable, __file__, *self.modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **ONE_THREAD},
        )  # fmt: skip
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        self._server.communicate()

    def run(self, words: list[str], folder: Path) -> tuple[int, str]:
        """Return the exit status of a command and what it wrote to its standard error."""
        status, _, told = self.output(words, folder)
        return status, told

    def output(
        self, words: list[str], folder: Path, env: Mapping[str, str] = MappingProxyType({})
    ) -> tuple[int, str, str]:
        """Return the exit status of a command, its standard output and its standard error."""
        with (
            tempfile.NamedTemporaryFile("r", errors="replace") as said,
            tempfile.NamedTemporaryFile("r", errors="replace") as told,
        ):
            status = self.start(words, folder, env, told.name, said.name).wait()
            return status, said.read(), told.read()

    def start(
        self,
        words: list[str],
        folder: Path,
        env: Mapping[str, str] = MappingProxyType({}),
        told: str = os.devnull,
        said: str = os.devnull,
    ) -> ForkedCommand:
        """Start a command and return at once; its output goes into the file `said`, its errors into `told`."""
        return ForkedCommand(self, self.ask("start", words, str(folder), dict(env), told, said))

    def ask(self, *question: Any) -> Any:
        """Ask the process from which commands are forked, which is their parent."""
        assert self._server.stdin and self._server.stdout
        self._server.stdin.write(json.dumps(question) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


@dataclass(frozen=True)
class ForkedCommand:
    """A command that was started; it can be killed by its pid until `poll` or `wait` has told its end."""

    commands: ForkedCommands
    pid: int

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        found: int | None = self.commands.ask("end", self.pid, os.WNOHANG)
        return found

    def wait(self) -> int:
        """Wait for the end and return the exit status."""
        return int(self.commands.ask("end", self.pid, 0))


def _serve() -> None:
    for name in (*PRELOADED, *sys.argv[1:]):
        with contextlib.suppress(ImportError):
            __import__(name)
    ended: dict[int, int] = {}
    for line in sys.stdin:
        verb, *rest = json.loads(line)
        answer = _start(*rest) if verb == "start" else _status(ended, *rest)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _start(words: list[str], folder: str, env: dict[str, str], told: str, said: str) -> int:
    child = os.fork()
    if child == 0:
        os.environ.update(env)
        _run(words, folder, os.open(said, os.O_WRONLY), os.open(told, os.O_WRONLY))
    return child


def _status(ended: dict[int, int], child: int, how: int) -> int | None:
    if child not in ended:
        found, status = os.waitpid(child, how)
        if not found:
            return None
        ended[child] = os.waitstatus_to_exitcode(status)
    return ended[child]


def _run(words: list[str], folder: str, said: int, told: int) -> None:
    """Run one command as the shell would; never returns."""
    status = 1
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream, target in ((0, nothing), (1, said), (2, told)):
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
