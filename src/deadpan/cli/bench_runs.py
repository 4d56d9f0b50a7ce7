"""deadpan bench: commands about runs of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.bench_sets import load_set, out_option
from deadpan.cli.output import emit, json_option, seed_option, table

if TYPE_CHECKING:
    from rich.console import Console

    from deadpan.bench.comparison import Pairing
    from deadpan.bench.run import Job
    from deadpan.bench.scores import Scores

runs_argument = click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUNS..."
)
SHOWN = 15


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
        click.option("--max-cost", type=float, help="US dollars to spend at most, all models together."),
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

    for name, low in (("max_tokens", 1), ("concurrency", 1), ("retries", 0), ("runs", 1)):
        if given[name] < low:
            raise ConfigError(f"--{name.replace('_', '-')} needs {low} or more, got {given[name]}")
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

    job = make_job(seed, shuffle, **given)
    with live() as watch:
        finished = run_models(models, job, out, watch=watch)
    folders = find_runs([folder for folder, _ in finished])
    scored = [score_run(folder, seed) for folder in folders if any(not row.error for row in folder.rows)]
    incomplete = [str(folder) for folder, complete in finished if not complete]
    data = {"runs": [each.as_dict() for each in scored], "incomplete": incomplete}

    def show(screen: Console) -> None:
        show_scores(screen, scored)
        for folder in incomplete:
            screen.print(f"Incomplete, and so on no leaderboard: {folder}. The same command goes on with it.")
        screen.print(f"Rows and journals: {out}/. A page of it: deadpan bench site {out} --out site")

    emit(as_json, data, show)
    return 1 if incomplete else 0


def show_scores(out: Console, scored: list[Scores]) -> None:
    """One line a model, then what the columns mean."""
    from deadpan.page.numbers import score as number

    rows = []
    for each in sorted(scored, key=lambda s: -(s.avg.value or 0.0)):
        flags = [
            f"{name} {100 * rate:.1f} %"
            for name, rate in (
                ("unread", each.unread),
                ("cut off", each.truncated),
                ("refused", each.refused),
            )
            if rate
        ]
        cost = "unknown" if each.cost is None else f"${each.cost:.4f}"
        state = "" if each.complete else "INCOMPLETE "
        shown = (number(value, 2) for value in (each.avg, each.maj, each.pairs, each.letter_consistency))
        rows.append((each.model, *shown, cost, f"{state}{', '.join(flags) or 'all read'}"))
    runs = {each.runs for each in scored}
    k = runs.pop() if len(runs) == 1 else "k"
    columns = ("model", f"Avg@{k}", f"Maj@{k}", "both of a pair", "same letter", "cost", "answers")
    out.print(table(columns, rows, numbers=columns[1:6]))
    if scored:
        first = scored[0]
        out.print(f"{first.set} ({first.set_hash[:12]}), {first.n} items; chance 0.167, of a pair 0.028.")


@click.command()
@runs_argument
@seed_option
@json_option
def score(folders: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Score RUNS: Avg@k, Maj@k, pairs, consistency, categories, with intervals over questions."""
    from deadpan.bench.comparison import check_same
    from deadpan.bench.folder import find_runs
    from deadpan.bench.scores import score_run
    from deadpan.page.numbers import score as number

    found = find_runs(folders)
    check_same(found)
    scored = [score_run(each, seed) for each in found]

    def show(out: Console) -> None:
        show_scores(out, scored)
        names = [name for name, value in scored[0].categories.items() if value.n]
        rows = [(each.model, *(number(each.categories[name], 2) for name in names)) for each in scored]
        columns = [f"{name.replace('_', ' ')} ({scored[0].categories[name].n})" for name in names]
        out.print()
        out.print(table(("model", *columns), rows))

    emit(as_json, [each.as_dict() for each in scored], show)


@click.command()
@runs_argument
@seed_option
@json_option
def compare(folders: tuple[Path, ...], seed: int, as_json: bool) -> None:
    """Compare RUNS in pairs: difference by question, families whole, Holm over all; McNemar on Maj@k."""
    from deadpan.bench.comparison import compare_runs
    from deadpan.bench.folder import find_runs

    pairings = compare_runs(find_runs(folders), seed)
    emit(as_json, [each.as_dict() for each in pairings], lambda out: _show_pairings(out, pairings))


def _show_pairings(out: Console, pairings: list[Pairing]) -> None:
    rows = [
        (each.first, each.second, str(each.difference), f"{each.p_holm:.3f}", f"{each.mcnemar_p_holm:.3f}",
         "differ" if each.differ else "not different", each.n)
        for each in pairings
    ]  # fmt: skip
    columns = ("first", "second", "first - second", "p (Holm)", "McNemar p", "verdict", "n")
    out.print(table(columns, rows, numbers=("first - second", "p (Holm)", "McNemar p", "n")))


@click.command()
@runs_argument
@json_option
def items(folders: tuple[Path, ...], as_json: bool) -> None:
    """Which items separate the models of RUNS and which are dead; only of a public set."""
    from collections import Counter

    from deadpan.bench.difficulty import item_facts
    from deadpan.bench.folder import find_runs
    from deadpan.errors import DataError
    from deadpan.fields import encode

    found = find_runs(folders)
    if not all(each.public for each in found):
        raise DataError("items of a private set are never shown: score and compare give its aggregates")
    facts = sorted(item_facts(found), key=lambda each: (each.easiness, each.item))

    def show(out: Console) -> None:
        apart = ["" if f.discrimination is None else f"{f.discrimination:.2f}" for f in facts]
        rows = [
            (f.item, f.category, f"{f.easiness:.2f}", each, f.state, f.tempting)
            for f, each in zip(facts[:SHOWN], apart, strict=False)
        ]
        columns = ("item", "category", "share right", "discrimination", "state", "tempts")
        out.print(table(columns, rows, numbers=("share right", "discrimination")))
        states = Counter(f.state for f in facts)
        out.print(
            f"The {len(rows)} hardest of {len(facts)}: " + ", ".join(f"{n} {s}" for s, n in states.items())
        )

    emit(as_json, encode(facts), show)


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


@click.command()
@runs_argument
@out_option
@seed_option
@json_option
def site(folders: tuple[Path, ...], out: Path, seed: int, as_json: bool) -> None:
    """Write the leaderboard of RUNS: a static page that needs no network. Incomplete runs stay off it."""
    from deadpan.bench.folder import find_runs
    from deadpan.bench.sets import open_set, shipped
    from deadpan.bench.site.write import write_site

    found = find_runs(folders)
    known = {each.hash: each for each in map(open_set, shipped())}
    items = known.get(found[0].plan.set_hash)
    written = write_site(found, out, items, seed)

    def show(screen: Console) -> None:
        screen.print(f"{out / 'index.html'}: {written.models} models, {written.pages} item pages")
        for name, why in written.left_out:
            screen.print(f"  left out: {name} ({why})")

    emit(as_json, {"out": str(out), **written.as_dict()}, show)
