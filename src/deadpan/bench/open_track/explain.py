"""The open track: ask a model for explanations and have them marked. Both steps can be resumed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from deadpan.bench.items.prompts import EXPLAIN, RUBRIC
from deadpan.bench.open_track.judge import posed_to_judge, read_mark
from deadpan.bench.open_track.marks import (
    Key,
    OpenAnswer,
    OpenScores,
    mark_similarity,
    read_people,
    score_open,
)
from deadpan.bench.runs.folder import JOURNAL, make_folder, read_run, slug
from deadpan.bench.runs.journal import read_calls
from deadpan.bench.runs.run import Watch, check_price, run_models
from deadpan.bench.runs.settings import BASELINE_PREFIX, RunSettings
from deadpan.errors import ConfigError, DataError
from deadpan.storage import write_manifest, write_records

EXPLANATIONS = "explanations.jsonl"


def explain(
    model: str,
    settings: RunSettings,
    out: Path,
    *,
    judge: str = "",
    people: Path | None = None,
    watch: Watch = lambda states: None,
) -> OpenScores:
    """Ask a model for explanations; mark them by similarity, and by a judge and people if given.

    `people` is a CSV with the columns item, run and right.
    """
    marks_of_people = read_people(people) if people else {}
    for name in filter(None, (model, judge)):
        if name.startswith(BASELINE_PREFIX):
            raise ConfigError(f"{name} only chooses letters: give a model that writes")
        check_price(name, settings)
    [(folder, complete)] = run_models(
        [model], replace(settings, prompt=EXPLAIN), out / "explain", watch=watch
    )
    if not complete:
        raise DataError(f"{folder}: some explanations are missing: repeat the command to resume it")
    texts = {(row.item, row.run): row.text.strip() for row in read_run(folder).rows}
    marked = mark_similarity(settings.set, texts)
    if judge:
        rest = _with_rest_of_budget(settings, folder)
        marks = _judge(judge, texts, rest, out / "judge" / slug(model), watch)
        marked = [replace(each, judge=marks.get((each.item, each.run))) for each in marked]
    if marks_of_people:
        marked = [replace(each, people=marks_of_people.get((each.item, each.run))) for each in marked]
    written = _write(out / slug(model), marked, model, judge, settings)
    scores = score_open(model, settings.set, marked, settings.sampling.seed)
    return replace(scores, out=written)


def _write(folder: Path, marked: list[OpenAnswer], model: str, judge: str, settings: RunSettings) -> Path:
    """Write the explanations with their marks, then the manifest."""
    make_folder(folder, settings.set.visibility)
    write_records(folder / EXPLANATIONS, marked, OpenAnswer)
    config = {"model": model, "judge": judge, "rubric": RUBRIC if judge else "", "prompt": EXPLAIN}
    config |= {"set": settings.set.label, "set_hash": settings.set.hash}
    by_people = sum(each.people is not None for each in marked)
    counts = {"explanations": len(marked), "marked by people": by_people}
    write_manifest(folder, command="bench explain", config=config, seed=settings.sampling.seed, counts=counts)
    return folder / EXPLANATIONS


def _with_rest_of_budget(settings: RunSettings, folder: Path) -> RunSettings:
    """Return the settings with the cost of the explanations subtracted from the limit."""
    if settings.max_cost is None:
        return settings
    spent = sum(call.cost or 0.0 for call in read_calls(folder / JOURNAL))
    return replace(settings, max_cost=max(0.0, settings.max_cost - spent))


def _judge(
    judge: str, texts: dict[Key, str], settings: RunSettings, out: Path, watch: Watch
) -> dict[Key, int]:
    """Return the judge's marks; a reply without a readable mark gives none."""
    known = {item.id: item for item in settings.set.items}
    posed = tuple(posed_to_judge(known[item], run, text) for (item, run), text in texts.items())
    greedy = replace(settings.sampling, temperature=0.0)
    work = replace(settings, prompt=RUBRIC, posed=posed, sampling=greedy, shuffle=False)
    [(folder, complete)] = run_models([judge], work, out, watch=watch)
    if not complete:
        raise DataError(f"{folder}: some marks are missing: repeat the command to resume it")
    marks = {}
    for call in read_calls(folder / JOURNAL):
        mark = None if call.error else read_mark(call.text)
        if mark is not None:
            marks[call.key] = mark
    return marks
