"""deadpan bench: SarcBench."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.bench import DEFAULT_SET
from deadpan.cli import Group
from deadpan.cli.llm import NumberOrNone, sampling_options
from deadpan.cli.options import (
    PATH,
    base_url_option,
    joined,
    key_env_option,
    limit_option,
    max_cost_option,
    out_option,
    preset_option,
    reading_options,
    refuse_with,
    sample_option,
)
from deadpan.cli.terminal import json_option, live, seed_option, show
from deadpan.errors import ConfigError

if TYPE_CHECKING:
    from deadpan.datasets import Reading

set_argument = click.argument("items", metavar="SET", default=DEFAULT_SET)
set_option = click.option("--set", "items", default=DEFAULT_SET, show_default=True, help="The set of items.")
runs_argument = click.argument("folders", nargs=-1, type=PATH, metavar="[RUNS...]")


def ask_passphrase(new: bool = False) -> str:
    """Ask for the passphrase of a sealed set, without echo; a new one twice."""
    if not sys.stdin.isatty():
        raise ConfigError("no terminal to ask for the passphrase: set DEADPAN_BENCH_PASSPHRASE")
    return str(click.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True))


@click.group(cls=Group)
def bench() -> None:
    """SarcBench: ask any model what a speaker means, and compare the answers.

    A SET is a name of `deadpan bench sets`, a .jsonl or .toml file, or a sealed file.
    """


@bench.command("sets")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of an item instead.")
@json_option
def sets_(schema: bool, as_json: bool) -> None:
    """List the sets that come with the package."""
    from deadpan.bench.items.item import item_schema
    from deadpan.bench.items.sets import list_sets

    if schema:
        click.echo(json.dumps(item_schema(), indent=1))
    else:
        show(list_sets(), as_json)


@bench.command("check")
@click.argument("items", metavar="[SET]", required=False)
@click.option("--audit/--no-audit", default=True, help="Whether to test what can be guessed.")
@click.option("--submission", type=PATH, help="Check this run folder instead; SET is the set that was asked.")
@click.option("--out", type=PATH, help="Write audit.svg and audit.png into this folder.")
@seed_option
@json_option
def check_command(
    items: str | None, audit: bool, submission: Path | None, out: Path | None, seed: int, as_json: bool
) -> int:
    """Check a SET: items, pairs and balance, and whether answers can be guessed. Exit 1 if anything is wrong.

    Classifiers that see only the options, or only the options and the remark, are cross-validated with whole
    families held out; simple rules look at length, words, cues and positions.

    With --submission, a run folder sent in for the leaderboard is checked row by row against its set.
    """
    if submission is not None:
        from deadpan.bench.runs.submission import check_submission

        return show(check_submission(submission, items, ask=ask_passphrase), as_json)
    from deadpan.bench.items.check import check_set

    result = check_set(items or DEFAULT_SET, audit=audit, seed=seed, plot=out, ask=ask_passphrase)
    return show(result, as_json, failed=not result.passed)


@bench.command()
@click.argument("drafts", metavar="DRAFTS")
@click.option("--llm", "models", multiple=True, help="A model to ask first; repeat for several.")
@click.option("--run", "folders", multiple=True, type=PATH, help="A run of the drafts; repeat for several.")
@click.option("--answers", type=PATH, help="People's answers: a studio export or a CSV.")
@out_option
@seed_option
@json_option
def harden(drafts: str, as_json: bool, **options: Any) -> int:
    """Judge DRAFTS by checks, a panel of runs and people: kept, revise, dropped. Exit 1 if not releasable.

    Without --llm and --run, the panel is the recorded runs of a set that comes with the package.
    """
    from deadpan.bench.hardening import harden_set

    with live() as watch:
        result = harden_set(drafts, ask=ask_passphrase, watch=watch, **options)
    return show(result, as_json, failed=result.obstacles)


@bench.group()
def private() -> None:
    """Keep a set secret: seal, open and retire it."""


@private.command("seal")
@set_argument
@out_option
@click.option("--kind", type=click.Choice(["private", "reserve"]), default="private", show_default=True,
              help="What the set is for.")  # fmt: skip
@json_option
def seal_command(items: str, out: Path, kind: Any, as_json: bool) -> None:
    """Encrypt a SET with a passphrase, from a prompt or from DEADPAN_BENCH_PASSPHRASE."""
    from deadpan.bench.items.sets import seal_set

    new = partial(ask_passphrase, new=True)
    show(seal_set(items, out, visibility=kind, ask=ask_passphrase, ask_new=new), as_json)


@private.command("open")
@click.argument("sealed", type=PATH)
@out_option
@json_option
def open_(sealed: Path, out: Path, as_json: bool) -> None:
    """Decrypt a sealed set to a .jsonl file; an existing file is never overwritten."""
    from deadpan.bench.items.sets import open_sealed

    show(open_sealed(sealed, out, ask=ask_passphrase), as_json)


@private.command()
@click.argument("sealed", type=PATH)
@click.option("--version", required=True, help="The public version, such as 0.4.0.")
@click.option("--next", "following", nargs=2, type=PATH, help="A sealed reserve, and the file to seal it to.")
@out_option
@json_option
def retire(sealed: Path, as_json: bool, **options: Any) -> None:
    """Publish a sealed set under a version; a reserve may become the next private set."""
    from deadpan.bench.items.sets import retire_set

    show(retire_set(sealed, ask=ask_passphrase, **options), as_json)


run_options = joined(
    set_option,
    click.option("--runs", default=5, show_default=True, help="How many times each item is asked."),
    limit_option,
    sample_option,
    sampling_options(temperature=0.7, top_p=0.95),
    click.option("--max-tokens", default=128, show_default=True, help="Initial token limit of an answer."),
    click.option("--escalate/--no-escalate", default=True, help="Retry cut-off answers with a larger limit."),
    base_url_option,
    key_env_option,
    click.option("--concurrency", default=8, show_default=True, help="Concurrent requests per model."),
    click.option("--retries", default=5, show_default=True, help="Retries of a failed request."),
    click.option("--batch", is_flag=True, help="Use the batch interface of OpenAI or Anthropic, at half the price."),
    click.option("--timeout", type=float, help="Seconds per attempt. [default: 120, more for large limits]"),
    max_cost_option,
    click.option("--price", type=(str, float, float), multiple=True, metavar="MODEL IN OUT",
                 help="US dollars per million input and output tokens of a model; repeatable."),
    seed_option,
)  # fmt: skip
"""Options of every command that asks models."""


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Rename what the command line calls otherwise than the library."""
    own = {name: value for name, value in options.items() if name not in ("items", "price")}
    return {
        **own,
        "set": options["items"],
        "price": {model: (taken, given) for model, taken, given in options["price"]},
        "ask": ask_passphrase,
    }


@bench.command("run")
@click.option("--llm", "models", multiple=True, help="Repeat for several. [default: the embedded model]")
@run_options
@click.option("--constrain/--no-constrain", default=None, help="Force a letter. [default: embedded models]")
@click.option("--reasoned", is_flag=True, help="Ask for a short explanation before the letter.")
@click.option("--shuffle-options", is_flag=True, help="Show options in a new order in every run.")
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    type=PATH,
    help="A file with another prompt, asked besides the paper's; repeat for several.",
)
@click.option("--explain", is_flag=True, help="The open track: ask for a sentence instead of a letter.")
@click.option("--judge", default="", help="Open track: a model that marks sentences with the rubric.")
@click.option("--people", type=PATH, help="Open track: people's marks, a CSV with item, run, right.")
@click.option("--detector", "folders", multiple=True, type=PATH, help="Organic sets: a trained detector, or `base`.")
@click.option("--out", default="runs", show_default=True, type=PATH, help="Where to write.")
@json_option
@preset_option("bench run")
def run_command(models: tuple[str, ...], folders: tuple[Path, ...], out: Path, as_json: bool, **options: Any) -> int:
    """Ask models every item of a set. Run the same command again to resume a killed run.

    Models are named by provider (openai/..., anthropic/..., openai-api/SERVICE/...), or embedded/...;
    the baselines (baseline/random, first, longest, similar) cost nothing. Exit 1 if a run is incomplete.

    With --explain, one model explains each item in a sentence, marked by vectors, a judge and people.
    """
    from deadpan.bench.api import run_bench, run_settings
    from deadpan.bench.open_track import run_open_track

    explain, judge, people = (options.pop(name) for name in ("explain", "judge", "people"))
    if (judge or people) and not explain:
        raise ConfigError("--judge and --people mark explanations: add --explain")
    with live() as watch:
        if explain:
            refuse_with("--explain", "--prompt")
            options.pop("prompts")
            settings = run_settings(**_given(options))
            opened = run_open_track(models, settings, out, judge=judge, people=people, watch=watch)
            return show(opened, as_json)
        given = _given(options)
        if folders:
            given["set"], answerers = _with_detectors(given["set"], folders)
            models, given["answerers"] = (*models, *answerers), answerers
        result = run_bench(models or None, out=out, watch=watch, **given)
    return show(result, as_json, failed=result.incomplete)


def _with_detectors(items: str, folders: tuple[Path, ...]) -> tuple[Any, dict[str, Any]]:
    """Return the set, and what detectors answer by their names on the board."""
    from deadpan.bench.items.sets import open_set
    from deadpan.bench.organic import detector_answers
    from deadpan.detect.detector import Detector

    opened = open_set(items, ask_passphrase)
    return opened, detector_answers(opened, {folder.name: Detector.load(folder) for folder in folders})


@bench.command()
@click.option("--llm", "model", help="A model that writes. [default: the embedded model]")
@set_option
@click.option("--sample", default=40, show_default=True, help="Items to ask about.")
@base_url_option
@max_cost_option
@seed_option
@json_option
def contamination(model: str | None, items: str, as_json: bool, **options: Any) -> int:
    """Test whether a model remembers a set: its canaries, texts and option orders. Exit 1 if it does."""
    from deadpan.bench.contamination import check_contamination

    result = check_contamination(model, items, ask=ask_passphrase, **options)
    return show(result, as_json, failed=result.contaminated)


@bench.command()
@click.argument("corpus", metavar="CORPUS")
@click.option("--options", default=6, show_default=True, type=click.IntRange(2, 6), help="Replies per thread.")
@click.option("--after", default="", metavar="MONTH", help="Only replies of later months, such as 2026-06.")
@click.option("--history", is_flag=True, help="Show earlier replies of each author.")
@click.option("--limit", default=400, show_default=True, type=click.IntRange(min=1), help="Threads at most.")
@click.option("--max-toxicity", type=NumberOrNone(), default=0.9, show_default=True,
              help="Leave out threads with a reply above it; none: all threads.")  # fmt: skip
@click.option("--ids", type=PATH, help="Restore the set of this .ids.csv instead, and prove it by hash.")
@out_option
@reading_options
@seed_option
@json_option
def organic(corpus: str, ids: Path | None, out: Path, reading: Reading, as_json: bool, **drawn: Any) -> None:
    """Make a set of real replies from CORPUS: which of them was meant sarcastically? Ask it with `bench run`.

    CORPUS is a folder that `corpus build` wrote, its sequences as .parquet or .jsonl, or a name such as
    sarc-main, whose pairs have --options 2. The .ids.csv beside a set has no texts and may be published:
    with --ids, whoever has the corpus restores the same set.
    """
    from deadpan.bench.organic import fill_organic, make_organic

    if ids is not None:
        refuse_with("--ids", "--options", "--after", "--history", "--limit", "--max-toxicity", "--seed")
        show(fill_organic(ids, _sequences(corpus, reading), out), as_json)
        return
    source = Path(corpus).name if Path(corpus).exists() else corpus
    show(make_organic(_sequences(corpus, reading), out, source=source, **drawn), as_json)


def _sequences(corpus: str, reading: Reading) -> Any:
    """Return the sequences of a built corpus, of a file of them, or of a published corpus."""
    from deadpan.bench.organic import read_sequences, sequences_of
    from deadpan.corpus import BuiltCorpus
    from deadpan.datasets import read_source

    if Path(corpus).is_dir():
        return BuiltCorpus(corpus).sequences("raw")
    return read_sequences(Path(corpus)) or sequences_of(read_source(corpus, reading))


@bench.command("score")
@runs_argument
@click.option("--language", help="Score only the items of one language, such as ko.")
@click.option("--items", is_flag=True, help="Also show which items separate the models (public sets only).")
@seed_option
@json_option
def score_command(folders: tuple[Path, ...], as_json: bool, **options: Any) -> None:
    """Score and compare RUNS: Avg@k, Maj@k, pairs, consistency, categories, and every two runs.

    Intervals hold 95 %; comparisons are paired by item, clustered on families and Holm-corrected.
    """
    from deadpan.bench.scores.report import score_bench

    show(score_bench(folders, **options), as_json)


@bench.command()
@runs_argument
@out_option
@click.option(
    "--replace",
    "replace_by",
    type=click.Choice(["row", "model"]),
    default="row",
    show_default=True,
    help="What a rerun replaces: errors and cut-off answers, or the whole run of the model.",
)
@json_option
def merge(folders: tuple[Path, ...], out: Path, replace_by: Any, as_json: bool) -> int:
    """Merge RUNS of one model, earlier first: a rerun replaces only errors and cut-off answers."""
    from deadpan.bench.runs.submission import merge_runs

    result = merge_runs(folders, out, replace_by=replace_by)
    return show(result, as_json, failed=not result.complete)


@bench.command()
@click.argument("sources", nargs=-1, metavar="[SET|RUNS...]")
@click.option("--to", type=click.Choice(["inspect"]), help="Write RUNS as logs of Inspect, into the folder --out.")
@click.option("--set", "items", help="With --to inspect: the set that was asked, if it is a file.")
@out_option
@json_option
def export(sources: tuple[str, ...], out: Path, as_json: bool, **options: Any) -> None:
    """Export a public SET (to a folder), or RUNS to a .parquet, .csv or .jsonl file or as logs of Inspect.

    A SET becomes a task for lm-evaluation-harness and a Hugging Face dataset. Rows of a private set are
    exported without items, letters and texts.
    """
    from deadpan.bench.export import export_bench

    show(export_bench(sources, out, ask=ask_passphrase, **options), as_json)


@bench.command()
@runs_argument
@out_option
@click.option("--set", "items", help="The set that was asked, for item pages; needed if it is your own.")
@seed_option
@json_option
def site(folders: tuple[Path, ...], out: Path, items: str | None, seed: int, as_json: bool) -> None:
    """Write the leaderboard of RUNS as static pages that need no network; incomplete runs are excluded."""
    from deadpan.bench.site.write import write_leaderboard

    show(write_leaderboard(folders, out, items=items, seed=seed, ask=ask_passphrase), as_json)


@bench.group()
def people() -> None:
    """Let people answer the same items: a quiz for them, and their scores."""


@people.command("study")
@set_argument
@out_option
@click.option("--raters", default=5, show_default=True, help="People per item.")
@seed_option
@json_option
def people_study(items: str, out: Path, raters: int, seed: int, as_json: bool) -> None:
    """Write a SET as a quiz for the studio."""
    from deadpan.bench.people import write_quiz

    show(write_quiz(items, out, raters=raters, seed=seed, ask=ask_passphrase), as_json)


@people.command("score")
@click.argument("answers", type=PATH, metavar="ANSWERS")
@set_option
@out_option
@click.option("--keep", type=PATH, help="Write the items on which people agree to this .jsonl file.")
@click.option("--min-agreement", default=0.8, show_default=True, help="Share that must choose the answer.")
@click.option("--min-raters", default=3, show_default=True, help="Minimum people per item.")
@seed_option
@json_option
def people_score(answers: Path, items: str, out: Path, as_json: bool, **options: Any) -> int:
    """Turn ANSWERS (a studio export or a CSV) into a leaderboard row. Exit 1 if an item has no answer."""
    from deadpan.bench.people import score_people

    result = score_people(answers, items, out, ask=ask_passphrase, **options)
    return show(result, as_json, failed=not result.complete)
