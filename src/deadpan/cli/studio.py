"""deadpan studio: studies with people, from the first link to the release."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.arguments import parse_pair
from deadpan.cli import Group
from deadpan.cli.options import PATH, limit_option, preset_choice, published, reading_options, sample_option
from deadpan.cli.terminal import json_option, seed_option, show
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading
    from deadpan.studio.records.sources import StudyPlan

_home_option = click.option(
    "--home", default="studio", envvar="DEADPAN_STUDIO", show_default=True, type=PATH,
    help="Folder of the studio [env: DEADPAN_STUDIO]. The database is in it, or at DATABASE_URL.",
)  # fmt: skip
_site_option = click.option("--site", default="", help="Address of the studio. [default: where it was served last]")
_settings_option = click.option(
    "--setting", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the protocol."
)


def _opens_studio(existing: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --home and --json, and open the studio before the command runs; `existing`: make no new one."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def opened(home: Path, **options: Any) -> Any:
            from deadpan.studio.app.database import open_studio

            open_studio(home, existing=existing)
            return command(**options)

        return _home_option(json_option(opened))

    return decorate


def _about_study(command: Callable[..., Any]) -> Callable[..., Any]:
    """Open the studio; the command gets the stored study of its argument NAME as `study`."""

    @wraps(command)
    def found(name: str | None, **options: Any) -> Any:
        from deadpan.studio.records.studies import find_study

        return command(study=find_study(name) if name else None, **options)

    return _opens_studio(existing=True)(found)


def _actor() -> str:
    """Return who runs the command, for the audit log."""
    return f"cli:{os.environ.get('USER', 'unknown')}"


@click.group(cls=Group)
def studio() -> None:
    """Studies with people: annotation, surveys, judgments, audits and quizzes, in the browser."""


def _known_protocol(ctx: click.Context, parameter: click.Parameter, name: str) -> str:
    """Check the name before a studio is opened, so that a mistake leaves no folder behind."""
    from deadpan.studio.protocols import PROTOCOLS

    return PROTOCOLS.check(name)


@studio.command()
@click.argument("protocol", callback=_known_protocol)
@click.argument("source", required=False)
@click.option("--name", required=True, help="Used in its address: lowercase letters, digits, hyphens.")
@click.option("--config", type=PATH, help="study.toml, or custom questions: Label Studio .xml, Potato .yaml.")
@click.option("--title", help="Title people see at the top.")
@click.option("--raters", type=click.IntRange(1), help="People per item.")
@click.option("--qualification", type=click.IntRange(0), help="Items in the qualification round; 0: none.")
@click.option("--turns", type=click.Choice(["none", "full"]), help="reader-judgment: context turns shown.")
@_settings_option
@preset_choice("studio create")
@click.option("--label", type=click.Choice(["sarcastic", "sincere"]), help="Only the examples with this label.")
@click.option("--order", default="random", show_default=True, help="random, or informative (needs --detector).")
@click.option("--detector", metavar="FOLDER", help="Detector whose most informative items come first.")
@click.option("--open", "opened", is_flag=True, help="Open it at once; a study starts as a draft.")
@limit_option
@sample_option
@reading_options
@seed_option
@_opens_studio()
def create(
    protocol: str, source: str | None, name: str, settings: Any, reading: Reading, preset: str | None,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Create a study of one PROTOCOL.

    PROTOCOL is annotate, author-survey, categorise, reader-judgment, audit, pairwise, quiz, or custom
    for questions of your own (in --config study.toml, or built in the browser).
    SOURCE is a corpus name, a table, a study folder, a file of items or Label Studio tasks (.json);
    for a quiz, a SarcBench set. An audit draws --sample items per label.
    """
    from deadpan.detect.detector import Detector
    from deadpan.studio.records.sources import apply_options
    from deadpan.studio.records.studies import create_study, created_result, order_items

    given = dict(parse_pair(word, "--setting", "--setting rate=12.5") for word in settings)
    own = {"qualification": options["qualification"], "context": options["turns"], **given}
    if preset:
        own, options["raters"] = _published_study(preset, protocol, own, given, options["raters"])
    limits = options["limit"], options["sample"] or 0, options["seed"]
    plan = _plan(protocol, source, reading, options["label"], *limits)
    changes = {"title": options["title"], "language": reading.language or None, "raters_per_item": options["raters"]}
    plan = apply_options(plan, protocol, config=options["config"], settings=own, **changes)
    detector = Detector.load(options["detector"]) if options["detector"] else None
    order = order_items(plan.items, detector, options["order"], options["seed"])
    if options["opened"] and not plan.study.settings.get("contact"):
        raise ConfigError("an open study needs a contact that people can ask: add --setting contact=WHO")
    study = create_study(name, plan.study, plan.items, _actor(), order, draft=not options["opened"])
    show(created_result(study), as_json)


def _published_study(
    preset: str, protocol: str, own: dict[str, Any], given: dict[str, Any], raters: int | None
) -> tuple[dict[str, Any], int | None]:
    """Return the settings and the people per item that a paper's study had."""
    from deadpan.presets import with_preset

    part = f"studio create {protocol}"
    with_preset(preset, part, given, given, "--setting {}".format)
    merged = published(preset, part, {"raters": raters, **own})
    return {name: value for name, value in merged.items() if name != "raters"}, merged.get("raters", raters)


def _plan(
    protocol: str, source: str | None, reading: Reading, label: str | None, limit: int | None, sample: int, seed: int
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
    from deadpan.cli.terminal import progress_bar
    from deadpan.datasets import read_source

    with progress_bar() as progress:
        examples = read_source(source, reading, progress).examples
    if label:
        examples = [example for example in examples if example.label is (label == "sarcastic")]
    return plan_from_records(protocol, examples[:limit], sample=sample, seed=seed)


@studio.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--allow", "hosts", multiple=True, metavar="NAME", help="A host name people use, behind a TLS proxy.")
@click.option("--plain-http", is_flag=True, help="Send cookies without TLS: only on a network you trust.")
@click.option("--client-header", default="", help="Header with the client's address: X-Forwarded-For.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1), help="Server processes.")
@click.option("--threads", default=32, show_default=True, type=click.IntRange(1), help="Threads per process.")
@_home_option
@json_option
def serve_pages(host: str, port: int, home: Path, as_json: bool, **options: Any) -> None:
    """Serve the studio. The first start prints a link for the owner."""
    from deadpan.studio.app.server import prepare_server, serve_studio

    show(prepare_server(home, host, port, **options), as_json)
    serve_studio(home.resolve(), f"{host}:{port}", **options)


@studio.command()
@click.argument("name")
@click.option("--role", default="annotator", show_default=True, help="What they may do.",
              type=click.Choice(("annotator", "adjudicator", "participant", "owner")))  # fmt: skip
@click.option("--uses", default=1, type=click.IntRange(1, 10_000), help="Number of people it admits.")
@click.option("--days", default=30, type=click.IntRange(1, 365), help="Days until it expires.")
@click.option("--group", default="", help="A group of people, for the setting per_group.")
@_site_option
@_about_study
def invite(study: Any, role: str, site: str, as_json: bool, **options: Any) -> None:
    """Create a link that lets people into a study. It is shown once."""
    from deadpan.studio.app.server import last_address
    from deadpan.studio.people.admission import invite_link

    now = datetime.now(UTC)
    show(invite_link(study, role, now=now, actor=_actor(), site=site or last_address(), **options), as_json)


@studio.command()
@click.argument("name", required=False)
@click.option("--remove", metavar="PSEUDONYM", help="Remove a member; their answers stay.")
@click.option("--restore", metavar="PSEUDONYM", help="Restore a member.")
@click.option("--revoke", type=int, metavar="INVITE", help="End an invitation.")
@click.option("--applicants", is_flag=True, help="Show how applicants did in the qualification round.")
@click.option("--admit", multiple=True, metavar="PSEUDONYM", help="Admit this applicant.")
@click.option("--refuse", multiple=True, metavar="PSEUDONYM", help="Refuse this applicant.")
@click.option("--admit-proposed", is_flag=True, help="Admit everyone the table of applicants proposes.")
@click.option("--reset-password", metavar="ACCOUNT", help="Print a link to set a new password, the owner's too.")
@_site_option
@_about_study
def members(
    study: Any, as_json: bool, applicants: bool, reset_password: str | None, site: str,
    remove: str | None, restore: str | None, revoke: int | None, **decisions: Any,
) -> None:  # fmt: skip
    """List members and invitations of a study, or its applicants, and decide about them.

    --reset-password is about an account and needs no NAME.
    """
    from deadpan.studio.app.server import last_address
    from deadpan.studio.people.admission import decide_applicants
    from deadpan.studio.records.steering import change_members, reset_link

    now = datetime.now(UTC)
    if reset_password:
        show(reset_link(reset_password, site or last_address(), now, _actor()), as_json)
        return
    if study is None:
        raise ConfigError("name a study: deadpan studio members NAME")
    if applicants or any(decisions.values()):
        show(decide_applicants(study, **decisions, actor=_actor()), as_json)
        return
    show(change_members(study, _actor(), now, remove, restore, revoke), as_json)


@studio.command("set")
@click.argument("name")
@_settings_option
@click.option("--title", default="", help="Title people see at the top.")
@click.option("--stage", type=click.Choice(["open", "paused", "closed"]), help="New stage.")
@click.option("--raters", type=click.IntRange(1), help="People per item: more than before.")
@click.option("--add-items", type=click.Path(path_type=Path, exists=True), metavar="FILE",
              help="Add the items of a table, an item file or Label Studio tasks.")  # fmt: skip
@_about_study
def set_(study: Any, settings: Any, add_items: Path | None, as_json: bool, **changes: Any) -> None:
    """Change a study while it runs: settings, title, items; open, pause or close it."""
    from deadpan.studio.records import steering
    from deadpan.studio.records.sources import file_items

    if add_items:
        if settings or any(changes.values()):
            raise ConfigError("--add-items changes the items only: give other changes by themselves")
        show(steering.add_items(study, file_items(add_items, study.protocol), _actor()), as_json)
        return
    given = dict(parse_pair(word, "--setting", "--setting rate=12.5") for word in settings)
    show(steering.change_study(study, given, _actor(), **changes), as_json)


@studio.command("status")
@click.argument("name", required=False)
@click.option("--agreement", is_flag=True, help="Show all coefficients, and the protocol's own report.")
@click.option("--log", is_flag=True, help="Show what the study leaders did, latest first.")
@seed_option
@_about_study
def show_status(study: Any, agreement: bool, log: bool, seed: int, as_json: bool) -> None:
    """Show progress, hours per person and pay owed; without NAME, for all studies."""
    if agreement and log:
        raise ConfigError("choose --agreement or --log")
    if (agreement or log) and study is None:
        raise ConfigError("name a study: deadpan studio status NAME")
    if agreement:
        from deadpan.stats.interval import RESAMPLES
        from deadpan.studio.records.labels import study_results

        show(study_results(study, resamples=RESAMPLES, seed=seed), as_json)
    elif log:
        from deadpan.studio.records.steering import audit_log

        show(audit_log(study), as_json)
    else:
        from deadpan.studio.records.progress import studio_status

        show(studio_status(study, datetime.now(UTC)), as_json)


@studio.command("import")
@click.argument("name")
@click.argument("file", type=PATH, required=False)
@click.option("--dry-run", is_flag=True, help="Show what would be added, and change nothing.")
@click.option("--list", "listed", is_flag=True, help="List the imports of the study.")
@click.option("--remove", type=int, metavar="IMPORT", help="Remove an import with everything it added.")
@click.option("--model", metavar="NAME", help="FILE is what a model answers: kept beside the people, never a vote.")
@click.option("--detector", metavar="FOLDER", help="Attach what a detector answers, its phrases as suggested marks.")
@_about_study
def import_(
    study: Any, file: Path | None, dry_run: bool, listed: bool, remove: int | None, model: str | None,
    detector: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Add labels made elsewhere: Judgments (.jsonl, .parquet) or a Label Studio export (.json)."""
    from deadpan.studio.records.imports import attach_model, detector_answers, import_file, remove_import, study_imports

    if sum((file is not None, listed, remove is not None, detector is not None)) != 1:
        raise ConfigError("name a FILE to import, or give --detector, --list or --remove IMPORT")
    if detector:
        from deadpan.detect.detector import Detector

        model = model or detector
        show(
            attach_model(study, detector_answers(study, Detector.load(detector).explain, model), model, _actor()),
            as_json,
        )
    elif file is not None and model:
        show(attach_model(study, file, model, _actor()), as_json)
    elif file is not None:
        show(import_file(study, file, _actor(), dry_run=dry_run), as_json)
    elif remove is not None:
        show(remove_import(study, remove, _actor(), datetime.now(UTC)), as_json)
    else:
        show(study_imports(study), as_json)


@studio.command("export")
@click.argument("name")
@click.option("--out", required=True, type=PATH, help="Folder to write; a file with --label-studio and --questions.")
@click.option("--csv", is_flag=True, help="Also write CSV files.")
@click.option("--parquet", is_flag=True, help="Also write Parquet files.")
@click.option("--label-studio", is_flag=True, help="Write one JSON file in Label Studio's format instead.")
@click.option("--questions", is_flag=True, help="Write a custom study's questions: .toml, .xml or .yaml.")
@click.option("--with-qualification", is_flag=True, help="Include the qualification round in the judgments.")
@_about_study
def export_answers(
    study: Any, out: Path, label_studio: bool, questions: bool, with_qualification: bool, as_json: bool, **also: bool
) -> None:
    """Write every judgment, and the labels by majority, Dawid-Skene and adjudication.

    --questions writes the questions instead, as study.toml, for Label Studio (.xml) or Potato (.yaml).
    """
    from deadpan.studio.records.export import export_study
    from deadpan.studio.records.labelstudio import write_tasks

    if questions:
        from deadpan.studio.records.questions import write_questions

        show(write_questions(study, out), as_json)
    elif label_studio:
        show(write_tasks(study, out), as_json)
    else:
        show(export_study(study, out, qualification=with_qualification, **also), as_json)


@studio.command("release")
@click.argument("name")
@click.option("--out", required=True, type=PATH, help="A new folder.")
@click.option("--mode", default="ids", show_default=True, type=click.Choice(["ids", "gated"]),
              help="Ids only, or texts with gated access.")  # fmt: skip
@click.option("--version", default="1.0.0", show_default=True, help="Version of the release.")
@click.option("--licence", default="not decided", show_default=True, help="Licence, such as CC-BY-4.0.")
@click.option("--citation", default="not yet published", show_default=True, help="How to cite it.")
@click.option("--rater-names", "raters", default="auto", show_default=True,
              type=click.Choice(["auto", "same", "per-item"]),
              help="Give each rater one name for all items, or one per item.")  # fmt: skip
@click.option("--keep-column", "columns", multiple=True, metavar="NAME", help="Keep this column of the source.")
@click.option("--categories", metavar="STUDY", help="A survey: join a linguist's categories, as iSarcasm's release.")
@_about_study
def release_dataset(
    study: Any, out: Path, mode: Any, raters: Any, columns: tuple[str, ...], categories: str | None, as_json: bool,
    **facts: str,
) -> None:  # fmt: skip
    """Write a folder to publish: ids or gated text, card, Croissant; withdrawals applied, new pseudonyms."""
    from deadpan.studio.records.release import release_facts, release_study
    from deadpan.studio.records.studies import find_study

    card = release_facts(study, mode, published=datetime.now(UTC).date(), **facts)
    more = {"raters": raters, "columns": columns, "linguist": find_study(categories) if categories else None}
    show(release_study(study, out, card, mode, actor=_actor(), **more), as_json)


@studio.command()
@click.option("--out", required=True, type=PATH, help="File to write, such as studio.jsonl.gz.")
@_opens_studio(existing=True)
def backup(out: Path, as_json: bool) -> None:
    """Write the whole studio to one file; people can keep working."""
    from deadpan.studio.records.backup import back_up

    show(back_up(out), as_json)


@studio.command()
@click.argument("file", type=PATH)
@click.option("--tombstones", type=PATH, help="Folder of the old studio: keeps people who withdrew erased.")
@click.option("--accept", is_flag=True, help="Restore without the list of those who withdrew since the backup.")
@_opens_studio()
def restore(file: Path, tombstones: Path | None, accept: bool, as_json: bool) -> None:
    """Read a backup into an empty studio, on SQLite or PostgreSQL."""
    from deadpan.studio.records.backup import restore_backup

    show(restore_backup(file, tombstones, accept=accept), as_json)
