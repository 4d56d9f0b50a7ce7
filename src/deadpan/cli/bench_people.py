"""deadpan bench: commands where people, or judges, have a say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from deadpan.cli.bench_runs import make_job, run_options
from deadpan.cli.bench_sets import load_set, out_option, set_argument
from deadpan.cli.output import emit, json_option, seed_option, show_tally, table

if TYPE_CHECKING:
    from rich.console import Console

answers_argument = click.argument("answers", type=click.Path(path_type=Path), metavar="ANSWERS")
set_option = click.option("--set", "set_name", default="public@0.2.0", show_default=True)


@click.command()
@set_argument
@out_option
@click.option("--raters", default=5, show_default=True, help="People an item.")
@seed_option
@json_option
def study(set_name: str, out: Path, raters: int, seed: int, as_json: bool) -> None:
    """Write a SET as a quiz for the studio, so that people answer the very same items."""
    from deadpan.bench.quiz import write_quiz

    items = load_set(set_name)
    count = write_quiz(out, items, raters=raters, seed=seed)
    data = {"out": str(out), "items": count}
    emit(as_json, data, lambda screen: screen.print(f"{out}: a quiz of {count} items for deadpan studio"))


@click.command()
@answers_argument
@set_option
@out_option
@seed_option
@json_option
def humans(answers: Path, set_name: str, out: Path, seed: int, as_json: bool) -> int:
    """Make people's ANSWERS a row of the leaderboard.

    ANSWERS is a study export (a folder) or a CSV with the columns item, annotator and answer.
    """
    from deadpan.bench.folder import read_run
    from deadpan.bench.humans import read_answers, write_human_run
    from deadpan.bench.scores import score_run
    from deadpan.cli.bench_screens import show_scores
    from deadpan.drops import Tally

    tally, items = Tally(), load_set(set_name)
    complete = write_human_run(out, items, read_answers(answers), tally)
    scored = score_run(read_run(out), seed)

    def show(screen: Console) -> None:
        show_scores(screen, [(scored.model, scored)])
        show_tally(screen, tally)
        if not complete:
            screen.print(f"{len(items.items) - scored.n} items have no answer: the row stays pending.")

    emit(as_json, {**scored.as_dict(), **tally.as_dict()}, show)
    return 0 if complete else 1


@click.command()
@answers_argument
@set_option
@click.option(
    "--threshold", default=0.8, show_default=True, help="Share of people who must choose the answer."
)
@click.option("--least", default=3, show_default=True, help="People an item needs.")
@click.option("--out", type=click.Path(path_type=Path), help="Write the kept items, .jsonl.")
@json_option
def agree(
    answers: Path, set_name: str, threshold: float, least: int, out: Path | None, as_json: bool
) -> None:
    """Keep the items on which people's ANSWERS agree."""
    from deadpan.bench.humans import agree as look
    from deadpan.bench.humans import kept_items, read_answers
    from deadpan.bench.items import write_items
    from deadpan.drops import Tally
    from deadpan.errors import DataError
    from deadpan.fields import encode

    if out is not None and out.exists():
        raise DataError(f"{out}: is there already; name another --out")
    tally, items = Tally(), load_set(set_name)
    found = look(items, read_answers(answers), tally, threshold, least)
    kept = kept_items(items, found)
    if out is not None:
        write_items(out, kept)

    def show(screen: Console) -> None:
        shown = [each for each in found if not each.kept and each.n]
        rows = [(e.item, e.n, f"{e.agreed:.2f}", f"{e.right:.2f}", e.why) for e in shown[:20]]
        screen.print(table(("item", "people", "agreed", "right", "dropped because"), rows))
        show_tally(screen, tally)
        reasons = ", ".join(f"{why} {n}" for why, n in Counter(e.why for e in found if not e.kept).items())
        screen.print(f"kept {len(kept)} of {len(found)} items{'; dropped: ' + reasons if reasons else ''}")

    emit(as_json, {"kept": len(kept), "items": encode(found), **tally.as_dict()}, show)


@click.command()
@click.option("--model", default="embedded/smollm2-135m", show_default=True)
@click.option("--judge", default="", help="A model that marks the explanations by the published rubric.")
@click.option(
    "--people", type=click.Path(path_type=Path), help="People's marks: a CSV with item, run, right."
)
@run_options
@click.option("--out", default="open", show_default=True, type=click.Path(path_type=Path))
@seed_option
@json_option
def explain(
    model: str, judge: str, people: Path | None, out: Path, seed: int, as_json: bool, **given: Any
) -> None:
    """The open track: one sentence on what the speaker means, marked by vectors, a judge, people."""
    from deadpan.bench.explaining import EXPLANATIONS
    from deadpan.bench.explaining import explain as ask
    from deadpan.bench.folder import slug
    from deadpan.bench.open_track import read_people, score_open
    from deadpan.cli.bench_live import live

    marks = read_people(people) if people else None
    job = make_job(seed, False, **given)
    with live() as watch:
        marked = ask(model, judge, job, out, marks, watch)
    scored = score_open(model, job.set, marked, seed)

    def show(screen: Console) -> None:
        rows = [(name, str(value), value.n, scored.missing[name]) for name, value in scored.right.items()]
        screen.print(table(("marked by", "share right", "n", "no mark"), rows, numbers=("n", "no mark")))
        for pair, values in scored.agreement.items():
            screen.print(f"{pair}: agree {values['agree']}, kappa {values['kappa']}")
        if not scored.agreement:
            screen.print("One marker only: --judge MODEL or --people CSV tells how far it can be trusted.")
        screen.print(f"Every sentence with its marks: {out / slug(model) / EXPLANATIONS}")

    emit(as_json, scored.as_dict(), show)
