"""deadpan corpus: a SARC corpus from Reddit dumps, step by step or in one go."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from deadpan.cli.corpus_screens import show_built, show_report, show_stats, watching
from deadpan.cli.output import emit, json_option, progress, seed_option, show_conversation

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.corpus.build import Build, Step
    from deadpan.corpus.ingest import Watch
    from deadpan.corpus.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
folder = click.Path(path_type=Path, file_okay=False)
a_file = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.group()
def corpus() -> None:
    """Rebuild SARC from monthly Reddit dumps: any months, subreddits and markers.

    DUMP is an RC_ or RS_ file (.zst, .bz2, .xz, .gz or plain), a folder of them, or a pattern in quotes.
    """
    atexit.register(_hush)


def _hush() -> None:
    """DuckDB's library prints a page about its own shutdown after everything is done; nobody needs it."""
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def build_options(command: F) -> F:
    """What says where to build, from which months, how and with how much."""
    for option in (
        click.option("--bz2", "packed", is_flag=True, help="Write .bz2 instead of plain files."),
        click.option("--forget", type=a_file, help="Leave out the comments of these authors, one a line."),
        click.option("--mixed-months", is_flag=True, help="Take a file with more months than its name says."),
        click.option("--allow-truncated", is_flag=True, help="Use the lines of a file that ends early."),
        click.option("--sentences", type=click.Choice(["any", "strict"]), help="Replies in benchmarks."),
        click.option("--vectors", metavar="FILE", help="Word vectors for pairs: a GloVe file, or embedded."),
        click.option("--seed", type=int, help="Randomness starts here [default: 0]."),
        click.option("--config", type=a_file, help="corpus.toml: every rule, see docs/corpus.md."),
        click.option("--workers", default=1, show_default=True, type=click.IntRange(1),
                     help="Dumps read at once; each may take 2 GiB for its window."),
        click.option("--memory", default="4GB", show_default=True, help="For the engine; the rest spills."),
        click.option("--spark-master", default="local[*]", show_default=True, help="Where Spark is."),
        click.option("--engine", default="duckdb", show_default=True, help="duckdb or spark."),
        click.option("--to", "last_month", metavar="MONTH", help="Last month of the corpus: 2017-04."),
        click.option("--from", "first_month", metavar="MONTH", help="First month of the corpus: 2009-01."),
        click.option("--out", required=True, type=folder, help="The folder to make."),
        click.argument("dumps", nargs=-1, required=True, metavar="DUMP..."),
    ):  # fmt: skip
        command = option(command)
    return command


def _settings(options: dict[str, Any]) -> Settings:
    """corpus.toml, and the options that go before it."""
    from deadpan.config import read_config
    from deadpan.corpus.settings import Settings

    settings = read_config(options["config"], Settings) if options["config"] else Settings()
    scope = {name: options[name] for name in ("first_month", "last_month") if options[name]}
    rules = {name: options[name] for name in ("sentences", "vectors") if options[name]}
    return replace(
        settings,
        seed=settings.seed if options["seed"] is None else options["seed"],
        scope=replace(settings.scope, **scope),
        benchmark=replace(settings.benchmark, **rules),
    )


def _build(options: dict[str, Any], watch: Watch) -> Build:
    from deadpan.corpus.build import Build, BuildOptions
    from deadpan.corpus.ingest import IngestOptions

    reading = IngestOptions(options["allow_truncated"], options["mixed_months"], options["workers"])
    chosen = BuildOptions(
        engine=options["engine"],
        spark_master=options["spark_master"],
        memory=options["memory"],
        ingest=reading,
        packed=options["packed"],
        forget=options["forget"],
    )
    return Build(options["out"], _settings(options), chosen, watch)


def _run(until: Step, as_json: bool, options: dict[str, Any]) -> None:
    with watching() as watch:
        manifest = _build(options, watch).run(options["dumps"], until)
    out = options["out"]
    if manifest is None:
        done = {"out": str(out), "done": until}
        emit(as_json, done, lambda console: console.print(f"{out}: done up to {until}"))
    else:
        data = {"out": str(out), "counts": dict(manifest.counts), "drops": dict(manifest.drops)}
        emit(as_json, data, lambda console: show_built(console, out, manifest))


@corpus.command()
@build_options
@json_option
def build(as_json: bool, **options: Any) -> None:
    """The whole job: dumps in, corpus and benchmarks out. Run it again to go on where it was stopped."""
    _run("benchmark", as_json, options)


@corpus.command()
@build_options
@json_option
def ingest(as_json: bool, **options: Any) -> None:
    """First step: read the dumps, and look at every comment's own words."""
    _run("ingest", as_json, options)


@corpus.command()
@build_options
@json_option
def label(as_json: bool, **options: Any) -> None:
    """Second step: who knows the marker since when, and which comments that leaves."""
    _run("label", as_json, options)


@corpus.command()
@build_options
@json_option
def threads(as_json: bool, **options: Any) -> None:
    """Third step: what is under sarcasm, and the sequences that lead to it."""
    _run("threads", as_json, options)


@corpus.command()
@build_options
@json_option
def benchmark(as_json: bool, **options: Any) -> None:
    """Last step: draw the benchmarks and write every file; the same as build."""
    _run("benchmark", as_json, options)


@corpus.command()
@click.argument("directory", type=folder)
@click.option("--top", default=12, show_default=True, help="Subreddits to show.")
@json_option
def stats(directory: Path, top: int, as_json: bool) -> None:
    """Sizes, shares, months and subreddits of a built corpus."""
    from deadpan.corpus.conversations import BuiltCorpus
    from deadpan.storage import read_json

    found = read_json(BuiltCorpus(directory).folder / "stats.json")
    emit(as_json, found, lambda out: show_stats(out, directory, found, top))


@corpus.command()
@click.argument("directory", type=folder)
@click.option("--min-comments", default=1_000, show_default=True, help="Subreddits with at least so many.")
@json_option
def figures(directory: Path, min_comments: int, as_json: bool) -> None:
    """Draw sarcasm by subreddit, scores and lengths by label, as SVG and PNG."""
    from deadpan.corpus.conversations import BuiltCorpus
    from deadpan.corpus.figures import write_figures

    paths = [str(path) for path in write_figures(BuiltCorpus(directory), min_comments=min_comments)]
    emit(as_json, {"files": paths}, lambda out: out.print("\n".join(paths)))


@corpus.command()
@click.argument("directory", type=folder)
@click.option("-n", "count", default=3, show_default=True, help="How many sequences.")
@click.option("--subset", default="main", show_default=True, help="main, or a subset such as pol.")
@seed_option
@json_option
def sample(directory: Path, count: int, subset: str, seed: int, as_json: bool) -> None:
    """Print a few conversations as a person would read them, drawn at random."""
    from deadpan.corpus.conversations import BuiltCorpus
    from deadpan.fields import encode

    examples = BuiltCorpus(directory).conversations(subset, count, seed)

    def show(out: Console) -> None:
        for example in examples:
            show_conversation(out, example)
        if not examples:
            out.print(f"nothing to show: {subset} has no sequences")

    emit(as_json, [encode(example) for example in examples], show)


@corpus.command()
@click.argument("directory", type=folder)
@json_option
def verify(directory: Path, as_json: bool) -> int:
    """Recheck every rule on a built corpus; exit status 1 if one does not hold."""
    from deadpan.corpus.conversations import BuiltCorpus
    from deadpan.corpus.verify import verify as recheck

    report = recheck(BuiltCorpus(directory))
    data = {"sound": report.sound, "checked": report.checked, "wrong": report.wrong}
    emit(as_json, data, lambda out: show_report(out, report))
    return 0 if report.sound else 1


@corpus.command()
@click.argument("directory", type=folder)
@click.option("--n", "count", default=500, show_default=True, help="Comments of either label.")
@click.option("--raters", default=1, show_default=True, help="People an item.")
@click.option("--out", required=True, type=folder, help="The study folder to write.")
@seed_option
@json_option
def audit(directory: Path, count: int, raters: int, out: Path, seed: int, as_json: bool) -> None:
    """Write the study that asks people how noisy the labels are; run it with deadpan studio."""
    from deadpan.corpus.audit import write_audit
    from deadpan.corpus.conversations import BuiltCorpus

    n = write_audit(BuiltCorpus(directory), out, count=count, seed=seed, raters=raters)
    _say_study(as_json, out, n, "audit")


@corpus.command()
@click.argument("directory", type=folder)
@click.option("--n", "count", default=100, show_default=True, help="Pairs.")
@click.option("--subset", default="main", show_default=True, help="main, or a subset such as pol.")
@click.option("--raters", default=5, show_default=True, help="People an item.")
@click.option("--out", required=True, type=folder, help="The study folder to write.")
@seed_option
@json_option
def pairs(directory: Path, count: int, subset: str, raters: int, out: Path, seed: int, as_json: bool) -> None:
    """Write the study that asks people which of two replies is sarcastic; run it with deadpan studio."""
    from deadpan.corpus.audit import write_pairs
    from deadpan.corpus.conversations import BuiltCorpus

    n = write_pairs(BuiltCorpus(directory), out, folder=subset, count=count, seed=seed, raters=raters)
    _say_study(as_json, out, n, "choose")


def _say_study(as_json: bool, out: Path, n: int, protocol: str) -> None:
    data = {"out": str(out), "items": n, "protocol": protocol}
    emit(as_json, data, lambda console: console.print(
        f"{out}: {n:,} items; next: deadpan studio create {protocol} --name NAME --study {out}"
    ))  # fmt: skip


@corpus.command()
@click.option("--months", default=2, show_default=True, type=click.IntRange(1), help="How many months.")
@click.option("--comments", default=10_000, show_default=True, type=click.IntRange(1), help="In all of them.")
@click.option("--from", "start", default="2010-01", show_default=True, help="The first month.")
@click.option(
    "--format",
    "form",
    default="zst",
    show_default=True,
    type=click.Choice(["zst", "bz2", "xz", "gz", "plain"]),
    help="How files are packed.",
)
@click.option(
    "--level", default=3, show_default=True, type=click.IntRange(1, 19), help="How hard zstd packs."
)
@click.option("--out", required=True, type=folder, help="The folder to write RC_ and RS_ files to.")
@seed_option
@json_option
def synthesize(
    months: int, comments: int, start: str, form: Any, level: int, out: Path, seed: int, as_json: bool
) -> None:  # fmt: skip
    """Make up dumps that look like Reddit's: the same bytes for the same options."""
    from deadpan.corpus.synthesize import synthesize as make

    with progress("writing comments", comments) as advance:
        paths = make(
            out,
            months=months,
            comments=comments,
            seed=seed,
            start=start,
            form=form,
            level=level,
            progress=advance,
        )
    names = [str(path) for path in paths]
    emit(as_json, {"files": names}, lambda console: console.print("\n".join(names)))
