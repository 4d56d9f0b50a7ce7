"""deadpan doctor: installed parts, missing parts, and the commands that add them."""

from __future__ import annotations

from pathlib import Path

import click

from deadpan.cli.options import FOLDER
from deadpan.cli.terminal import json_option, show


@click.command()
@click.option("--fix", is_flag=True, help="Print the exact commands that add what is missing; run nothing.")
@click.option(
    "--cluster", metavar="URL", help="Check the workers of a Spark cluster instead, such as spark://host:7077."
)
@click.option("--work", type=FOLDER, default=Path(), help="With --cluster: the folder that all workers share.")
@json_option
def doctor(fix: bool, cluster: str, work: Path, as_json: bool) -> int:
    """List versions, extras, models and programs, with the command that adds each missing one."""
    if cluster:
        from deadpan.corpus.engines.cluster import check_cluster

        report = check_cluster(cluster, work)
        return show(report, as_json, failed=not report.sound)
    from deadpan.installation import check_installation

    found = check_installation()
    return show(found.fixes() if fix else found, as_json)
