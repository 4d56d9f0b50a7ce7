"""The embedded language model: a server on loopback, started on first use and ended with this process."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from deadpan import models
from deadpan.errors import ConfigError, MissingExtra, ModelError
from deadpan.registry import unknown

CONTEXT = 4_096
START_SECONDS = 120.0
STAT = Path("/proc/stat")
GLANCE = 0.25
"""Seconds over which idle cores are counted."""


@dataclass(frozen=True, slots=True)
class EmbeddedServer:
    """A running server of an embedded model. Its key keeps other users of the machine out."""

    name: str
    url: str
    key: str = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False, compare=False)

    @property
    def alive(self) -> bool:
        """Return True while the process is running."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the server now. It also ends by itself with this process, however that ends."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


_lock = threading.Lock()
_running: dict[tuple[str, int, int], EmbeddedServer] = {}


def embedded_server(name: str, threads: int = 0) -> EmbeddedServer:
    """Return the server of an embedded model, started if needed; one per process and model.

    Without `threads` it gets one per core that is idle when it starts.
    """
    slot = (name, threads, os.getpid())  # a forked child starts its own
    with _lock:
        server = _running.get(slot)
        if server is not None and server.alive:
            return server
        if server is not None:
            server.stop()
        fresh = _start(name, threads or idle_cores())
        if not _running:
            atexit.register(stop_all)
        _running[slot] = fresh
        return fresh


def idle_cores() -> int:
    """Return how many cores other processes leave free, at least one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, round(cores - busy_cores())))


def busy_cores(wait: Callable[[float], None] = time.sleep) -> float:
    """Return how many cores are at work now; on Linux measured, elsewhere the load of the last minute.

    That load still counts a download that has just ended, and a server keeps its threads for hours.
    """
    before = _worked()
    if before is None:
        return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    wait(GLANCE)
    after = _worked() or before
    worked, total = after[0] - before[0], after[1] - before[1]
    return (os.cpu_count() or 1) * worked / total if total > 0 else 0.0


def _worked() -> tuple[int, int] | None:
    """Return the processor time that was worked and all there was, of all cores; None if unknown."""
    with suppress(OSError, ValueError):
        _, *ticks = STAT.read_text().split("\n", 1)[0].split()
        # user, nice, system, idle, waiting, ...; the ticks of guests are in those of the user
        counted = [int(tick) for tick in ticks[:8]]
        return sum(counted) - sum(counted[3:5]), sum(counted)
    return None


def stop_all() -> None:
    """End the servers that this process started."""
    with _lock:
        for slot in [slot for slot in _running if slot[2] == os.getpid()]:
            _running.pop(slot).stop()


def weights_of(name: str) -> Path:
    """Return the weights file of an embedded model."""
    known = {key: model.gguf for key, model in models.MODELS.items() if model.gguf and model.chat}
    if name not in known:
        raise ConfigError(unknown("embedded model", name, known))
    return models.path(name) / known[name]


def weights_identity(name: str) -> str:
    """Return the name and version of the weights, a part of the cache's key."""
    return f"embedded:{name}-{models.find(name).version}"


def _start(name: str, threads: int) -> EmbeddedServer:
    """Start the server process, send it its settings, wait for its address.

    It is a separate process, so that a crash in native code is an error here, and its log stays apart.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra("xllamacpp", "llm")
    weights = weights_of(name)
    key = secrets.token_urlsafe(24)
    order = {"weights": str(weights), "name": name, "threads": threads, "context": CONTEXT, "key": key}
    command = [sys.executable, "-P", str(Path(__file__).with_name("serve.py"))]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        alarm = threading.Timer(START_SECONDS, process.kill)
        alarm.daemon = True
        alarm.start()
        try:
            address = _handshake(process, order)
        except BaseException:
            process.kill()
            process.wait()
            raise
        finally:
            alarm.cancel()
        server = EmbeddedServer(name, address, key, process)
        if not address:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)  # so that the exit code is its own, not that of our kill
            server.stop()
            raise ModelError(
                f"the server of {name} did not start (exit code {process.returncode}, {_tail(log)}): "
                f"try deadpan models pull {name}, then pip install -U xllamacpp"
            )
    return server


def _handshake(process: subprocess.Popen[bytes], order: dict[str, object]) -> str:
    """Send the settings and return the address; empty if the process ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()  # and left open: when it closes, the server knows that we have ended
        line = process.stdout.readline()
        return str(json.loads(line)["url"]) if line else ""
    except (BrokenPipeError, ValueError, KeyError):
        return ""


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:200] if said else "it said nothing"
