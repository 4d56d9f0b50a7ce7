"""deadpan report: one static site from whatever the stages wrote."""

from typing import Any

import click

from deadpan.cli.options import FOLDER, out_option
from deadpan.cli.terminal import json_option, show


@click.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER, metavar="FOLDER...")
@out_option
@click.option("--title", default="Report", show_default=True, help="Title of the front page.")
@json_option
def report(as_json: bool, **options: Any) -> None:
    """Write one static site from every output in FOLDER...: findings, pages and manifests."""
    from deadpan.report import build_report

    show(build_report(**options), as_json)
