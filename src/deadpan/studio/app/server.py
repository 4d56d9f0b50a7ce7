"""The server: gunicorn with threads, its WSGI application, and the worker that computes figures."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, need
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import write_text
from deadpan.studio.app.database import HOME_VARIABLE, check_connections, open_studio
from deadpan.studio.app.settings import WORKER_VARIABLE

_ADDRESS_FILE = "address.txt"
_ANY_HOST = ("0.0.0.0", "::", "[::]")


@dataclass(frozen=True, slots=True)
class StudioStart(Result):
    """Address of the studio and, until there is an owner, the link with which to become one."""

    site: str
    start: str | None

    def summary(self) -> Summary:
        """Return both addresses."""
        site = f"deadpan studio at {self.site}  (Ctrl-C stops it)"
        if not self.start:
            return Summary(notes=(site,))
        return Summary(notes=("Create the owner's account (once, within a day):", self.start, site))

    def as_dict(self) -> dict[str, object]:
        """Return both addresses."""
        return asdict(self)


def prepare_server(
    home: Path,
    host: str,
    port: int,
    *,
    workers: int,
    threads: int,
    hosts: tuple[str, ...],
    plain_http: bool,
    client_header: str = "",
) -> StudioStart:
    """Open the studio, bring its database up to date and return its addresses."""
    need("gunicorn", "studio")
    open_studio(home, hosts=hosts, plain_http=plain_http)
    check_connections(workers, threads)
    from django.db import connections

    from deadpan.studio.people.admission import start_token

    token = start_token(datetime.now(UTC))
    # A connection must not be shared by the processes that are forked next.
    connections.close_all()
    site = f"http://{host}:{port}"
    write_text(home / _ADDRESS_FILE, _public_address(host, port, hosts, plain_http) + "\n")
    return StudioStart(site, f"{site}/start/{token}" if token else None)


def _public_address(host: str, port: int, hosts: tuple[str, ...], plain_http: bool) -> str:
    """Return the address people use: the first host that was named, behind its proxy, or this machine."""
    if hosts and not plain_http:
        return f"https://{hosts[0]}"
    name = hosts[0] if hosts else "127.0.0.1" if host in _ANY_HOST else host
    return f"http://{name}:{port}"


def last_address() -> str:
    """Return the address at which the open studio was served last, for the links that commands print."""
    from django.conf import settings

    path = Path(settings.STUDIO_HOME) / _ADDRESS_FILE
    return path.read_text(encoding="utf-8").strip() if path.is_file() else "http://127.0.0.1:8000"


def serve_studio(
    home: Path,
    bind: str,
    *,
    workers: int,
    threads: int,
    hosts: tuple[str, ...],
    plain_http: bool,
    client_header: str = "",
) -> None:
    """Serve until stopped. Each worker opens the database after the fork."""
    base = need("gunicorn.app.base", "studio")

    class Server(base.BaseApplication):  # type: ignore[name-defined]
        def load_config(self) -> None:
            chosen = {
                "bind": bind,
                "workers": workers,
                "threads": threads,
                # Threads: a save waits for the disk, and Django's ORM is synchronous.
                "worker_class": "gthread",
                "timeout": 60,
                # People who save while the server stops get their answer.
                "graceful_timeout": 20,
                "keepalive": 30,
                "loglevel": "warning",
                "proc_name": "deadpan studio",
            }
            for key, value in chosen.items():
                self.cfg.set(key, value)

        def load(self) -> Any:
            return application_for(home, hosts, plain_http, client_header)

    os.environ[WORKER_VARIABLE] = "1"
    worker = start_worker(home)
    try:
        Server().run()
    finally:
        worker.terminate()
        try:
            worker.wait(10)
        except subprocess.TimeoutExpired:  # a busy machine: it has nothing to finish
            worker.kill()


# ---------------------------------------------------------------- the WSGI application


# Bytes of a body that is read at once; larger ones are uploads of the study leader.
_SMALL_BODY = 512 * 1024

_HOSTS, _PLAIN = "DEADPAN_STUDIO_HOSTS", "DEADPAN_STUDIO_PLAIN_HTTP"
_CLIENT, _SECONDS = "DEADPAN_STUDIO_CLIENT_HEADER", "DEADPAN_STUDIO_BODY_SECONDS"
# Seconds and bytes per second a body may take: a slow client must not hold a thread for long.
_BODY_SECONDS, _BODY_RATE, _READ_STEP = 10.0, 32 * 1024, 16


class BodyDeadline:
    """Reads the body of a request before the application runs, and ends a request whose body is too slow."""

    def __init__(
        self,
        application: Callable[..., Iterable[bytes]],
        seconds: float = _BODY_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.application, self.seconds, self.clock = application, seconds, clock

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        if length.isascii() and length.isdigit() and 0 < int(length) <= _SMALL_BODY:
            body = self._read(environ, int(length))
            if body is None:
                start_response(
                    "408 Request Timeout", [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")]
                )
                return [b"too slow"]
            environ["wsgi.input"] = io.BytesIO(body)
        return self.application(environ, start_response)

    def _read(self, environ: dict[str, Any], length: int) -> bytes | None:
        """Return the body; None if it took too long."""
        until, body = self.clock() + self.seconds + length / _BODY_RATE, b""
        connection = environ.get("gunicorn.socket")
        while len(body) < length:
            if connection is not None:
                connection.settimeout(max(0.1, until - self.clock()))
            try:
                # A few bytes at a time: a longer read would wait for the slowest client.
                part = environ["wsgi.input"].read(min(_READ_STEP, length - len(body)))
            except OSError:
                return None
            body += part
            if not part or self.clock() > until:
                return body if len(body) == length or not part else None
        if connection is not None:
            connection.settimeout(None)
        return body


def application_for(home: Path, hosts: tuple[str, ...] = (), plain_http: bool = False, client_header: str = "") -> Any:
    """Return the WSGI application of a studio whose database is migrated."""
    header = f"HTTP_{client_header.upper().replace('-', '_')}" if client_header else ""
    open_studio(home, hosts=hosts, plain_http=plain_http, migrate=False, client_header=header)
    from django.core.wsgi import get_wsgi_application

    try:
        seconds = float(os.environ.get(_SECONDS) or _BODY_SECONDS)
    except ValueError:
        raise ConfigError(f"{_SECONDS} needs a number of seconds, such as 10") from None
    return BodyDeadline(get_wsgi_application(), seconds)


def application_from_environment() -> Any:
    """Return the application for `gunicorn 'deadpan.studio.app.server:application_from_environment()'`."""
    hosts = tuple(filter(None, os.environ.get(_HOSTS, "").split(",")))
    home = Path(os.environ.get(HOME_VARIABLE, "studio"))
    return application_for(home, hosts, os.environ.get(_PLAIN) == "1", os.environ.get(_CLIENT, ""))


# ---------------------------------------------------------------- the worker


_WORKER_PAUSE = 2.0


def start_worker(home: Path) -> subprocess.Popen[bytes]:
    """Start the worker of a studio as a process of its own; it ends when its parent does."""
    return subprocess.Popen([sys.executable, "-m", "deadpan.studio.app.server", str(home), str(os.getpid())])


def run_worker(home: Path, parent: int) -> None:
    """Refresh figures until the parent is gone."""
    # Figures can wait; people who answer cannot.
    os.nice(15)
    open_studio(home, migrate=False)
    from django.db import InterfaceError, OperationalError, connection

    from deadpan.studio.app.figures import refresh_watched

    # An orphan gets another parent: the server is gone.
    while os.getppid() == parent:
        try:
            refresh_watched()
        except (OperationalError, InterfaceError) as lost:
            logging.getLogger("django").warning("figures: %s", lost)
            # Django opens a new one at the next query.
            connection.close()
        time.sleep(_WORKER_PAUSE)


if __name__ == "__main__":
    run_worker(Path(sys.argv[1]), int(sys.argv[2]))
