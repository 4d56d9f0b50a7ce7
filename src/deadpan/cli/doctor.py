"""deadpan doctor: installed parts, missing parts, and the commands that add them."""

from __future__ import annotations

import click

from deadpan.cli.terminal.output import json_option, show


@click.command()
@click.option("--fix", is_flag=True, help="Print the exact commands that add what is missing; run nothing.")
@json_option
def doctor(fix: bool, as_json: bool) -> None:
    """List versions, extras, models and programs, with the command that adds each missing one."""
    from deadpan.installation import check_installation

    found = check_installation()
    show(found.fixes() if fix else found, as_json)
