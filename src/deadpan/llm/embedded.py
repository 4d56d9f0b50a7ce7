"""The embedded language model: its own server, on loopback, started on first use and ended with us."""

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
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from deadpan import models
from deadpan.errors import ConfigError, MissingExtra, ModelError
from deadpan.registry import unknown

CONTEXT = 4_096
START_SECONDS = 120.0
GGUF = ".gguf"


@dataclass(frozen=True, slots=True)
class Server:
    """Where the model answers. The key keeps other users of the machine out."""

    name: str
    url: str
    key: str = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False, compare=False)

    @property
    def alive(self) -> bool:
        """It has not ended or crashed."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End it now. It would end by itself with this process, however that ends."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


_lock = threading.Lock()
_running: dict[tuple[str, int, int], Server] = {}


def embedded_server(name: str, threads: int = 1) -> Server:
    """The server of an embedded model, started if it is not running; one a process and model."""
    slot = (name, threads, os.getpid())  # a forked child starts its own
    with _lock:
        server = _running.get(slot)
        if server is not None and server.alive:
            return server
        if server is not None:
            server.stop()
        fresh = _start(name, threads)
        if not _running:
            atexit.register(stop_all)
        _running[slot] = fresh
        return fresh


def stop_all() -> None:
    """End the servers this process started."""
    with _lock:
        for slot in [slot for slot in _running if slot[2] == os.getpid()]:
            _running.pop(slot).stop()


def weights_of(name: str) -> Path:
    """The weights file of an embedded model."""
    known = {key: model for key, model in models.MODELS.items() if _gguf(model)}
    if name not in known:
        raise ConfigError(unknown("embedded model", name, known))
    return models.path(name) / _gguf(known[name])


def identity(name: str) -> str:
    """Which weights answer, for the key of a cached answer."""
    return f"embedded:{name}-{models.find(name).version}"


def _gguf(model: models.Model) -> str:
    return next((file.name for file in model.files if file.name.endswith(GGUF)), "")


def _start(name: str, threads: int) -> Server:
    """Start the process, hand it its settings, wait for its address.

    A process of its own: a crash in there is an error here and not our end, and its log stays its own.
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
        server = Server(name, address, key, process)
        if not address:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=1)  # so that the code is its own and not that of our kill
            server.stop()
            raise ModelError(
                f"the server of {name} did not start (exit code {process.returncode}, {_tail(log)}): "
                f"try deadpan models pull {name}, then pip install -U xllamacpp"
            )
    return server


def _handshake(process: subprocess.Popen[bytes], order: dict[str, object]) -> str:
    """Send the settings and read the address back; empty if it ended instead."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()  # and left open: its end tells the server that we are gone
        line = process.stdout.readline()
        return str(json.loads(line)["url"]) if line else ""
    except (BrokenPipeError, ValueError, KeyError):
        return ""


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    lines = log.read().decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:200] if said else "it said nothing"
