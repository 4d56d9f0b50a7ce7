"""Running the open track: ask for explanations, have them marked, all in journals that survive a kill."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from deadpan.bench.baselines import PREFIX
from deadpan.bench.calls import read_calls
from deadpan.bench.folder import JOURNAL, keep_close, read_run, slug
from deadpan.bench.judge import judge_question, read_mark
from deadpan.bench.open_track import Explanation, Key, mark_similarity
from deadpan.bench.prompts import EXPLAIN, RUBRIC
from deadpan.bench.run import Job, State, run_models
from deadpan.errors import ConfigError, DataError
from deadpan.storage import write_manifest, write_records

EXPLANATIONS = "explanations.jsonl"
Watch = Callable[[Sequence[State]], None]


def explain(
    model: str,
    judge: str,
    job: Job,
    out: Path,
    people: dict[Key, bool] | None = None,
    watch: Watch | None = None,
) -> list[Explanation]:
    """Ask one model, mark by vectors, by the judge if one is named, and by people if they did."""
    for name in (model, judge):
        if name.startswith(PREFIX):
            raise ConfigError(f"{name} only chooses letters: name a model that writes")
    asked = replace(job, prompt=EXPLAIN)
    seen = watch or (lambda states: None)
    [(folder, complete)] = run_models([model], asked, out / "explain", watch=seen)
    if not complete:
        raise DataError(f"{folder}: some explanations are missing; run the same command to go on")
    texts = _texts(folder)
    marked = mark_similarity(job.set, texts)
    if judge:
        marks = _judge(judge, model, texts, _paid(job, folder), out, seen)
        marked = [replace(each, judge=marks.get((each.item, each.run))) for each in marked]
    if people:
        marked = [replace(each, people=people.get((each.item, each.run))) for each in marked]
    written = out / slug(model)
    keep_close(written, job.set.visibility)
    write_records(written / EXPLANATIONS, marked, Explanation)
    config = {"model": model, "judge": judge, "rubric": RUBRIC if judge else "", "prompt": EXPLAIN}
    config |= {"set": job.set.label, "set_hash": job.set.hash}
    counts = {"explanations": len(marked), "marked by people": sum(e.people is not None for e in marked)}
    write_manifest(written, command="bench explain", config=config, seed=job.sampling.seed, counts=counts)
    return marked


def _paid(job: Job, folder: Path) -> Job:
    """The job with what the explanations cost taken out of its limit: the judge gets the rest."""
    if job.max_cost is None:
        return job
    spent = sum(call.cost or 0.0 for call in read_calls(folder / JOURNAL))
    return replace(job, max_cost=max(0.0, job.max_cost - spent))


def _texts(folder: Path) -> dict[Key, str]:
    """What was said, by item and run, in the order it was asked."""
    return {(row.item, row.run): row.text.strip() for row in read_run(folder).rows}


def _judge(
    judge: str, model: str, texts: dict[Key, str], job: Job, out: Path, watch: Watch
) -> dict[Key, int]:
    """The judge's marks; a reply without a readable mark gives none."""
    known = {item.id: item for item in job.set.items}
    questions = tuple(judge_question(known[item], run, text) for (item, run), text in texts.items())
    cold = replace(job.sampling, temperature=0.0)
    work = replace(job, prompt=RUBRIC, asked=questions, sampling=cold, shuffle=False)
    [(folder, complete)] = run_models([judge], work, out / "judge" / slug(model), watch=watch)
    if not complete:
        raise DataError(f"{folder}: some marks are missing; run the same command to go on")
    found = {}
    for call in read_calls(folder / JOURNAL):
        mark = None if call.error else read_mark(call.text)
        if mark is not None:
            found[call.key] = mark
    return found
