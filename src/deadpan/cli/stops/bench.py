"""The benchmark's stop: a slice of SarcBench put to the baselines and to the embedded model."""

from __future__ import annotations

from pathlib import Path

from deadpan.bench.folder import find_runs
from deadpan.bench.items import CHANCE
from deadpan.bench.run import Job, run_models
from deadpan.bench.scores import Scores, score_run
from deadpan.bench.sets import ItemSet, open_set
from deadpan.cli.tour import Guide
from deadpan.errors import DeadpanError
from deadpan.records import Example, Turn

BASELINES = ("baseline/random", "baseline/longest", "baseline/similar")
EMBEDDED = "embedded/smollm2-135m"
SLICE = 6
"""Items for the embedded model: enough to see the whole path, few enough for a tour."""


def stop(guide: Guide) -> None:
    """One pair shown, the baselines on all of the set, the embedded model on a slice of it."""
    items = open_set("public")
    guide.page.heading("SarcBench: what does the speaker mean?")
    guide.page.text(
        f"{len(items.items)} questions of six options, most of them in pairs: one small change of what "
        "happened flips what the same words mean. Chance is 1 in 6, and 1 in 36 for both of a pair."
    )
    _show_pair(guide, items)
    guide.step("the baselines, on all of the set")
    scored = _ask(guide, BASELINES, Job(items, runs=3))
    guide.step("the embedded model, on a slice")
    try:
        scored += _ask(guide, (EMBEDDED,), Job(items, runs=1, limit=SLICE))
    except DeadpanError as missing:  # without its extra or weights the tour goes on, and says so
        guide.page.note(f"The embedded model was not asked: {missing}")
    guide.page.table(
        ("model", "right", "both of a pair", "unread"),
        [(each.model, each.avg, each.pairs, f"{100 * each.unread:.0f} %") for each in scored],
        caption="Share right, families resampled whole; unread answers are not right, and are counted",
        numeric=("unread",),
    )
    guide.page.note(
        f"Chance is {CHANCE:.3f}. The embedded model is small enough to run here, and too small to keep to "
        "the form that is asked for: most of its answers cannot be read. It proves the path, not itself. Any "
        "model with an address can take its place: deadpan bench run --model."
    )


def _show_pair(guide: Guide, items: ItemSet) -> None:
    one, other = items.items[:2]
    for item in (one, other):
        said = Example(item.id, Turn(item.speaker, item.utterance), item.context, language=item.language)
        guide.page.conversation(said, note=f"{item.question} {item.options[item.answer]}")
    guide.result("SarcBench: questions, in minimal pairs", f"{len(items.items):,}", len(items.items))


def _ask(guide: Guide, models: tuple[str, ...], job: Job) -> list[Scores]:
    out = Path(guide.out) / "bench"
    finished = run_models(models, job, out)
    scored = [score_run(run, guide.seed) for run in find_runs([folder for folder, _ in finished])]
    for each in scored:
        guide.result(f"SarcBench, {each.model} (chance 0.167)", each.avg, each.n)
    return scored
