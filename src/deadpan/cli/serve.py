"""deadpan serve: the playground page and the HTTP service."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadpan.cli.options import FILE, base_url_option
from deadpan.cli.terminal import json_option, show


@click.command()
@click.option("--detector", "models", multiple=True, metavar="[NAME=]FOLDER", help="Also serve this saved detector.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(0, 65535), help="0: any free port.")
@click.option("--keys", type=FILE, help="File with one API key per line; without it, no key is needed.")
@click.option("--open", is_flag=True, help="Let other machines in without keys.")
@click.option("--rate", default=600, show_default=True,
              help="Requests per client per minute, in bursts of up to a tenth; 0: no limit.")  # fmt: skip
@click.option("--origin", "origins", multiple=True, metavar="URL", help="Site whose pages may call the API.")
@click.option("--llm", "reader", default="", metavar="MODEL", help="Language model that says what is meant.")
@base_url_option
@json_option
def serve(keys: Path | None, as_json: bool, **options: Any) -> None:
    """Serve a page to type sentences into, and POST /v1/detect for programs.

    Texts are neither stored nor logged. GET /docs describes the service; /metrics is for Prometheus.
    """
    from deadpan.serve.server import ServeSettings, read_keys, serve

    known = read_keys(keys) if keys else frozenset()
    serve(ServeSettings(keys=known, **options), lambda start: show(start, as_json))
