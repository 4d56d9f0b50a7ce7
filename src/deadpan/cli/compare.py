"""deadpan compare: systems by the logs of any tool, paired by item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deadpan.cli.options import FOLDER, PATH
from deadpan.cli.terminal import json_option, show


@click.command()
@click.argument("logs", nargs=-1, required=True, type=PATH, metavar="LOG...")
@click.option("--metric", default="", help="The score to read. [default: the main one of each log]")
@click.option("--cluster", default="", metavar="FIELD", help="Field that groups items, such as a document.")
@click.option("--against", default="", metavar="SYSTEM", help="Compare with this system only.")
@click.option("--unscored", default="exclude", show_default=True, help="exclude, or zero to count as wrong.")
@click.option("--out", type=FOLDER, help="Folder for a page with a figure, and JSON.")
@json_option
def compare(logs: tuple[Path, ...], out: Path | None, as_json: bool, **how: Any) -> None:
    """Compare systems by results from any tool, paired by item, with power and the number of items needed.

    LOG is an Inspect log (.eval), lm-eval's samples_*.jsonl or their folder, a run folder from HELM or
    `deadpan bench run`, or a table with the columns item, system and score.
    """
    from deadpan.logs.comparison import compare_logs

    result = compare_logs(logs, **how)
    if out:
        result.write(out)
    show(result, as_json)
