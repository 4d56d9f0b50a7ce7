"""deadpan studio: studies with people, from the first link to the release."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.command import Command, Group
from deadpan.cli.options import PATH, limit_option, reading_options, sample_option
from deadpan.cli.studio.files import backup, export, import_, release, restore
from deadpan.cli.studio.home import about_study, actor, home_option, opens_studio
from deadpan.cli.studio.steer import COMMANDS
from deadpan.cli.terminal.output import json_option, seed_option, show

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading
    from deadpan.studio.records.sources import StudyPlan

RENAMED = {"--study": "SOURCE", "--items": "SOURCE", "--data": "--data-dir", "--context": "--turns",
           "--detector": "--model"}  # fmt: skip


@click.group(cls=Group)
def studio() -> None:
    """Studies with people: annotate, author-survey, categorise, reader-judgment, audit, pairwise, quiz."""


def _known_protocol(ctx: click.Context, parameter: click.Parameter, name: str) -> str:
    """Check the name before a studio is opened, so that a mistake leaves no folder behind."""
    from deadpan.studio.protocols import PROTOCOLS

    return PROTOCOLS.check(name)


@studio.command(cls=Command, renamed=RENAMED)
@click.argument("protocol", callback=_known_protocol)
@click.argument("source", required=False)
@click.option("--name", required=True, help="Used in its address: lowercase letters, digits, hyphens.")
@click.option("--config", type=PATH, help="A study.toml: title, language, raters, settings.")
@click.option("--title", help="Title people see at the top.")
@click.option("--raters", type=click.IntRange(1), help="People per item.")
@click.option("--qualification", type=click.IntRange(0), help="Items in the qualification round; 0: none.")
@click.option("--turns", type=click.Choice(["none", "full"]), help="reader-judgment: context turns shown.")
@click.option("--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the protocol.")
@click.option("--order", default="random", show_default=True, help="random, or informative (needs --model).")
@click.option("--model", metavar="FOLDER", help="Detector whose most informative items come first.")
@limit_option
@sample_option
@reading_options
@seed_option
@opens_studio()
def create(
    protocol: str, source: str | None, name: str, settings: Any, reading: Reading, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Create a study of one PROTOCOL.

    PROTOCOL is annotate, author-survey, categorise, reader-judgment, audit, pairwise or quiz.

    SOURCE is a corpus name, a table, a study folder, a file of items or Label Studio tasks (.json);
    for a quiz, a SarcBench set. An audit draws --sample items per label.
    """
    from deadpan.detect.detector import Detector
    from deadpan.studio.life.commands import setting
    from deadpan.studio.records.sources import described
    from deadpan.studio.records.studies import create_study, created, order_items

    own = {"qualification": options["qualification"], "context": options["turns"]}
    plan = described(
        _plan(protocol, source, reading, options["limit"], options["sample"] or 0, options["seed"]),
        protocol,
        config=options["config"],
        settings={**own, **dict(map(setting, settings))},
        title=options["title"],
        language=reading.language or None,
        raters_per_item=options["raters"],
    )
    model = Detector.load(options["model"]) if options["model"] else None
    order = order_items(plan.items, model, options["order"], options["seed"])
    show(created(create_study(name, plan.study, plan.items, actor(), order)), as_json)


def _plan(
    protocol: str, source: str | None, reading: Reading, limit: int | None, sample: int, seed: int
) -> StudyPlan:
    """Read SOURCE as the records the protocol makes items from."""
    from deadpan.studio.protocols import PROTOCOLS
    from deadpan.studio.records.sources import empty_plan, plan_from_records, read_study_source

    if not source:
        return empty_plan(protocol, seed)
    if plan := read_study_source(protocol, source, limit=limit, sample=sample, seed=seed):
        return plan
    if PROTOCOLS.load(protocol).reads == "items":
        from deadpan.bench.items.sets import open_set

        items = open_set(source)
        settings = {"set": items.label, "set_hash": items.hash}
        return plan_from_records(protocol, items.items[:limit], sample=sample, seed=seed, settings=settings)
    from deadpan.cli.terminal.progress import progress_bar
    from deadpan.datasets import read_source

    with progress_bar() as progress:
        examples = read_source(source, reading, progress).examples
    return plan_from_records(protocol, examples[:limit], sample=sample, seed=seed)


@studio.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on."
)
@click.option(
    "--allow", "hosts", multiple=True, metavar="NAME", help="A host name people use, behind a TLS proxy."
)
@click.option("--plain-http", is_flag=True, help="Send cookies without TLS: only on a network you trust.")
@click.option("--client-header", default="", help="Header with the client's address: X-Forwarded-For.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1), help="Server processes.")
@click.option("--threads", default=32, show_default=True, type=click.IntRange(1), help="Threads per process.")
@home_option
@json_option
def serve(host: str, port: int, home: Path, as_json: bool, **options: Any) -> None:
    """Serve the studio. The first start prints a link for the owner."""
    from deadpan.studio.app.server import begin, serve

    show(begin(home, host, port, **options), as_json)
    serve(home.resolve(), f"{host}:{port}", **options)


@studio.command()
@click.argument("name", required=False)
@about_study
def status(study: Any, as_json: bool) -> None:
    """Show progress, hours per person and pay owed; without NAME, for all studies."""
    from deadpan.studio.records.progress import studio_status

    show(studio_status(study, datetime.now(UTC)), as_json)


@studio.command()
@click.argument("name")
@seed_option
@about_study
def agreement(study: Any, seed: int, as_json: bool) -> None:
    """Show all coefficients for every question, with intervals, and the protocol's own report."""
    from deadpan.stats.bootstrap import RESAMPLES
    from deadpan.studio.records.labels import study_results

    show(study_results(study, resamples=RESAMPLES, seed=seed), as_json)


for _command in (*COMMANDS, import_, export, release, backup, restore):
    studio.add_command(_command)
