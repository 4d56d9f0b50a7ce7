"""The server: gunicorn with a few threads, started from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deadpan.errors import need
from deadpan.studio.wsgi import application_for


def serve(
    home: Path, bind: str, *, workers: int, threads: int, hosts: tuple[str, ...], plain_http: bool
) -> None:
    """Serve until stopped. Workers open the database after the fork, each its own."""
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
            return application_for(home, hosts, plain_http)

    Server().run()
