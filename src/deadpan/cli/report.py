"""deadpan report: one static site from whatever the stages wrote."""

from typing import Any

import click

from deadpan.cli.command import Group
from deadpan.cli.options import FOLDER, out_option
from deadpan.cli.terminal.output import json_option, show

report = Group("report", help="Write one static site from any output folders.")


@report.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER, metavar="FOLDER...")
@out_option
@click.option("--title", default="Report", show_default=True, help="Title of the front page.")
@click.option("--serve", is_flag=True, help="Serve it locally, and rebuild it when an output changes.")
@click.option("--port", default=8765, show_default=True, help="Port for --serve.")
@json_option
def build(serve: bool, as_json: bool, **options: Any) -> None:
    """Write a site from every output in FOLDER...: findings, tables, figures and their manifests."""
    from deadpan.report.serve import write_or_serve

    write_or_serve(serve, lambda site: show(site, as_json), **options)
