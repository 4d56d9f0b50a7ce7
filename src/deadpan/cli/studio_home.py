"""What every studio command starts with: the home folder, the study by its name, who is asking."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from deadpan.errors import ConfigError

home_option = click.option(
    "--home",
    default="studio",
    envvar="DEADPAN_STUDIO",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Folder of the studio [env: DEADPAN_STUDIO]. The database is in it, or at DATABASE_URL.",
)
name_argument = click.argument("name")


def open_home(home: Path) -> None:
    """Make Django ready."""
    from deadpan.studio.database import open_studio

    open_studio(home)


def find_study(home: Path, name: str) -> Any:
    """The study by its name, or an error that lists those there are."""
    open_home(home)
    from deadpan.registry import unknown
    from deadpan.studio.models import Study

    found = Study.objects.filter(slug=name).first()
    if found is None:
        names = list(Study.objects.order_by("slug").values_list("slug", flat=True))
        raise ConfigError(unknown("study", name, names) if names else f"no study {name!r}: there is none yet")
    return found


def actor() -> str:
    """Who did it, for the audit log."""
    return f"cli:{os.environ.get('USER', 'unknown')}"
