"""deadpan generate: sarcastic dialogues from a language model, filtered, judged by people and released."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadpan.cli.command import Group
from deadpan.cli.options import PATH, base_url_option, limit_option, max_cost_option
from deadpan.cli.terminal.output import console, json_option, show, show_conversation
from deadpan.cli.terminal.progress import progress_bar
from deadpan.generate.plan import GENERATION_STEPS

if TYPE_CHECKING:
    from deadpan.generate.folder import Draft
    from deadpan.generate.generation import CostEstimate

F = TypeVar("F", bound=Callable[..., Any])
PLAN = click.argument("plan", type=PATH, metavar="PLAN")
OUT = click.option("--out", type=PATH, help="Run folder, if not the plan's.")
RUN = click.option("--run", type=PATH, help="Run folder, if not the plan's.")
DECISIONS = {"a": "abnormal", "n": "normal", "s": "", "q": None}


@click.group(cls=Group)
def generate() -> None:
    """Sarcastic dialogues from a language model: situation, dialogue, filters, people, release.

    PLAN is a TOML file; `deadpan generate plan` writes one to start from. Without an endpoint, the embedded
    model is used: it shows that everything works, but its dialogues are poor.
    """


@generate.command("plan")
@PLAN
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--language", default="en", show_default=True, help="Language to write in, such as en or ko.")
@click.option("--model", default="", help="Language model. [default: the embedded one]")
@base_url_option
@click.option("--contrast", is_flag=True, help="Also ask for a sincere response to each dialogue.")
@click.option("--preset", default="", help="Other prompts: kocosa uses those of KoCoSa's Table 12 (Korean).")
@json_option
def plan_command(plan: Path, sources: tuple[str, ...], contrast: bool, as_json: bool, **about: str) -> None:
    """Write a plan to start from. SOURCE: files or folders of dialogues [default: examples]."""
    from deadpan.generate.plan import write_plan

    show(write_plan(plan, sources, with_contrast=contrast, **about), as_json)


@generate.command()
@click.option("--copy", "language", default="", help="Copy this language's folder as a starting point.")
@click.option("--out", type=PATH, help="Where to write the copy.")
@json_option
def prompts(language: str, out: Path | None, as_json: bool) -> None:
    """List the languages deadpan has prompts for; --copy writes a folder that you can edit."""
    from deadpan.generate.plan import list_prompts

    show(list_prompts(language, out), as_json)


@generate.command()
@PLAN
@OUT
@limit_option
@max_cost_option
@click.option("--resume", is_flag=True, help="Continue a run that was stopped or killed.")
@click.option("--dry-run", is_flag=True, help="Show what the run would cost, and stop.")
@json_option
def run(plan: Path, out: Path | None, limit: int | None, dry_run: bool, as_json: bool, **how: Any) -> None:
    """Run every step, from source dialogues to dialogues ready for people, and write the report.

    A run that was killed, or stopped by --max-cost, continues with --resume: no finished call is repeated.
    """
    from deadpan.generate.generation import estimate_cost, run_plan

    if dry_run:
        show(estimate_cost(plan, out=out, limit=limit), as_json)
        return
    with progress_bar() as progress:
        say = None if as_json else _print_cost
        result = run_plan(plan, out=out, limit=limit, progress=progress, on_estimate=say, **how)
    show(result, as_json)


def _print_cost(estimate: CostEstimate) -> None:
    if estimate.cost != 0:
        click.echo(estimate.line, err=True)


def _step_command(name: str, about: str) -> None:
    @generate.command(name, help=about)
    @PLAN
    @OUT
    @limit_option
    @max_cost_option
    @json_option
    def step(plan: Path, as_json: bool, **how: Any) -> None:
        from deadpan.generate.generation import run_step

        with progress_bar() as progress:
            result = run_step(plan, name, progress=progress, **how)
        show(result, as_json)


for _step in GENERATION_STEPS:
    if _step.name != "review":
        _step_command(_step.name, _step.about)


@generate.command()
@PLAN
@RUN
@json_option
def status(plan: Path, run: Path | None, as_json: bool) -> None:
    """Show what a run has done so far."""
    from deadpan.generate.generation import generation_status

    show(generation_status(plan, out=run), as_json)


@generate.command()
@PLAN
@RUN
@click.option("--out", type=PATH, help="Page to write. [default: report.html in the run folder]")
@json_option
def report(plan: Path, run: Path | None, out: Path | None, as_json: bool) -> None:
    """Write the page that shows whether a run is worth annotating."""
    from deadpan.generate.report import write_report

    show(write_report(plan, run=run, path=out), as_json)


@generate.command()
@PLAN
@RUN
@click.option("--out", type=PATH, help="Also draw Figure 3 (topics.svg) in this folder.")
@json_option
def tables(plan: Path, run: Path | None, out: Path | None, as_json: bool) -> None:
    """Show KoCoSa's Tables 4 to 7 and Figure 3 for a run, beside the published numbers."""
    from deadpan.generate.tables import dialogue_tables

    show(dialogue_tables(plan, run=run, out=out), as_json)


@generate.command()
@PLAN
@RUN
@click.option("--study", type=PATH, help="Write the dialogues to review to this study folder.")
@click.option("--export", type=PATH, help="Read the answers from an exported study.")
@click.option("--reviewer", "name", help="Who decides. [default: your login name]")
@json_option
def review(
    plan: Path, run: Path | None, study: Path | None, export: Path | None, name: str | None, as_json: bool
) -> None:
    """Confirm or clear what the model found abnormal: one by one on the terminal, or as a study.

    Undecided dialogues are held back; every decision is saved at once.
    """
    from deadpan.generate.people import review_run, write_review_study

    if study is not None:
        show(write_review_study(plan, study, run=run), as_json)
        return
    decide = None if as_json else _decide
    show(review_run(plan, run=run, export=export, decide=decide, name=name or getpass.getuser()), as_json)


def _decide(draft: Draft, place: int, total: int) -> str | None:
    """Show one dialogue and ask for a decision."""
    from deadpan.generate.folder import as_examples

    screen = console()
    show_conversation(screen, as_examples(draft, "")[0])
    screen.print(f"the model says: {draft.suspect}", markup=False)
    key = click.prompt(
        f"{place} of {total}: [a]bnormal, [n]ormal, [s]kip, [q]uit",
        type=click.Choice(list(DECISIONS)),
        show_choices=False,
    )
    return DECISIONS[key]


@generate.command()
@PLAN
@RUN
@click.option("--study", type=PATH, help="Write the dialogues to this study folder.")
@click.option("--raters", default=1, show_default=True, help="People per dialogue.")
@click.option("--export", type=PATH, help="Read the answers from an exported study.")
@click.option("--rewrites", type=PATH, help="rewrite.jsonl with `rewritten` filled in.")
@json_option
def people(
    plan: Path, run: Path | None, study: Path | None, raters: int, export: Path | None, rewrites: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Have people judge the dialogues: --study writes the questions, --export reads the answers.

    The answers go through KoCoSa's construction table: an abnormal context deletes the dialogue, an abnormal
    response leaves the context as a sincere dialogue, an abnormal explanation is removed and queued in
    people/rewrite.jsonl.
    """
    from deadpan.generate.people import apply_people, write_people_study

    if study is not None and export is None:
        show(write_people_study(plan, study, run=run, raters=raters), as_json)
    elif export is not None and study is None:
        show(apply_people(plan, export, run=run, rewrites=rewrites), as_json)
    else:
        raise click.UsageError("give either --study FOLDER to ask people or --export FOLDER to read answers")


@generate.command()
@PLAN
@RUN
@click.option("--out", type=PATH, required=True, help="Folder for the data set.")
@click.option("--unjudged", is_flag=True, help="Use the labels the model was asked for, unchecked by people.")
@json_option
def release(plan: Path, run: Path | None, out: Path, unjudged: bool, as_json: bool) -> None:
    """Write the data set: split 8:1:1, speakers swapped in a random half, statistics, card, manifest."""
    from deadpan.generate.release import write_release

    show(write_release(plan, out, run=run, unjudged=unjudged), as_json)


@generate.command()
@PLAN
@RUN
@click.option("--model", required=True, type=PATH, help="Folder of a trained detector.")
@click.option("--confident", default=0.8, show_default=True, help="Minimum score that counts as confident.")
@json_option
def backcheck(plan: Path, run: Path | None, model: Path, confident: float, as_json: bool) -> None:
    """Find items that are too easy: a detector is correct and confident given only the response."""
    from deadpan.detect.detector import Detector
    from deadpan.generate.backcheck import back_check

    detector = Detector.load(model)
    show(back_check(plan, detector, name=detector.system, run=run, confident=confident), as_json)
