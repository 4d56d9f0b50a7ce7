"""Label Studio's JSON: tasks in, annotations in and out, for those whose work lives there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from deadpan.errors import DataError
from deadpan.records import Judgment, Turn
from deadpan.storage import read_json, write_text
from deadpan.studies import StudyItem
from deadpan.studio.judgments import latest_records

TEXT_KEYS = ("text", "response", "comment", "body")


def read_tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export, or an error that says what it is instead."""
    tasks = read_json(path)
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict) and isinstance(task.get("data"), dict) for task in tasks
    ):
        raise DataError(f"{path}: not a Label Studio export: expected a list of tasks that have data")
    return tasks


def task_id(task: Mapping[str, Any]) -> str:
    """The item a task is about: the id in its data, else the task's own."""
    return str(task["data"].get("id") or task.get("id") or "")


def items_from(path: Path) -> list[StudyItem]:
    """Tasks as items. The text is under one of the usual names; a context may be turns or lines."""
    items = []
    for number, task in enumerate(read_tasks(path), 1):
        data = task["data"]
        text = next((str(data[key]) for key in TEXT_KEYS if data.get(key)), "")
        if not text.strip():
            raise DataError(f"{path}: task {number} has no text under {', '.join(TEXT_KEYS)}: leave it out")
        context = data.get("context") or []
        turns = [context] if isinstance(context, str) else context
        shown = {key: data[key] for key in ("explanation", "rephrase") if data.get(key)}
        items.append(
            StudyItem(
                id=task_id(task) or str(number),
                response=Turn(str(data.get("speaker", "")), text),
                context=tuple(
                    Turn(str(t.get("speaker", t.get("author", ""))), str(t.get("text", "")))
                    if isinstance(t, dict)
                    else Turn("", str(t))
                    for t in turns
                ),
                shown=shown,
            )
        )
    return items


def judgments_from(path: Path) -> list[Judgment]:
    """Every choice and text somebody gave, as judgments. Cancelled annotations are not answers."""
    found = []
    for task in read_tasks(path):
        for annotation in task.get("annotations") or task.get("completions") or []:
            if annotation.get("was_cancelled"):
                continue
            who = annotation.get("completed_by", "")
            name = who.get("email") or who.get("id") if isinstance(who, dict) else who
            at = str(annotation.get("created_at") or "1970-01-01T00:00:00+00:00").replace("Z", "+00:00")
            results = annotation.get("result") or []
            share = float(annotation.get("lead_time") or 0.0) / max(len(results), 1)
            for result in results:
                answer = _answer(result.get("value") or {})
                if answer:
                    found.append(
                        Judgment(
                            task_id(task), str(name), str(result.get("from_name", "")), answer, share, at
                        )
                    )
    return found


def _answer(value: Mapping[str, Any]) -> str:
    for key in ("choices", "text"):
        given = value.get(key)
        if isinstance(given, list) and given:
            return str(given[0])
        if isinstance(given, str):
            return given
    return ""


def write_tasks(study: Any, path: Path) -> int:
    """The study as Label Studio would export it; the number of tasks. Hidden fields stay hidden."""
    by_item: dict[str, list[Judgment]] = {}
    for record in latest_records(study):
        by_item.setdefault(record.item_id, []).append(record)
    names = sorted({record.annotator for records in by_item.values() for record in records})
    numbers = {name: at for at, name in enumerate(names, 1)}
    choices = set(_choice_names(study))
    tasks = [
        _task(item, by_item.get(item.item_id, []), numbers, choices)
        for item in study.items.filter(kind="main").order_by("position")
    ]
    write_text(path, json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    return len(tasks)


def _choice_names(study: Any) -> Iterable[str]:
    from deadpan.studio.results import choice_questions

    return [question.name for question in choice_questions(study)]


def _task(
    item: Any, records: list[Judgment], numbers: Mapping[str, int], choices: set[str]
) -> dict[str, Any]:
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
    return {"from_name": record.question, "to_name": "text", "type": kind, "value": {key: [record.answer]}}
