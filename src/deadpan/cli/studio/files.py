"""Files that go into and out of the studio: labels from elsewhere, exports, releases, backups."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from deadpan.cli.command import Command
from deadpan.cli.options import PATH
from deadpan.cli.studio.home import about_study, actor, opens_studio
from deadpan.cli.terminal.output import show


@click.command("import", cls=Command)
@click.argument("name")
@click.argument("file", type=PATH)
@click.option("--dry-run", is_flag=True, help="Show what would be added, and change nothing.")
@about_study
def import_(study: Any, file: Path, dry_run: bool, as_json: bool) -> None:
    """Add labels made elsewhere: Judgments (.jsonl, .parquet) or a Label Studio export (.json)."""
    from deadpan.studio.records.imports import import_file

    show(import_file(study, file, actor(), dry_run=dry_run), as_json)


@click.command(cls=Command)
@click.argument("name")
@click.option("--out", required=True, type=PATH, help="Folder to write; a file with --label-studio.")
@click.option("--csv", is_flag=True, help="Also write CSV files.")
@click.option("--parquet", is_flag=True, help="Also write Parquet files.")
@click.option("--label-studio", is_flag=True, help="Write one JSON file in Label Studio's format instead.")
@click.option("--with-qualification", is_flag=True, help="Include the qualification round in the judgments.")
@about_study
def export(
    study: Any, out: Path, label_studio: bool, with_qualification: bool, as_json: bool, **also: bool
) -> None:
    """Write every judgment, and the labels by majority, Dawid-Skene and adjudication."""
    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.labelstudio import write_tasks

    if label_studio:
        show(write_tasks(study, out), as_json)
    else:
        show(export_study(study, out, qualification=with_qualification, **also), as_json)


@click.command(cls=Command, renamed={"--raters": "--rater-names"})
@click.argument("name")
@click.option("--out", required=True, type=PATH, help="A new folder.")
@click.option(
    "--mode",
    default="ids",
    show_default=True,
    type=click.Choice(["ids", "gated"]),
    help="Ids only, or texts with gated access.",
)
@click.option("--version", default="1.0.0", show_default=True, help="Version of the release.")
@click.option("--licence", default="not decided", show_default=True, help="Licence, such as CC-BY-4.0.")
@click.option("--citation", default="not yet published", show_default=True, help="How to cite it.")
@click.option("--rater-names", "raters", default="auto", show_default=True,
              type=click.Choice(["auto", "same", "per-item"]),
              help="Give each rater one name for all items, or one per item.")  # fmt: skip
@about_study
def release(study: Any, out: Path, mode: Any, raters: Any, as_json: bool, **facts: str) -> None:
    """Write a folder to publish: ids or gated text, card, Croissant; withdrawals applied, new pseudonyms."""
    from deadpan.studio.records.release import release_facts, release_study

    described = release_facts(study, mode, published=datetime.now(UTC).date(), **facts)
    show(release_study(study, out, described, mode, raters=raters, actor=actor()), as_json)


@click.command(cls=Command)
@click.option("--out", required=True, type=PATH, help="File to write, such as studio.jsonl.gz.")
@opens_studio(existing=True)
def backup(out: Path, as_json: bool) -> None:
    """Write the whole studio to one file; people can keep working."""
    from deadpan.studio.records.backup import back_up

    show(back_up(out), as_json)


@click.command(cls=Command)
@click.argument("file", type=PATH)
@click.option("--tombstones", type=PATH, help="Folder of the old studio: keeps people who withdrew erased.")
@opens_studio()
def restore(file: Path, tombstones: Path | None, as_json: bool) -> None:
    """Read a backup into an empty studio, on SQLite or PostgreSQL."""
    from deadpan.studio.records.backup import restore

    show(restore(file, tombstones), as_json)
