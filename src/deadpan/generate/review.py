"""What the model found abnormal waits here until a person says so too."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from deadpan.agreement import majority, ratings_from_judgments
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.generate.draft import Draft, Dropped
from deadpan.generate.folder import RunFolder, StepWriter
from deadpan.records import Judgment
from deadpan.storage import read_records
from deadpan.studies import Study, StudyItem, read_export, write_study

QUESTION = "context"
NORMAL, ABNORMAL = "normal", "abnormal"
CONFIRMED, WAITING = "abnormal_confirmed", "awaiting_review"
DECISIONS = "decisions.jsonl"


def decisions(run: RunFolder) -> dict[str, str]:
    """What people decided, by draft: each person's last word, then the majority; a tie is no decision."""
    path = run.root / DECISIONS
    if not path.is_file():
        return {}
    latest = {(each.item_id, each.annotator): each for each in read_records(path, Judgment)}
    if not latest:
        return {}
    found = majority(ratings_from_judgments(list(latest.values()), QUESTION))
    return {label.item_id: label.value for label in found if label.value is not None}


def decide(run: RunFolder, judgments: Iterable[Judgment]) -> int:
    """Add decisions to the file, each on the disk before the next is asked for."""
    count = 0
    with (run.root / DECISIONS).open("a", encoding="utf-8", newline="\n") as file:
        for judgment in judgments:
            file.write(json.dumps(encode(judgment), ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
            count += 1
    return count


def waiting(run: RunFolder) -> Iterator[Draft]:
    """Suspects nobody has decided on."""
    decided = decisions(run)
    return (draft for draft in run.drafts("abnormal") if draft.suspect and draft.id not in decided)


def apply_review(run: RunFolder, seed: int) -> StepWriter:
    """The step that lets suspects pass or leave; undecided ones are held back and counted."""
    decided = decisions(run)
    config = {"decisions": dict(sorted(decided.items()))}
    with StepWriter(run, "review", config, seed, before="abnormal") as out:
        for draft in run.drafts("abnormal"):
            verdict = decided.get(draft.id, "")
            if not draft.suspect or verdict == NORMAL:
                out.keep(draft)
            else:
                reason = CONFIRMED if verdict == ABNORMAL else WAITING
                out.drop(Dropped(draft.id, "review", reason, draft.suspect, draft=draft))
    return out


def write_review_study(run: RunFolder, folder: Path, language: str, seed: int) -> int:
    """The queue as a study folder: the annotate protocol, of which only the context's question counts."""
    items = [
        StudyItem(
            draft.id,
            draft.response,
            draft.context,
            shown={"explanation": draft.explanation},
            hidden={"suspect": draft.suspect},
        )
        for draft in waiting(run)
        if draft.response is not None
    ]
    if not items:
        raise DataError(f"{run.root}: nothing waits for review")
    study = Study("annotate", "Is this dialogue sound?", language=language, seed=seed, raters_per_item=1)
    return write_study(folder, study, items, command="generate review", inputs=[run.kept("abnormal")])


def read_review_export(run: RunFolder, folder: Path) -> int:
    """Take the answers of an exported study as decisions."""
    known = {draft.id for draft in run.drafts("abnormal") if draft.suspect}
    answers = [
        Judgment(j.item_id, j.annotator, QUESTION, j.answer.strip().lower(), j.seconds, j.created_at)
        for j in read_export(folder).judgments
        if j.question == QUESTION and j.item_id in known
    ]
    if not answers:
        raise DataError(f"{folder}: no answer to {QUESTION!r} about a dialogue that waits in {run.root}")
    return decide(run, answers)
