"""The door for gunicorn: what the environment names, opened."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from deadpan.studio.database import HOME, open_studio

HOSTS, PLAIN = "DEADPAN_STUDIO_HOSTS", "DEADPAN_STUDIO_PLAIN_HTTP"


def application_for(home: Path, hosts: tuple[str, ...] = (), plain_http: bool = False) -> Any:
    """The WSGI application of a studio whose schema is up to date."""
    open_studio(home, hosts=hosts, plain_http=plain_http, migrate=False)
    from django.core.wsgi import get_wsgi_application

    return get_wsgi_application()


def application_from_environment() -> Any:
    """For `gunicorn 'deadpan.studio.wsgi:application_from_environment()'`."""
    hosts = tuple(filter(None, os.environ.get(HOSTS, "").split(",")))
    home = Path(os.environ.get(HOME, "studio"))
    return application_for(home, hosts, os.environ.get(PLAIN) == "1")
