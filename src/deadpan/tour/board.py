"""Seventh stop: the SarcBench board with the recorded runs."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from deadpan.bench.items.item import CHANCE
from deadpan.bench.runs.folder import find_runs, unpack_recorded
from deadpan.bench.scores.score import RunScores, score_run
from deadpan.bench.site.write import write_leaderboard
from deadpan.page.numbers import score
from deadpan.tour.guide import Guide

_CHANCE_OF_PAIR = CHANCE**2
_BASELINE = "baseline"


def stop(guide: Guide) -> None:
    """Score the runs that come with the package and write the board."""
    folder = guide.out / "bench"
    shutil.rmtree(folder, ignore_errors=True)  # an earlier tour's runs are not on this board
    guide.step("the recorded runs")
    runs = [run for run in find_runs([unpack_recorded(folder)]) if run.plan.whole_set]
    guide.step("scoring them")
    scored = sorted((score_run(run, guide.seed) for run in runs), key=lambda each: -(each.avg.value or 0))
    guide.page.text(
        f"{scored[0].n:,} questions with six options, most of them in minimal pairs like the one above: what "
        f"does the speaker mean? Chance is {CHANCE:.3f}, and {_CHANCE_OF_PAIR:.3f} for both questions of a "
        f"pair. These runs were recorded ({_dates(scored)}) and come with the package, with every answer. "
        "Baselines read only the options: a model has to beat them, and they should not beat chance."
    )
    if not _models(scored):
        guide.page.note("No run of a language model comes with this version: the command below makes one.")
    guide.step("writing the board")
    write_leaderboard([folder], guide.out / "board", seed=guide.seed)
    guide.artefact("The board, with a page per item", guide.out / "board" / "index.html")
    guide.page.table(
        ("model", "correct"), [(_short(each), each.avg) for each in scored],
        caption="Share of correct answers; intervals resample families of items",
    )  # fmt: skip
    guide.page.table(
        ("model", "both of a pair"), [(_short(each), each.pairs) for each in scored],
        caption="Share of pairs with both questions answered correctly",
    )  # fmt: skip
    guide.found(_finding(scored), "deadpan bench run --llm openai/NAME --out runs")


def _dates(scored: Sequence[RunScores]) -> str:
    days = sorted({day[:10] for each in scored for day in each.dates})
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def _short(run: RunScores) -> str:
    """Return the name of a model without where it runs, so that a table fits a phone."""
    return run.model.removeprefix("embedded/")


def _models(scored: Sequence[RunScores]) -> list[RunScores]:
    return [each for each in scored if each.kind != _BASELINE]


def _finding(scored: Sequence[RunScores]) -> str:
    """Return what the board shows; a run is said to be above chance only if its interval is."""
    best, models = scored[0], _models(scored)
    if not models:
        above = [each.model for each in scored if (each.avg.low or 0.0) > CHANCE]
        found = f"{', '.join(above)} is above it" if above else "so the options do not give the answers away"
        return (
            f"{len(scored)} rules that read only the options of {best.n:,} questions are recorded; the best "
            f"answers {score(best.avg)} correctly (chance: {CHANCE:.3f}), {found}. The board takes any model."
        )
    first = models[0]
    word = "above" if (first.avg.low or 0.0) > CHANCE else "not significantly above"
    rules = [each for each in scored if each.kind == _BASELINE]
    rule = f" The best rule that reads only the options scores {score(rules[0].avg)}." if rules else ""
    return (
        f"The best of {len(models)} recorded language models, {_short(first)}, answers {score(first.avg)} of "
        f"{first.n:,} questions correctly, {word} chance ({CHANCE:.3f}), and both questions in "
        f"{score(first.pairs)} of the pairs.{rule}"
    )
