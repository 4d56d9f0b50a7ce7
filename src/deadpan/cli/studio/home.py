"""Options of every studio command: the home folder, the study by its name, and who is asking."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from deadpan.cli.terminal.output import json_option

home_option = click.option(
    "--home",
    default="studio",
    envvar="DEADPAN_STUDIO",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the studio [env: DEADPAN_STUDIO]. The database is in it, or at DATABASE_URL.",
)


def opens_studio(existing: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --home and --json, and open the studio before the command runs; `existing`: make no new one."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def opened(home: Path, **options: Any) -> Any:
            from deadpan.studio.app.database import open_studio

            open_studio(home, existing=existing)
            return command(**options)

        return home_option(json_option(opened))

    return decorate


def about_study(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument NAME and open the studio; the command gets the stored study as `study`."""

    @wraps(command)
    def found(name: str | None, **options: Any) -> Any:
        from deadpan.studio.records.studies import find_study

        return command(study=find_study(name) if name else None, **options)

    return opens_studio(existing=True)(found)


def actor() -> str:
    """Return who runs the command, for the audit log."""
    return f"cli:{os.environ.get('USER', 'unknown')}"
