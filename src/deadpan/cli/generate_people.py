"""deadpan generate, the part with people: review, study, construction table, release, back-check."""

from __future__ import annotations

import getpass
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deadpan.cli.output import console, emit, json_option, show_conversation, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.generate.draft import Draft
    from deadpan.records import Judgment

PLAN = click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN")
RUN = click.option("--out", type=click.Path(path_type=Path), help="Another run folder than the plan's.")
KEYS = {"a": "abnormal", "n": "normal"}


@click.command()
@PLAN
@RUN
@click.option("--study", type=click.Path(path_type=Path), help="Write the queue as a study folder here.")
@click.option("--export", type=click.Path(path_type=Path), help="Take the answers of an exported study.")
@click.option("--name", help="Who decides [default: your login name].")
@json_option
def review(
    plan: Path, out: Path | None, study: Path | None, export: Path | None, name: str | None, as_json: bool
) -> None:
    """Confirm or clear what the model found abnormal: here, one by one, or as a study.

    What nobody has decided on is held back; every decision is kept the moment it is made.
    """
    from deadpan.generate.review import (
        apply_review,
        decide,
        read_review_export,
        waiting,
        write_review_study,
    )
    from deadpan.generate.session import open_plan, open_run

    with open_run(open_plan(plan, out)) as pipeline:
        run = pipeline.run
        decided = 0
        if study is not None:
            written = write_review_study(run, study, pipeline.language.code, pipeline.plan.seed)
            emit(
                as_json,
                {"study": str(study), "items": written},
                lambda s: s.print(f"{written:,} items: {study}"),
            )
            return
        if export is not None:
            decided = read_review_export(run, export)
        elif not as_json:
            decided = decide(run, _decisions(list(waiting(run)), name or getpass.getuser()))
        step = apply_review(run, pipeline.plan.seed)
        data = {
            "decided": decided,
            "waiting": sum(1 for _ in waiting(run)),
            "kept": step.counts.kept,
            "drops": dict(step.tally.drops),
        }
    emit(
        as_json,
        data,
        lambda s: s.print(
            f"{decided:,} decided, {data['waiting']:,} still wait; {data['kept']:,} dialogues go on"
        ),
    )


def _decisions(queue: list[Draft], who: str) -> Iterator[Judgment]:
    """Ask about one dialogue after another; q leaves the rest for another time."""
    from deadpan.generate.draft import as_examples
    from deadpan.records import Judgment

    screen = console()
    for place, draft in enumerate(queue, 1):
        for example in as_examples(draft, "")[:1]:
            show_conversation(screen, example)
        screen.print(f"the model finds: {draft.suspect}", markup=False)
        began = time.monotonic()
        key = click.prompt(
            f"{place} of {len(queue)}: [a]bnormal, [n]ormal, [s]kip, [q]uit",
            type=click.Choice(["a", "n", "s", "q"]),
            show_choices=False,
        )
        if key == "q":
            return
        if key in KEYS:
            seconds = round(time.monotonic() - began, 1)
            yield Judgment(
                draft.id, who, "context", KEYS[key], seconds, datetime.now(UTC).isoformat("T", "seconds")
            )


@click.command()
@PLAN
@RUN
@click.option("--study", type=click.Path(path_type=Path), help="Write the dialogues as a study folder here.")
@click.option("--raters", default=1, show_default=True, help="People per dialogue.")
@click.option("--export", type=click.Path(path_type=Path), help="Read the answers of an exported study.")
@click.option("--rewrites", type=click.Path(path_type=Path), help="rewrite.jsonl with `rewritten` filled in.")
@json_option
def people(
    plan: Path,
    out: Path | None,
    study: Path | None,
    raters: int,
    export: Path | None,
    rewrites: Path | None,
    as_json: bool,
) -> None:
    """Have people judge the dialogues: --study writes the questions, --export reads the answers.

    The answers go through the construction table: an abnormal context is deleted, an abnormal response leaves
    the context as a sincere dialogue, an abnormal explanation is blanked and queued in people/rewrite.jsonl.
    """
    from deadpan.errors import ConfigError
    from deadpan.generate.folder import RunFolder
    from deadpan.generate.people import apply_people, write_people_study
    from deadpan.generate.session import open_plan

    if (study is None) == (export is None):
        raise ConfigError("say --study FOLDER to ask people, or --export FOLDER to read what they answered")
    opened = open_plan(plan, out)
    run = RunFolder(opened.out)
    language = opened.open_language()
    if study is not None:
        title = opened.release.title or f"Sarcastic dialogues, {language.facts.name}"
        n = write_people_study(
            run, study, title=title, language=language.code, seed=opened.seed, raters=raters
        )
        emit(
            as_json,
            {"study": str(study), "items": n},
            lambda s: s.print(f"{n:,} dialogues to judge: {study}"),
        )
        return
    assert export is not None
    with run.alone():
        data = apply_people(run, export, language.code, rewrites=rewrites)

    def show(screen: Console) -> None:
        rows = [("judged", data["judged"]), ("examples", data["examples"]), ("to rewrite", data["rewrite"])]
        rows += [(f"dropped: {reason}", n) for reason, n in data["drops"].items()]
        rows += [(reason, n) for reason, n in data["changes"].items()]
        screen.print(table(("what", "n"), [(what, f"{n:,}") for what, n in rows], numbers=("n",)))
        screen.print(f"the examples: {run.root / 'people'}", soft_wrap=True)

    emit(as_json, data, show)


@click.command()
@PLAN
@RUN
@click.option("--to", required=True, type=click.Path(path_type=Path), help="The data set's folder.")
@click.option("--unjudged", is_flag=True, help="Take the labels the model was asked for; no person saw them.")
@json_option
def release(plan: Path, out: Path | None, to: Path, unjudged: bool, as_json: bool) -> None:
    """Write the data set: 8:1:1, speakers swapped on a seeded half, statistics, card, Croissant, manifest."""
    from deadpan.fields import encode
    from deadpan.generate.folder import RunFolder
    from deadpan.generate.release import write_release
    from deadpan.generate.session import open_plan

    opened = open_plan(plan, out)
    found = write_release(opened, RunFolder(opened.out), opened.open_language(), to, unjudged=unjudged)

    def show(screen: Console) -> None:
        screen.print(table(("what", "value"), found.rows(), numbers=("value",)))
        topics = ", ".join(f"{topic} {n:,}" for topic, n in list(found.topics.items())[:8])
        screen.print(f"topics: {topics}")
        screen.print(f"the data set: {to}", soft_wrap=True)

    emit(as_json, encode(found), show)


@click.command()
@PLAN
@RUN
@click.option(
    "--detector", required=True, type=click.Path(path_type=Path), help="Folder of a trained detector."
)
@click.option("--sure", default=0.8, show_default=True, help="Score from which the detector is sure.")
@json_option
def backcheck(plan: Path, out: Path | None, detector: Path, sure: float, as_json: bool) -> None:
    """Which generated items a trained detector finds too easy: right, and sure, from the response alone."""
    from deadpan.detect.detector import Detector
    from deadpan.fields import encode
    from deadpan.generate.backcheck import back_check
    from deadpan.generate.folder import RunFolder
    from deadpan.generate.session import open_plan

    opened = open_plan(plan, out)
    loaded = Detector.load(detector)
    found = back_check(RunFolder(opened.out), loaded, loaded.system, opened.language, sure)
    rows = [
        ("too easy", str(found.easy)),
        ("right without context", str(found.right_alone)),
        ("right with context", str(found.right_with_context)),
    ]

    def show(screen: Console) -> None:
        screen.print(table((f"of {found.n:,} items", "share"), rows))
        screen.print(f"item by item: {opened.out / 'backcheck' / 'items.jsonl'}", soft_wrap=True)

    emit(as_json, encode(found), show)


COMMANDS = (review, people, release, backcheck)
