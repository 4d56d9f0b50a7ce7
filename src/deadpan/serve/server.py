"""Settings of the service, and its process: uvicorn on one socket, stopped by Ctrl-C or SIGTERM."""

from __future__ import annotations

import hashlib
import ipaddress
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, DataError, need
from deadpan.page.summary import Summary
from deadpan.results import Result

_SHORTEST_KEY = 16


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Models, address, keys and limits. The defaults are for one person on their own machine."""

    models: tuple[str, ...] = ()
    """Folders of saved detectors, or NAME=FOLDER; the detector `base` is always there."""
    encoder: bool = True
    """Serve the detector `encoder`, too, if its weights have been pulled."""
    host: str = "127.0.0.1"
    port: int = 8080
    keys: frozenset[str] = field(default=frozenset(), repr=False)
    """SHA-256 of the keys that are let in; without any, everybody is."""
    open: bool = False
    """Serve other machines without keys."""
    origins: tuple[str, ...] = ()
    """Pages of other sites that may call the service from a browser."""
    rate: int = 600
    """Requests per minute and key, or per address where there are no keys; 0: no limit."""
    waiting: int = 65_536
    """Texts that may wait for a detector; beyond that the service answers that it is busy."""
    reader: str = ""
    """Language model that is asked what the speaker means; empty: one that has been pulled, if any."""
    base_url: str = ""

    def __post_init__(self) -> None:
        for name, lowest in (("rate", 0), ("waiting", 1)):
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name} is {getattr(self, name)}: give {lowest} or more")
        if not (self.keys or self.open or is_loopback(self.host)):
            raise ConfigError(
                f"{self.host} is reachable by other machines: give --keys FILE, or --open to let everybody in"
            )


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def read_keys(path: Path) -> frozenset[str]:
    """Return the hashes of the keys in a file, one per line; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as bad:
        raise DataError(f"{path}: the keys cannot be read ({bad}): write one key per line") from None
    keys = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not keys:
        raise DataError(f"{path}: no key in it: write one per line")
    if short := next((n for n, key in enumerate(keys, 1) if len(key) < _SHORTEST_KEY), 0):
        raise DataError(f"{path}: key {short} has under {_SHORTEST_KEY} characters: make one with openssl rand -hex 24")
    return frozenset(map(hash_key, keys))


def hash_key(key: str) -> str:
    """Return the hash by which a key is known; keys themselves are not kept."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


_CONNECTIONS = 512


@dataclass(frozen=True, slots=True)
class ServeStart(Result):
    """The address of a service that has started, and what it offers."""

    url: str
    models: tuple[str, ...]
    reader: str
    keys: int

    def summary(self) -> Summary:
        reader = self.reader or "none (deadpan models pull qwen2.5-coder-1.5b adds one)"
        return Summary(
            notes=(
                f"Playground: {self.url}/  (Ctrl-C stops it)",
                f"Service: {self.url}/v1/detect, described at {self.url}/docs",
                f"Detectors: {', '.join(self.models)}; language model: {reader}",
                f"Keys: {self.keys}" if self.keys else "Keys: none needed",
            )
        )

    def as_dict(self) -> dict[str, object]:
        return {"url": self.url, "models": list(self.models), "reader": self.reader or None, "keys": self.keys}


def serve(settings: ServeSettings, started: Callable[[ServeStart], object]) -> None:
    """Serve until stopped; `started` is told the address as soon as connections are accepted."""
    uvicorn: Any = need("uvicorn", "serve")
    need("litestar", "serve")
    from deadpan.serve.app import create_app

    app = create_app(settings)
    service = app.service
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), backlog=1024, family=family)
    except OSError as bad:
        raise ConfigError(
            f"cannot listen at {settings.host}:{settings.port} ({bad.strerror}): choose another --port"
        ) from None
    with listener:
        # Accepted sockets inherit it. asyncio sets it only on sockets that name TCP as their protocol, which
        # those of create_server do not, and the body of an answer would wait 40 ms behind its headers.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        reader = service.reader.model if service.reader else ""
        started(ServeStart(f"http://{shown}:{port}", tuple(service.catalogue.models), reader, len(settings.keys)))
        config = uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, lifespan="off",
            limit_concurrency=_CONNECTIONS, timeout_keep_alive=30, timeout_graceful_shutdown=10,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listener])
