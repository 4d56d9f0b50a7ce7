"""Label Studio's JSON: tasks and annotations, read and written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.records import Example, Judgment, Turn
from deadpan.results import Result
from deadpan.storage import atomic, read_json
from deadpan.studio.records.journal import latest_records
from deadpan.studio.records.labels import choice_questions

# Start of the ids of answers that this program exported; the annotator's pseudonym follows.
_OWN_ID = "deadpan:"
TEXT_KEYS = ("text", "response", "comment", "body")


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """Read the tasks of an export; any other file is an error."""
    tasks = read_json(path)
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    ):
        raise DataError(f"{path}: not a Label Studio export: expected a list of tasks that have data")
    return tasks


def task_id(task: Mapping[str, Any]) -> str:
    """Return the item's id: the one in the task's data, else the task's own."""
    return str(task["data"].get("id") or task.get("id") or "")


def tasks_to_examples(path: Path) -> list[Example]:
    """Read tasks as unlabelled examples. The text has one of the usual names; a context is turns or lines."""
    examples = []
    for number, task in enumerate(read_tasks(path), 1):
        data = task["data"]
        if not isinstance(data.get("context") or [], str | list):
            raise DataError(f"{path}: task {number} has a context that is neither text nor a list: leave it out")
        text = next((str(data[key]) for key in TEXT_KEYS if data.get(key)), "")
        if not text.strip():
            raise DataError(f"{path}: task {number} has no text under {', '.join(TEXT_KEYS)}: leave it out")
        context = data.get("context") or []
        examples.append(
            Example(
                id=task_id(task) or str(number),
                response=Turn(str(data.get("speaker", "")), text),
                context=tuple(_turn(t) for t in ([context] if isinstance(context, str) else context)),
                explanation=str(data.get("explanation") or ""),
                rephrase=str(data.get("rephrase") or ""),
            )
        )
    return examples


def _turn(turn: Any) -> Turn:
    if isinstance(turn, dict):
        return Turn(str(turn.get("speaker", turn.get("author", ""))), str(turn.get("text", "")))
    return Turn("", str(turn))


def tasks_to_judgments(path: Path) -> list[Judgment]:
    """Read every choice and text as judgments. Cancelled annotations are skipped."""
    found: list[Judgment] = []
    for number, task in enumerate(read_tasks(path), 1):
        try:
            for annotation in task.get("annotations") or task.get("completions") or []:
                if not annotation.get("was_cancelled"):
                    found += _judgments(task_id(task), annotation)
        except (AttributeError, TypeError, ValueError, KeyError) as bad:
            raise DataError(
                f"{path}: task {number} has an annotation that cannot be read ({bad}): export it again"
            ) from None
    return found


def _judgments(item: str, annotation: Mapping[str, Any]) -> Iterator[Judgment]:
    """Yield the answers of one annotation. One of our own exports says in its ids who gave them."""
    who = annotation.get("completed_by", "")
    name = who.get("email") or who.get("id") if isinstance(who, dict) else who
    at = str(annotation.get("created_at") or "1970-01-01T00:00:00+00:00").replace("Z", "+00:00")
    results = annotation.get("result") or []
    share = float(annotation.get("lead_time") or 0.0) / max(len(results), 1)
    for result in results:
        own = str(result.get("id") or "")
        author = own.split(":")[1] if own.startswith(_OWN_ID) and own.count(":") >= 2 else str(name)
        if answer := _answer(result.get("value") or {}):
            yield Judgment(item, author, str(result.get("from_name", "")), answer, share, at)


def _answer(value: Mapping[str, Any]) -> str:
    for key in ("choices", "text"):
        given = value.get(key)
        if isinstance(given, list) and given:
            return str(given[0])
        if isinstance(given, str):
            return given
    return ""


@dataclass(frozen=True, slots=True)
class LabelStudioTasks(Result):
    """A file of tasks as Label Studio exports them."""

    path: Path
    tasks: int

    def summary(self) -> Summary:
        """Return the number of tasks."""
        return Summary(notes=(f"{self.tasks:,} tasks in {self.path}",))

    def as_dict(self) -> dict[str, object]:
        """Return the number of tasks."""
        return {"tasks": self.tasks}


def write_tasks(study: Any, path: Path) -> LabelStudioTasks:
    """Write the study as Label Studio would export it, without hidden fields."""
    by_item: dict[str, list[Judgment]] = {}
    for record in latest_records(study):
        by_item.setdefault(record.item_id, []).append(record)
    names = sorted({record.annotator for records in by_item.values() for record in records})
    numbers = {name: at for at, name in enumerate(names, 1)}
    choices = {question.name for question in choice_questions(study)}
    items = study.items.filter(kind="main").order_by("position")
    count = 0
    with atomic(Path(path)) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        # A task per line, as it comes: a list of all of them would take many times the memory of the study.
        for count, item in enumerate(items.iterator(chunk_size=1000), 1):
            task = _task(item, by_item.get(item.item_id, []), numbers, choices)
            file.write(("[\n" if count == 1 else ",\n") + json.dumps(task, ensure_ascii=False))
        file.write("\n]\n" if count else "[]\n")
    return LabelStudioTasks(Path(path), count)


def _task(item: Any, records: list[Judgment], numbers: Mapping[str, int], choices: set[str]) -> dict[str, Any]:
    by_person: dict[str, list[Judgment]] = {}
    for record in records:
        by_person.setdefault(record.annotator, []).append(record)
    return {
        "id": item.position + 1,
        "data": {
            "id": item.item_id,
            "text": item.response["text"],
            "speaker": item.response.get("speaker", ""),
            "context": item.context,
            **({"options": item.options} if item.options else {}),
            **item.shown,
        },
        "annotations": [
            {
                "id": number,
                "completed_by": {"id": numbers[who], "email": who},
                "created_at": max(record.created_at for record in given),
                "lead_time": round(sum(record.seconds for record in given), 3),
                "was_cancelled": False,
                "result": [_result(record, record.question in choices) for record in given],
            }
            for number, (who, given) in enumerate(sorted(by_person.items()), 1)
        ],
    }


def _result(record: Judgment, is_choice: bool) -> dict[str, Any]:
    kind, key = ("choices", "choices") if is_choice else ("textarea", "text")
    return {
        "id": f"{_OWN_ID}{record.annotator}:{record.question}",
        "from_name": record.question,
        "to_name": "text",
        "type": kind,
        "value": {key: [record.answer]},
    }
