"""What goes in and out of the studio: labels from elsewhere, exports, releases, backups."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.output import emit, json_option, show_tally, table
from deadpan.cli.studio_home import actor, find_study, home_option, name_argument, open_home

if TYPE_CHECKING:
    from rich.console import Console

_MODES = {
    "ids": "ids and labels only; texts stay with their authors",
    "gated": "texts, to be given on request only",
}


@click.command("import")
@name_argument
@click.argument("file", type=click.Path(path_type=Path))
@home_option
@json_option
def import_(name: str, file: Path, home: Path, as_json: bool) -> None:
    """Add labels made elsewhere: Judgments (.jsonl, .parquet) or a Label Studio export (.json)."""
    study = find_study(home, name)
    from deadpan.records import Judgment
    from deadpan.storage import read_records
    from deadpan.studio.imports import import_judgments
    from deadpan.studio.labelstudio import judgments_from

    found = judgments_from(file) if file.suffix == ".json" else list(read_records(file, Judgment))
    added, tally = import_judgments(study, found, actor())

    def show(out: Console) -> None:
        out.print(f"{added:,} of {len(found):,} judgments added to {name}")
        show_tally(out, tally)

    emit(as_json, {"added": added, "read": len(found), **tally.as_dict()}, show)


@click.command()
@name_argument
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder; with --label-studio a file."
)
@click.option("--csv", is_flag=True, help="Also files for a spreadsheet.")
@click.option("--parquet", is_flag=True, help="Also Parquet.")
@click.option("--label-studio", is_flag=True, help="One JSON file as Label Studio exports it, instead.")
@click.option("--with-qualification", is_flag=True, help="Also the answers of the qualification round.")
@home_option
@json_option
def export(
    name: str,
    out: Path,
    csv: bool,
    parquet: bool,
    label_studio: bool,
    with_qualification: bool,
    home: Path,
    as_json: bool,
) -> None:
    """Write every judgment, and the labels by majority, Dawid-Skene and adjudication."""
    study = find_study(home, name)
    if label_studio:
        from deadpan.studio.labelstudio import write_tasks

        n = write_tasks(study, out)
        emit(as_json, {"tasks": n}, lambda screen: screen.print(f"{n:,} tasks in {out}"))
        return
    from deadpan.studio.export import export_study

    counts, tally = export_study(study, out, csv=csv, parquet=parquet, qualification=with_qualification)

    def show(screen: Console) -> None:
        screen.print(table(("what", "rows"), counts.items(), numbers=("rows",)))
        show_tally(screen, tally)
        screen.print(f"in {out}")

    emit(as_json, {"counts": counts, **tally.as_dict()}, show)


@click.command()
@name_argument
@click.option("--out", required=True, type=click.Path(path_type=Path))
@click.option("--mode", default="ids", show_default=True, type=click.Choice(["ids", "gated"]))
@click.option("--version", default="1.0.0", show_default=True)
@click.option("--licence", default="not decided", show_default=True, help="Such as CC-BY-4.0.")
@click.option("--citation", default="not yet published", show_default=True)
@home_option
@json_option
def release(
    name: str, out: Path, mode: Any, version: str, licence: str, citation: str, home: Path, as_json: bool
) -> None:
    """A folder to publish: ids or gated text, card, Croissant; withdrawals applied, new pseudonyms."""
    study = find_study(home, name)
    from deadpan.cards import DataFacts
    from deadpan.studio.release import release_study

    texts = _MODES[mode]
    facts = DataFacts(
        title=study.title,
        version=version,
        language=(study.language,),
        licence=licence,
        citation=citation,
        summary=f"{study.title}: judgments of people in the {study.protocol} protocol; {texts}.",
        how_made=(
            f"deadpan studio, protocol {study.protocol}, {study.raters_per_item} people an item; "
            "majority or adjudication."
        ),
        personal_data=(
            "Pseudonyms new in this release; demographics in groups of five or more; withdrawals applied."
        ),
        known_limits=("Labels are opinions of a few people; see judgments.parquet for each.",),
        published=datetime.now(UTC).date().isoformat(),
    )
    sizes, tally = release_study(study, out, facts, mode)

    def show(screen: Console) -> None:
        screen.print(f"{sizes.total:,} examples in {out} ({mode})")
        show_tally(screen, tally)

    emit(as_json, {"examples": sizes.total, "mode": mode, **tally.as_dict()}, show)


@click.command()
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Such as studio.jsonl.gz.")
@home_option
@json_option
def backup(out: Path, home: Path, as_json: bool) -> None:
    """The whole studio in one file; people can go on working meanwhile."""
    open_home(home)
    from deadpan.studio.backup import back_up

    counts = back_up(out)
    _say_rows(counts, as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@home_option
@json_option
def restore(file: Path, home: Path, as_json: bool) -> None:
    """Read a backup into an empty studio, on SQLite or PostgreSQL."""
    open_home(home)
    from deadpan.studio.backup import restore as read_back

    counts = read_back(file)
    _say_rows(counts, as_json)


def _say_rows(counts: dict[str, int], as_json: bool) -> None:
    """Rows by table."""
    emit(
        as_json,
        counts,
        lambda screen: screen.print(table(("table", "rows"), counts.items(), numbers=("rows",))),
    )
