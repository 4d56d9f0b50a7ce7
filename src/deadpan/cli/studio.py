"""deadpan studio: studies with people, from the first link to the release."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.output import emit, json_option, seed_option, table
from deadpan.cli.studio_files import backup, export, import_, release, restore
from deadpan.cli.studio_home import actor, find_study, home_option, name_argument, open_home
from deadpan.cli.studio_people import applicants, invite
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.studies import Study, StudyItem


@click.group()
def studio() -> None:
    """Studies with people: annotate, tell, categorise, perceive, audit, choose, quiz."""


@studio.command()
@click.argument("protocol")
@click.option("--name", required=True, help="Part of its address: small letters, digits, hyphens.")
@click.option("--study", "folder", type=click.Path(path_type=Path), help="A study folder that deadpan wrote.")
@click.option("--items", help="A file of items or examples, a corpus by name, or Label Studio tasks (.json).")
@click.option(
    "--config", type=click.Path(path_type=Path), help="A study.toml: title, language, raters, settings."
)
@click.option("--title", help="What people see at the top.")
@click.option("--language", type=click.Choice(["en", "ko"]), help="Language of the texts.")
@click.option("--raters", type=click.IntRange(1), help="How many people judge an item.")
@click.option("--sample", default=0, help="Draw so many items (an audit: so many of either label). 0: all.")
@click.option("--qualification", type=click.IntRange(0), help="Items in the qualification round; 0: none.")
@click.option(
    "--context", type=click.Choice(["none", "full"]), help="perceive: show what came before, or not."
)
@click.option("--data", type=click.Path(path_type=Path), envvar="DEADPAN_DATA", help="Folder of the corpora.")
@seed_option
@home_option
@json_option
def create(protocol: str, name: str, home: Path, as_json: bool, **given: Any) -> None:
    """Make a study of one PROTOCOL: annotate, tell, categorise, perceive, audit, choose or quiz."""
    from deadpan.studio.protocols import PROTOCOLS

    PROTOCOLS.check(protocol)
    open_home(home)
    from deadpan.studio.creation import create_study

    described, items = _described(protocol, given)
    stored = create_study(name, described, items, actor())
    data = {
        "study": name,
        "protocol": protocol,
        "items": len(items),
        "raters_per_item": stored.raters_per_item,
        "qualification": int(stored.settings.get("qualification", 0)),
    }

    def show(out: Console) -> None:
        out.print(f"made {name}: {protocol}, {len(items):,} items, {stored.raters_per_item} raters an item")
        if data["qualification"]:
            out.print(f"qualification round: {data['qualification']} items, the same for all applicants")
        out.print(f"next: deadpan studio serve, then deadpan studio invite {name}")

    emit(as_json, data, show)


def _described(protocol: str, given: dict[str, Any]) -> tuple[Study, list[StudyItem]]:
    """The study from its folder, its config or the options, the later over the earlier."""
    from deadpan.cli.studio_items import items_for
    from deadpan.config import read_config
    from deadpan.studies import Study, read_study
    from deadpan.studio.protocols import PROTOCOLS

    if given["folder"] and given["items"]:
        raise ConfigError("--study and --items both name items: give one of them")
    kind = PROTOCOLS.load(protocol)
    described = Study(protocol, str(kind.title), seed=given["seed"], raters_per_item=kind.raters)
    items: list[StudyItem] = []
    if given["folder"]:
        described, items = read_study(given["folder"])
    elif given["items"]:
        items = items_for(protocol, given["items"], given["sample"], given["seed"], given["data"])
    if given["config"]:
        described = read_config(given["config"], Study)
    if described.protocol != protocol:
        raise ConfigError(f"the study is of the protocol {described.protocol}, not {protocol}")
    settings = dict(described.settings)
    for key in ("qualification", "context"):
        if given[key] is not None:
            settings[key] = given[key]
    chosen = {"title": given["title"], "language": given["language"], "raters_per_item": given["raters"]}
    return replace(described, settings=settings, **{k: v for k, v in chosen.items() if v is not None}), items


@studio.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option(
    "--allow", multiple=True, metavar="NAME", help="A host name people come by, behind a TLS proxy."
)
@click.option("--plain-http", is_flag=True, help="Cookies without TLS: only in a network you trust.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option("--threads", default=8, show_default=True, type=click.IntRange(1))
@home_option
@json_option
def serve(
    host: str,
    port: int,
    allow: tuple[str, ...],
    plain_http: bool,
    workers: int,
    threads: int,
    home: Path,
    as_json: bool,
) -> None:
    """Serve the studio. The first start prints a link for the owner."""
    from deadpan.errors import need

    need("gunicorn", "studio")
    from deadpan.studio.database import open_studio

    open_studio(home, hosts=allow, plain_http=plain_http)
    from django.db import connections

    from deadpan.studio.invites import start_token

    token = start_token(datetime.now(UTC))
    site = f"http://{host}:{port}"
    start = f"{site}/start/{token}" if token else None
    if as_json:
        click.echo(json.dumps({"site": site, "start": start}))
    else:
        if start:
            click.echo(f"Make the owner's account (once, within a day): {start}")
        click.echo(f"deadpan studio at {site}  (Ctrl-C ends it)")
    connections.close_all()
    from deadpan.studio.server import serve as run

    run(
        home.resolve(), f"{host}:{port}", workers=workers, threads=threads, hosts=allow, plain_http=plain_http
    )


@studio.command()
@click.argument("name", required=False)
@home_option
@json_option
def status(name: str | None, home: Path, as_json: bool) -> None:
    """How far a study is, hours of each person and what they are owed; without NAME, all studies."""
    studies = [find_study(home, name)] if name else None
    if studies is None:
        open_home(home)
        from deadpan.studio.models import Study

        studies = list(Study.objects.order_by("slug"))
    from deadpan.studio.progress import Progress, progress

    found: list[Progress] = [progress(study, datetime.now(UTC)) for study in studies]

    def show(out: Console) -> None:
        rows = [
            (
                p.study,
                p.protocol,
                f"{p.places_done:,} of {p.places:,}",
                f"{p.items_finished:,} of {p.items:,}",
                p.submissions_kept,
            )
            for p in found
        ]
        columns = ("study", "protocol", "judgments", "items finished", "submissions")
        out.print(
            table(columns, rows, numbers=columns[2:]) if rows else "no study yet: deadpan studio create"
        )
        for each in found if name else []:
            people = [
                (w.pseudonym, w.name, w.role, w.state, w.done, f"{w.hours:.2f}",
                 "" if w.owed is None else f"{w.owed:.2f} {each.currency}", f"{w.checks_passed}/{w.checks}")
                for w in each.workers
            ]  # fmt: skip
            head = ("pseudonym", "name", "role", "state", "done", "hours", "owed", "checks")
            out.print()
            out.print(table(head, people, numbers=("done", "hours", "owed", "checks")))

    emit(as_json, [each.as_dict() for each in found], show)


@studio.command()
@name_argument
@home_option
@seed_option
@json_option
def agreement(name: str, home: Path, seed: int, as_json: bool) -> None:
    """Every coefficient of every question, with intervals, and the protocol's own report."""
    study = find_study(home, name)
    from deadpan.stats.bootstrap import RESAMPLES
    from deadpan.studio.results import report, study_agreement

    found = study_agreement(study, resamples=RESAMPLES, seed=seed)
    sections = report(study, resamples=RESAMPLES)
    data = {
        "agreement": {q: {k: v.as_dict() for k, v in values.items()} for q, values in found.items()},
        "report": [
            {
                "title": s.title,
                "columns": s.table.columns,
                "rows": [[_plain(c) for c in row] for row in s.table.rows],
                "note": s.note,
            }
            for s in sections
        ],
    }

    def show(out: Console) -> None:
        for question, values in found.items():
            out.print(table((question, "value"), [(key, str(value)) for key, value in values.items()]))
            out.print()
        for section in sections:
            out.print(section.title)
            out.print(table(section.table.columns, section.table.rows))
            out.print(f"{section.note}\n" if section.note else "")

    emit(as_json, data, show)


def _plain(cell: Any) -> Any:
    return cell.as_dict() if hasattr(cell, "as_dict") else cell


for _command in (invite, applicants, import_, export, release, backup, restore):
    studio.add_command(_command)
