"""The WSGI application, configured by arguments or by the environment."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from deadpan.studio.app.database import HOME, open_studio

FORM = 512 * 1024
"""Bytes of a body that is read at once; larger ones are uploads of the study leader."""

HOSTS, PLAIN = "DEADPAN_STUDIO_HOSTS", "DEADPAN_STUDIO_PLAIN_HTTP"
CLIENT = "DEADPAN_STUDIO_CLIENT_HEADER"
PATIENCE, PACE, STEP = 10.0, 32 * 1024, 16
"""Seconds and bytes per second a body may take: a slow client must not hold a thread for long."""


class Prompt:
    """Reads the body of a request before the application runs, and ends a request whose body is too slow."""

    def __init__(
        self, application: Callable[..., Iterable[bytes]], clock: Callable[[], float] = time.monotonic
    ):
        self.application, self.clock = application, clock

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isascii() and length.isdigit() and 0 < int(length) <= FORM:
            body = self._read(environ, int(length))
            if body is None:
                start_response(
                    "408 Request Timeout",
                    [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")],
                )
                return [b"too slow"]
            environ["wsgi.input"] = io.BytesIO(body)
        return self.application(environ, start_response)

    def _read(self, environ: dict[str, Any], length: int) -> bytes | None:
        """Return the body; None if it took too long."""
        until, body = self.clock() + PATIENCE + length / PACE, b""
        connection = environ.get("gunicorn.socket")
        while len(body) < length:
            if connection is not None:
                connection.settimeout(max(0.1, until - self.clock()))
            try:
                # A few bytes at a time: a longer read would wait for the slowest client.
                part = environ["wsgi.input"].read(min(STEP, length - len(body)))
            except OSError:
                return None
            body += part
            if not part or self.clock() > until:
                return body if len(body) == length or not part else None
        if connection is not None:
            connection.settimeout(None)
        return body


def application_for(
    home: Path, hosts: tuple[str, ...] = (), plain_http: bool = False, client_header: str = ""
) -> Any:
    """Return the WSGI application of a studio whose database is migrated."""
    header = f"HTTP_{client_header.upper().replace('-', '_')}" if client_header else ""
    open_studio(home, hosts=hosts, plain_http=plain_http, migrate=False, client_header=header)
    from django.core.wsgi import get_wsgi_application

    return Prompt(get_wsgi_application())


def application_from_environment() -> Any:
    """Return the application for `gunicorn 'deadpan.studio.app.wsgi:application_from_environment()'`."""
    hosts = tuple(filter(None, os.environ.get(HOSTS, "").split(",")))
    home = Path(os.environ.get(HOME, "studio"))
    return application_for(home, hosts, os.environ.get(PLAIN) == "1", os.environ.get(CLIENT, ""))
