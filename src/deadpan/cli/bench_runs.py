"""deadpan bench: commands about runs of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.bench_sets import load_set, out_option
from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.bench.folder import RunFolder
    from deadpan.bench.run import Job
    from deadpan.bench.sets import ItemSet

runs_argument = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUNS..."
)

LEAST = {
    "max_tokens": 1,
    "concurrency": 1,
    "retries": 0,
    "runs": 1,
    "temperature": 0,
    "timeout": 0.1,
    "max_cost": 0,
}
"""What the numbers of a run must be at least."""


def run_options(command: Any) -> Any:
    """How models are asked, shared by `run` and `explain`."""
    options = [
        click.option("--set", "set_name", default="public@0.2.0", show_default=True, help="What is asked."),
        click.option("--runs", default=5, show_default=True, help="Times every item is asked."),
        click.option("--temperature", default=0.7, show_default=True),
        click.option("--top-p", default=0.95, show_default=True),
        click.option("--max-tokens", default=128, show_default=True, help="The first limit of an answer."),
        click.option("--escalate/--no-escalate", default=True, help="Give cut-off answers more room."),
        click.option("--limit", type=int, help="About this many items, in whole pairs."),
        click.option("--base-url", default="", help="Any OpenAI-compatible address for all models named."),
        click.option("--key-env", default="OPENAI_API_KEY", show_default=True, help="Variable of its key."),
        click.option("--concurrency", default=8, show_default=True, help="Requests at a time and model."),
        click.option("--retries", default=5, show_default=True, help="Attempts after a failed one."),
        click.option("--timeout", default=120.0, show_default=True, help="Seconds for one attempt."),
        click.option("--max-cost", type=float, help="Stop once the runs cost this, earlier sessions too."),
        click.option("--price", nargs=2, type=float, help="US dollars a million tokens in and out."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def make_job(seed: int, shuffle: bool, **given: Any) -> Job:
    """The options as a job."""
    from deadpan.bench.providers import Sampling
    from deadpan.bench.run import Job
    from deadpan.errors import ConfigError

    for name, low in LEAST.items():
        if given[name] is not None and given[name] < low:
            raise ConfigError(f"--{name.replace('_', '-')} needs {low:g} or more, got {given[name]:g}")
    if not 0 < given["top_p"] <= 1:
        raise ConfigError(f"--top-p is a share above 0 and up to 1, got {given['top_p']:g}")
    if min(given["price"] or (0,)) < 0:
        raise ConfigError("--price needs 0 or more: dollars a million tokens in, then out")
    sampling = Sampling(
        temperature=given["temperature"],
        top_p=given["top_p"],
        seed=seed,
        timeout=given["timeout"],
        concurrency=given["concurrency"],
        base_url=given["base_url"],
        key_env=given["key_env"],
    )
    return Job(
        set=load_set(given["set_name"]),
        runs=given["runs"],
        limit=given["limit"],
        max_tokens=given["max_tokens"],
        escalate=given["escalate"],
        shuffle=shuffle,
        retries=given["retries"],
        max_cost=given["max_cost"],
        price=given["price"] or None,
        sampling=sampling,
    )


@click.command()
@click.option(
    "--model",
    "models",
    multiple=True,
    default=("embedded/smollm2-135m",),
    show_default=True,
    help="Repeat for several. baseline/random, first, longest and similar cost nothing.",
)
@run_options
@click.option("--shuffle-options", "shuffle", is_flag=True, help="Another order of options in every run.")
@click.option("--out", default="runs", show_default=True, type=click.Path(path_type=Path))
@seed_option
@json_option
def run(models: tuple[str, ...], shuffle: bool, out: Path, seed: int, as_json: bool, **given: Any) -> int:
    """Ask models every item of a set. The same command goes on where a killed one stopped.

    Models are named as Inspect names them (openai/..., anthropic/..., openai-api/...), or embedded/... and
    baseline/... Exit 1 if a run is incomplete.
    """
    from deadpan.bench.folder import find_runs
    from deadpan.bench.run import run_models
    from deadpan.bench.scores import score_run
    from deadpan.cli.bench_live import live
    from deadpan.cli.bench_screens import best_first, show_missing, show_scores

    job = make_job(seed, shuffle, **given)
    with live() as watch:
        finished = run_models(models, job, out, watch=watch)
    folders = find_runs([folder for folder, _ in finished])
    scored = [score_run(folder, seed) for folder in folders if any(not row.error for row in folder.rows)]
    incomplete = [str(folder) for folder, complete in finished if not complete]
    data = {"runs": [each.as_dict() for each in scored], "incomplete": incomplete}

    def show(screen: Console) -> None:
        if scored:
            show_scores(screen, best_first([each.model for each in scored], scored))
        for each in folders:
            if not each.complete:
                show_missing(screen, each)
        rest = f"A page of it: deadpan bench site {out} --out site"
        if job.limit is not None:
            rest = "A part of a set is on no leaderboard: leave out --limit (and name another --out)."
        screen.print(f"Rows and journals: {out}/. {rest}", soft_wrap=True)

    emit(as_json, data, show)
    return 1 if incomplete else 0


@click.command()
@runs_argument
@seed_option
@json_option
def score(folders: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Score RUNS: Avg@k, Maj@k, pairs, consistency, categories, with intervals over questions."""
    from deadpan.bench.comparison import check_same, names_of
    from deadpan.bench.folder import find_runs
    from deadpan.bench.scores import score_run
    from deadpan.cli.bench_screens import best_first, show_categories, show_scores

    found = find_runs(folders)
    check_same(found)
    scored = [score_run(each, seed) for each in found]

    def show(out: Console) -> None:
        ordered = best_first(names_of(found), scored)
        show_scores(out, ordered)
        out.print()
        show_categories(out, ordered)

    emit(as_json, [each.as_dict() for each in scored], show)


@click.command()
@runs_argument
@seed_option
@json_option
def compare(folders: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Compare RUNS in pairs: difference by question, families whole, Holm over all; McNemar on Maj@k."""
    from deadpan.bench.comparison import compare_runs
    from deadpan.bench.folder import find_runs
    from deadpan.cli.bench_screens import show_pairings

    pairings = compare_runs(find_runs(folders), seed)
    emit(as_json, [each.as_dict() for each in pairings], lambda out: show_pairings(out, pairings))


@click.command()
@runs_argument
@json_option
def items(folders: tuple[Path, ...], as_json: bool) -> None:
    """Which items separate the models of RUNS and which are dead; only of a public set."""
    from deadpan.bench.difficulty import item_facts
    from deadpan.bench.folder import find_runs
    from deadpan.cli.bench_screens import show_items
    from deadpan.errors import DataError
    from deadpan.fields import encode

    found = find_runs(folders)
    if not all(each.public for each in found):
        raise DataError("items of a private set are never shown: score and compare give its aggregates")
    facts = sorted(item_facts(found), key=lambda each: (each.easiness, each.item))
    emit(as_json, encode(facts), lambda out: show_items(out, facts))


@click.command()
@runs_argument
@out_option
@json_option
def merge(folders: tuple[Path, ...], out: Path, as_json: bool) -> int:
    """Join RUNS of one model, earlier first: a rerun fills errors and cut-off answers, never others."""
    from deadpan.bench.folder import find_runs
    from deadpan.bench.merge import merge_runs

    complete, sources = merge_runs(find_runs(folders), out)
    data = {"out": str(out), "complete": complete, "rows_from": sources}

    def show(screen: Console) -> None:
        screen.print(table(("rows from", "rows"), sources.items(), numbers=("rows",)))
        screen.print(f"{out}: {'complete' if complete else 'INCOMPLETE'}")

    emit(as_json, data, show)
    return 0 if complete else 1


@click.command()
@runs_argument
@click.option("--out", required=True, type=click.Path(path_type=Path), help=".parquet, .csv or .jsonl")
@json_option
def rows(folders: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Export the raw rows of RUNS; of a private set without items, letters or texts."""
    from deadpan.bench.folder import find_runs
    from deadpan.bench.rows import write_rows

    found = find_runs(folders)
    public = all(each.public for each in found)
    written = write_rows(out, [row for each in found for row in each.rows], public)
    data = {"out": str(out), "rows": written, "with_items_and_answers": public}
    note = "" if public else " (a private set: items, letters and texts left out)"
    emit(as_json, data, lambda screen: screen.print(f"{out}: {written:,} rows{note}"))


def _set_of(run: RunFolder, named: str | None) -> ItemSet | None:
    """The items a run was asked: the set that is named, else a shipped one, else none are at hand."""
    from deadpan.bench.sets import open_set, shipped
    from deadpan.errors import DataError

    if named is None:
        return next((each for each in map(open_set, shipped()) if each.hash == run.plan.set_hash), None)
    items = load_set(named)
    if items.hash != run.plan.set_hash:
        raise DataError(
            f"--set {named} ({items.hash[:12]}) is not what {run.path} was asked, {run.plan.set} "
            f"({run.plan.set_hash[:12]}): name that one"
        )
    return items


@click.command()
@runs_argument
@out_option
@click.option("--set", "set_name", help="The set that was asked, if it is not a shipped one: for item pages.")
@seed_option
@json_option
def site(folders: tuple[Path, ...], out: Path, set_name: str | None, seed: int, as_json: bool) -> None:
    """Write the leaderboard of RUNS: a static page that needs no network. Incomplete runs stay off it."""
    from deadpan.bench.folder import find_runs
    from deadpan.bench.site.write import write_site

    found = find_runs(folders)
    items = _set_of(found[0], set_name)
    written = write_site(found, out, items, seed)

    def show(screen: Console) -> None:
        screen.print(f"{out / 'index.html'}: {written.models} models, {written.pages} item pages")
        for name, why in written.left_out:
            screen.print(f"  left out: {name} ({why})")
        if items is None and found[0].public:
            screen.print("  no pages of items, no rows: name the set that was asked by --set")

    emit(as_json, {"out": str(out), **written.as_dict()}, show)
