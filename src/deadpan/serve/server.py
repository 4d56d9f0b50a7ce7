"""The server process: uvicorn on one socket, stopped by Ctrl-C or SIGTERM."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from deadpan.errors import ConfigError, need
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.serve.settings import ServeSettings

_CONNECTIONS = 512


@dataclass(frozen=True, slots=True)
class ServeStart(Result):
    """The address of a service that has started, and what it offers."""

    url: str
    models: tuple[str, ...]
    reader: str
    keys: int

    def summary(self) -> Summary:
        """Return the addresses and what is there."""
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
        """Return the same for machines."""
        return {"url": self.url, "models": list(self.models), "reader": self.reader or None, "keys": self.keys}


def serve(settings: ServeSettings, started: Callable[[ServeStart], object]) -> None:
    """Serve until stopped; `started` is told the address as soon as connections are accepted."""
    uvicorn: Any = need("uvicorn", "serve")
    need("litestar", "serve")
    from deadpan.serve.app import create_app

    app = create_app(settings)
    service = app.service
    try:
        listener = socket.create_server((settings.host, settings.port), backlog=1024, family=_family(settings.host))
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


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
