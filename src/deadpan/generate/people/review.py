"""Review: what the model found abnormal is dropped only when a person agrees."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.formats.export import read_export
from deadpan.formats.study import Study, write_study
from deadpan.formats.study_items import ABNORMAL, NORMAL, AnnotateItem
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.folder import GenerationFolder, StepWriter
from deadpan.generate.people.annotate import PROTOCOL, AnnotationStudy
from deadpan.generate.plan import GenerationPlan, open_plan
from deadpan.page.summary import Summary
from deadpan.ratings import majority, ratings_from_judgments
from deadpan.records import Judgment
from deadpan.results import Result
from deadpan.storage import read_records

QUESTION = "context"
CONFIRMED, WAITING = "abnormal_confirmed", "awaiting_review"
DECISIONS = "decisions.jsonl"

Decide = Callable[[Draft, int, int], str | None]
"""Called with a suspect, its number and the number of suspects; returns "normal", "abnormal", "" to skip it,
or None to stop."""


@dataclass(frozen=True, slots=True)
class ReviewResult(Result):
    """Decisions made now, suspects still waiting, and dialogues that go on."""

    decided: int
    waiting: int
    kept: int
    tally: Tally

    def summary(self) -> Summary:
        line = f"{self.decided:,} decided, {self.waiting:,} waiting; {self.kept:,} dialogues go on"
        return Summary(notes=(line,))

    def as_dict(self) -> dict[str, object]:
        return {
            "decided": self.decided,
            "waiting": self.waiting,
            "kept": self.kept,
            "drops": dict(self.tally.drops),
        }


def review_run(
    plan: GenerationPlan | Path | str,
    *,
    run: Path | str | None = None,
    export: Path | None = None,
    decide: Decide | None = None,
    name: str = "",
) -> ReviewResult:
    """Apply people's decisions on what the model found abnormal.

    New decisions come from the `export` of a study, or from `decide`, made by the person `name`. A suspect
    without a decision is held back.
    """
    plan = open_plan(plan, run)
    folder = GenerationFolder(plan.out)
    with folder.lock():
        decided = 0
        if export is not None:
            decided = _record(folder, _exported_decisions(folder, export))
        elif decide is not None:
            decided = _record(folder, _asked_decisions(list(waiting(folder)), decide, name))
        step = apply_review(folder, plan.seed)
        return ReviewResult(decided, sum(1 for _ in waiting(folder)), step.counts.kept, step.tally)


def decisions(run: GenerationFolder) -> dict[str, str]:
    """Return people's decisions per draft: the majority of their last answers; a tie is no decision."""
    path = run.root / DECISIONS
    if not path.is_file():
        return {}
    latest = {(one.item_id, one.annotator): one for one in read_records(path, Judgment)}
    if not latest:
        return {}
    labels = majority(ratings_from_judgments(list(latest.values()), QUESTION))
    return {label.item_id: label.value for label in labels if label.value is not None}


def waiting(run: GenerationFolder) -> Iterator[Draft]:
    """Yield the suspects without a decision."""
    decided = decisions(run)
    return (draft for draft in run.drafts("abnormal") if draft.suspect and draft.id not in decided)


def apply_review(run: GenerationFolder, seed: int) -> StepWriter:
    """Run the step: keep cleared dialogues, drop confirmed ones, hold back and count the undecided."""
    decided = decisions(run)
    config = {"decisions": dict(sorted(decided.items()))}
    with StepWriter(run, "review", config, seed) as out:
        for draft in run.drafts("abnormal"):
            verdict = decided.get(draft.id, "")
            if not draft.suspect or verdict == NORMAL:
                out.keep(draft)
            else:
                reason = CONFIRMED if verdict == ABNORMAL else WAITING
                out.drop(Dropped(draft.id, "review", reason, draft.suspect, draft=draft))
    return out


def write_review_study(
    plan: GenerationPlan | Path | str, folder: Path, *, run: Path | str | None = None
) -> AnnotationStudy:
    """Write the waiting suspects as a study; of its answers only those on the context count."""
    plan = open_plan(plan, run)
    source = GenerationFolder(plan.out)
    items = [
        AnnotateItem(
            draft.id,
            draft.response,
            draft.context,
            explanation=draft.explanation,
            suspect=draft.suspect,
        )
        for draft in waiting(source)
        if draft.response is not None
    ]
    if not items:
        raise DataError(f"{source.root}: no dialogue is waiting for review")
    study = Study(
        PROTOCOL, "Is this dialogue sound?", language=plan.language, seed=plan.seed, raters_per_item=1
    )
    count = write_study(folder, study, items, command="generate review", inputs=[source.kept("abnormal")])
    return AnnotationStudy(folder, count)


def _asked_decisions(queue: list[Draft], decide: Decide, name: str) -> Iterator[Judgment]:
    for place, draft in enumerate(queue, 1):
        started = time.monotonic()
        answer = decide(draft, place, len(queue))
        if answer is None:
            return
        if answer:
            seconds = round(time.monotonic() - started, 1)
            at = datetime.now(UTC).isoformat("T", "seconds")
            yield Judgment(draft.id, name, QUESTION, answer, seconds, at)


def _exported_decisions(run: GenerationFolder, export: Path) -> list[Judgment]:
    known = {draft.id for draft in run.drafts("abnormal") if draft.suspect}
    answers = [
        Judgment(j.item_id, j.annotator, QUESTION, j.answer.strip().lower(), j.seconds, j.created_at)
        for j in read_export(export).judgments
        if j.question == QUESTION and j.item_id in known
    ]
    if not answers:
        raise DataError(f"{export}: no answer to {QUESTION!r} about a dialogue that waits in {run.root}")
    return answers


def _record(run: GenerationFolder, judgments: Iterable[Judgment]) -> int:
    """Append decisions to the file, each on disk before the next one is asked for."""
    count = 0
    with (run.root / DECISIONS).open("a", encoding="utf-8", newline="\n") as file:
        for judgment in judgments:
            file.write(json.dumps(encode(judgment), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            count += 1
    return count
