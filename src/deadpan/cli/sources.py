"""Where commands get Examples: a published corpus by name, or a file of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from deadpan.datasets.reader import Reader

F = TypeVar("F", bound=Callable[..., Any])


def source_options(command: F) -> F:
    """--data and what else says how to read a source."""
    for option in (
        click.option("--column", "columns", multiple=True, metavar="FIELD=NAME",
                     help="For your own tables: which column is the text, label, context, ..."),
        click.option("--positive", multiple=True, metavar="LABEL",
                     help="For your own tables: a label that means sarcastic."),
        click.option("--text", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                     help="iSarcasm: a file with the texts of the tweet ids."),
        click.option("--ids-only", is_flag=True, help="iSarcasm: describe the ids, without texts."),
        click.option("--keep-markers", is_flag=True,
                     help="Keep tags that tell the label (#sarcasm, #not, /s)."),
        click.option("--data", envvar="DEADPAN_DATA", type=click.Path(path_type=Path),
                     help="Folder of the release, or of all releases [env: DEADPAN_DATA]."),
    ):  # fmt: skip
        command = option(command)
    return command


def open_source(
    source: str,
    data: Path | None = None,
    *,
    keep_markers: bool = False,
    text: Path | None = None,
    ids_only: bool = False,
    columns: tuple[str, ...] = (),
    positive: tuple[str, ...] = (),
) -> Reader:
    """A reader by the corpus's name, or of a file by its path."""
    from deadpan.datasets import READERS, open_dataset
    from deadpan.errors import ConfigError

    options: dict[str, Any] = {"strip": not keep_markers}
    path = Path(source)
    if source not in READERS and (path.is_file() or path.suffix in (".csv", ".tsv", ".jsonl", ".parquet")):
        source, data = "table", path
    if source == "table":
        options |= {"positive": positive, **_pairs(columns)}
    elif columns or positive:
        raise ConfigError(
            "--column and --positive are for your own tables: name a .csv, .tsv, .jsonl or .parquet file"
        )
    if source == "isarcasm":
        options |= {"text": text, "ids_only": ids_only}
    elif text is not None or ids_only:
        raise ConfigError("--text and --ids-only are for isarcasm, whose release holds tweet ids only")
    return open_dataset(source, data, **options)


def _pairs(columns: tuple[str, ...]) -> dict[str, str]:
    from deadpan.errors import ConfigError

    pairs = {}
    for pair in columns:
        field, mark, name = pair.partition("=")
        if not mark:
            raise ConfigError(f"--column {pair}: write FIELD=NAME, such as --column text=tweet")
        pairs[field] = name
    return pairs
