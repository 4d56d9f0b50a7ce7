"""The server: gunicorn with threads, started from Python."""

from __future__ import annotations

import os
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deadpan.errors import need
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import write_text
from deadpan.studio.app.database import check_connections, open_studio
from deadpan.studio.app.worker import start_worker
from deadpan.studio.app.wsgi import application_for

ADDRESS = "address.txt"
EVERYWHERE = ("0.0.0.0", "::", "[::]")
WORKER = "DEADPAN_STUDIO_WORKER"
"""Tells the requests that figures are computed by a worker."""


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


def begin(
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

    from deadpan.studio.people.invites import start_token

    token = start_token(datetime.now(UTC))
    connections.close_all()
    site = f"http://{host}:{port}"
    write_text(home / ADDRESS, _public_address(host, port, hosts, plain_http) + "\n")
    return StudioStart(site, f"{site}/start/{token}" if token else None)


def _public_address(host: str, port: int, hosts: tuple[str, ...], plain_http: bool) -> str:
    """Return the address people use: the first host that was named, behind its proxy, or this machine."""
    if hosts and not plain_http:
        return f"https://{hosts[0]}"
    name = hosts[0] if hosts else "127.0.0.1" if host in EVERYWHERE else host
    return f"http://{name}:{port}"


def last_address(home: Path) -> str:
    """Return the address at which the studio was served last, for the links that commands print."""
    path = home / ADDRESS
    return path.read_text(encoding="utf-8").strip() if path.is_file() else "http://127.0.0.1:8000"


def serve(
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
                "worker_class": "gthread",
                "timeout": 60,
                "graceful_timeout": 20,
                "keepalive": 30,
                "loglevel": "warning",
                "proc_name": "deadpan studio",
            }
            for key, value in chosen.items():
                self.cfg.set(key, value)

        def load(self) -> Any:
            return application_for(home, hosts, plain_http, client_header)

    os.environ[WORKER] = "1"
    worker = start_worker(home)
    try:
        Server().run()
    finally:
        worker.terminate()
        try:
            worker.wait(10)
        except subprocess.TimeoutExpired:  # a busy machine: it has nothing to finish
            worker.kill()
