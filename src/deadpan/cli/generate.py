"""deadpan generate: sarcastic dialogues from a language model, filtered, judged by people and released."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli import Group
from deadpan.cli.options import (
    PATH,
    base_url_option,
    comma_list,
    limit_option,
    max_cost_option,
    preset_choice,
    reading_options,
    source_argument,
)
from deadpan.cli.terminal import console, json_option, progress_bar, show, show_conversation

if TYPE_CHECKING:
    from deadpan.datasets.reading import Reading
    from deadpan.generate.folder import Draft
    from deadpan.generate.generation import CostEstimate

# Written out, because the plan's own list would load the plan, and with it the prompts, for --help.
_STEPS = ("source", "situation", "politeness", "dialogue", "filter", "abnormal", "review", "contrast")
_PLAN = click.argument("plan", type=PATH, metavar="PLAN")
_RUN = click.option("--run", type=PATH, help="Run folder, if not the plan's.")
_KEYS = {"a": "abnormal", "n": "normal", "s": "", "q": None}


@click.group(cls=Group)
def generate() -> None:
    """Sarcastic dialogues from a language model: situation, dialogue, filters, people, release.

    PLAN is a TOML file; `deadpan generate plan` writes one to start from. Without an endpoint, the embedded
    model is used: it shows that everything works, but its dialogues are poor.
    """


@generate.command("plan")
@click.argument("plan", type=PATH, required=False, metavar="PLAN")
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@click.option("--language", default="en", show_default=True, help="Language to write in, such as en or ko.")
@click.option("--llm", "model", default="", help="Language model. [default: the embedded one]")
@base_url_option
@click.option("--contrast", is_flag=True, help="Also ask for a sincere response to each dialogue.")
@preset_choice("generate run")
@click.option("--copy-prompts", type=PATH, metavar="FOLDER", help="Copy the prompts there, to change them.")
@click.option("--list-prompts", "listed", is_flag=True, help="List the languages with prompts, and stop.")
@json_option
def plan_command(
    plan: Path | None, sources: tuple[str, ...], contrast: bool, listed: bool, as_json: bool, **about: Any
) -> None:
    """Write a plan to start from. SOURCE: files or folders of dialogues [default: examples]."""
    from deadpan.generate.plan import list_prompts, write_plan

    if listed:
        show(list_prompts(), as_json)
        return
    if plan is None:
        raise click.UsageError("Missing argument 'PLAN'.")
    about["preset"] = about["preset"] or ""
    show(write_plan(plan, sources, with_contrast=contrast, **about), as_json)


@generate.command("run")
@_PLAN
@click.option("--out", type=PATH, help="Run folder, if not the plan's.")
@limit_option
@max_cost_option
@click.option("--until", type=click.Choice(_STEPS), metavar="STEP", help="Stop after this step.")
@click.option("--only", type=click.Choice((*_STEPS, "backcheck")), metavar="STEP", help="Run this step alone.")
@click.option("--resume", is_flag=True, help="Continue a run that was stopped or killed.")
@click.option("--dry-run", is_flag=True, help="Show what the run would cost, and stop.")
@click.option("--status", is_flag=True, help="Show what the run has done so far, and stop.")
@click.option("--detector", type=PATH, help="backcheck: folder of a trained detector.")
@click.option("--confident", default=0.8, show_default=True, help="backcheck: minimum score of confidence.")
@preset_choice("generate run")
@json_option
def run_command(
    plan: Path, out: Path | None, limit: int | None, only: str | None, until: str | None, dry_run: bool,
    status: bool, detector: Path | None, confident: float, preset: str | None, as_json: bool,
    max_cost: float | None, resume: bool,
) -> None:  # fmt: skip
    """Run the steps, from source dialogues to dialogues ready for people, and write the report.

    The steps: source, situation, politeness, dialogue, filter, abnormal, review, contrast. A run that was
    killed, or stopped by --max-cost, continues with --resume: no finished call is repeated. --only backcheck
    finds items that are too easy: a --detector is correct and confident given only the response.
    """
    from deadpan.generate.generation import estimate_cost, generation_status, run_only, run_plan
    from deadpan.generate.plan import open_plan

    if status:
        show(generation_status(plan, out=out), as_json)
        return
    opened = open_plan(plan, out, preset)
    if only == "backcheck":
        from deadpan.detect.detector import Detector
        from deadpan.generate.backcheck import back_check

        if detector is None:
            raise click.UsageError("--only backcheck needs --detector FOLDER")
        judge = Detector.load(detector)
        show(back_check(plan, judge, name=judge.system, run=out, confident=confident), as_json)
    elif dry_run:
        show(estimate_cost(opened, limit=limit), as_json)
    elif only:
        with progress_bar() as progress:
            step = run_only(opened, only, limit=limit, max_cost=max_cost, progress=progress)
        show(step, as_json)
    else:
        say = None if as_json else _print_cost
        with progress_bar() as progress:
            result = run_plan(opened, limit=limit, max_cost=max_cost, resume=resume, until=until,
                              progress=progress, on_estimate=say)  # fmt: skip
        show(result, as_json)


def _print_cost(estimate: CostEstimate) -> None:
    if estimate.cost != 0:
        click.echo(estimate.line, err=True)


@generate.command("report")
@_PLAN
@_RUN
@click.option("--out", type=PATH, help="Page to write. [default: report.html in the run folder]")
@click.option("--tables", is_flag=True, help="Also show KoCoSa's Tables 4 to 7; Figure 3 becomes topics.svg.")
@json_option
def report_command(plan: Path, run: Path | None, out: Path | None, tables: bool, as_json: bool) -> None:
    """Write the page that shows whether a run is worth annotating."""
    from deadpan.generate.report import write_report

    show(write_report(plan, run=run, path=out, with_tables=tables), as_json)


@generate.command("review")
@_PLAN
@_RUN
@click.option("--study", type=PATH, help="Write the dialogues to review to this study folder.")
@click.option("--export", type=PATH, help="Read the answers from an exported study.")
@click.option("--reviewer", "name", help="Who decides. [default: your login name]")
@json_option
def review_command(
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
        f"{place} of {total}: [a]bnormal, [n]ormal, [s]kip, [q]uit", type=click.Choice(list(_KEYS)), show_choices=False
    )
    return _KEYS[key]


@generate.command("people")
@_PLAN
@_RUN
@click.option("--study", type=PATH, help="Write the dialogues to this study folder.")
@click.option("--raters", default=1, show_default=True, help="People per dialogue.")
@click.option("--export", type=PATH, help="Read the answers from an exported study.")
@click.option("--rewrites", type=PATH, help="rewrite.jsonl with `rewritten` filled in.")
@json_option
def people_command(
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


@generate.command("release")
@_PLAN
@_RUN
@click.option("--out", type=PATH, required=True, help="Folder for the data set.")
@click.option("--unjudged", is_flag=True, help="Use the labels the model was asked for, unchecked by people.")
@click.option("--organic", metavar="A,B", help="Corpora of what people said, which the dialogues are compared with.")
@reading_options
@json_option
def release_command(
    plan: Path, run: Path | None, out: Path, unjudged: bool, organic: str | None, reading: Reading, as_json: bool
) -> None:
    """Write the data set: split 8:1:1, speakers swapped in a random half, statistics, card, manifest.

    With --organic the card says how well a probe tells the dialogues from what people said, and what a detector
    trained on them is worth there.
    """
    from deadpan.datasets import read_source
    from deadpan.detect.studies.origin import study_origin
    from deadpan.generate.release import write_release

    corpora = {name: read_source(name, reading).examples for name in comma_list(organic or "")}
    show(write_release(plan, out, run=run, unjudged=unjudged, organic=corpora, study=study_origin), as_json)


@generate.command("rephrase")
@source_argument
@click.option(
    "--to", type=click.Choice(["plain", "sarcastic"]), default="plain", show_default=True, help="What to write."
)
@click.option("--llm", "model", default="", help="Language model. [default: the embedded one]")
@base_url_option
@max_cost_option
@click.option("--detector", metavar="FOLDER", help="Detector that scores each text before and after.")
@limit_option
@click.option("--out", type=PATH, required=True, help="Folder to write.")
@reading_options
@json_option
def rephrase_command(
    source: str, to: Any, model: str, base_url: str, max_cost: float | None, detector: str | None, limit: int | None,
    out: Path, reading: Reading, as_json: bool,
) -> None:  # fmt: skip
    """Rephrase sarcastic texts plainly, or plain ones sarcastically, and score them against their authors'.

    SOURCE has rephrases: isarcasm_eval, the starter set, or the gated release of an author-survey. The score is chrF.
    """
    from deadpan.datasets import read_source
    from deadpan.detect.detector import Detector
    from deadpan.generate.rephrase import rephrase
    from deadpan.llm import LLMSettings, default_model

    settings = LLMSettings(
        model=model or default_model(), base_url=base_url, max_cost=max_cost, temperature=0.0, max_tokens=200
    )
    judge = Detector.load(detector).predictor if detector else None
    with progress_bar() as progress:
        examples = read_source(source, reading, progress).examples
        result = rephrase(examples, out, to=to, settings=settings, detector=judge, limit=limit, progress=progress)
    show(result, as_json)
