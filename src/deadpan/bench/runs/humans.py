"""People's answers to the items of a set, stored as a run: the human baseline."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import shorten

from deadpan.bench.items.item import LETTERS, family
from deadpan.bench.items.sets import ItemSet
from deadpan.bench.runs.folder import RunPlan, begin, finish
from deadpan.bench.runs.rows import AnswerRow
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.export import read_export
from deadpan.records import Item, Judgment
from deadpan.storage import manifest_path, read_manifest

HUMAN = "human"
QUESTION = "answer"
SHOWN = 120
"""Characters of a file's columns that an error shows: if the file is not a table, that is a whole line."""
COLUMNS = {
    "item_id": ("item_id", "item", "id", "question_id"),
    "annotator": ("annotator", "person", "participant", "rater", "worker"),
    "answer": ("answer", "choice", "response", "option"),
}


def read_answers(path: Path, items: ItemSet | None = None) -> list[Judgment]:
    """Read people's answers from a studio export (a folder) or a CSV with item, person and answer.

    An export says which set its study asked about: another one than `items` is an error.
    """
    path = Path(path)
    if path.is_dir():
        if items is not None:
            _check_set(path, items)
        return [judgment for judgment in read_export(path).judgments if judgment.question == QUESTION]
    if not path.is_file():
        raise DataError(f"{path}: no such file: give the folder that `deadpan studio export` wrote, or a CSV")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = _columns(reader.fieldnames or [], path)
            return [_judgment(row, names) for row in reader]
    except (UnicodeDecodeError, csv.Error) as bad:
        raise DataError(f"{path}: not a CSV of answers ({bad})") from None


def _check_set(export: Path, items: ItemSet) -> None:
    """Refuse the export of a study of another set: equal ids and letters would be taken for its items."""
    asked = read_manifest(export).config if manifest_path(export).is_file() else {}
    found = asked.get("set_hash")
    if found and found != items.hash:
        raise DataError(
            f"{export} answers {asked.get('set', 'another set')} ({str(found)[:12]}), not {items.label} "
            f"({items.hash[:12]}): name its set with --set"
        )


def _judgment(row: dict[str, str | None], names: dict[str, str]) -> Judgment:
    """Return a line of a CSV as a judgment; a short line has None for missing cells."""
    item, person, answer = (row[names[field]] or "" for field in ("item_id", "annotator", "answer"))
    return Judgment(item, person, QUESTION, answer, 0.0, "")


def _columns(header: Sequence[str], path: Path) -> dict[str, str]:
    names = {}
    for wanted, choices in COLUMNS.items():
        match = next((name for name in header if name.strip().lower() in choices), None)
        if match is None:
            have = shorten(", ".join(header) or "none", SHOWN, placeholder=" ...")
            raise DataError(
                f"{path}: no column named {' or '.join(choices)}, but {have}: give a studio export or a CSV"
            )
        names[wanted] = match
    return names


def place_of_answer(item: Item, answer: str) -> int | None:
    """Return the index of the option given by its text, letter or index from 0; None if there is none."""
    answer = answer.strip()
    if answer in item.options:
        return item.options.index(answer)
    if len(answer) == 1 and answer.upper() in LETTERS[: len(item.options)]:
        return LETTERS.index(answer.upper())
    if answer.isdecimal() and len(answer) < 4 and int(answer) < len(item.options):
        return int(answer)
    return None


def latest_answers(items: ItemSet, judgments: Iterable[Judgment], tally: Tally) -> dict[str, dict[str, int]]:
    """Return the last answer of every person, per item. Answers that do not fit the set are counted."""
    known = {item.id: item for item in items.items}
    latest: dict[str, dict[str, tuple[str, int | None]]] = defaultdict(dict)
    for judgment in judgments:
        if judgment.item_id not in known:
            tally.drop("not_in_this_set", judgment.item_id)
            continue
        place = place_of_answer(known[judgment.item_id], judgment.answer)
        earlier = latest[judgment.item_id].get(judgment.annotator)
        withdrawn = earlier is not None and not judgment.answer.strip()
        if place is None and not withdrawn:
            tally.drop("no_option", judgment.item_id, judgment.answer)
            continue
        if earlier is not None:
            tally.drop("withdrawn" if withdrawn else "answered_again", judgment.item_id)
        if earlier is None or judgment.created_at >= earlier[0]:
            latest[judgment.item_id][judgment.annotator] = (judgment.created_at, place)
    left = {
        item: {person: place for person, (_, place) in answers.items() if place is not None}
        for item, answers in latest.items()
    }
    return {item: answers for item, answers in left.items() if answers}


def write_human_run(out: Path, items: ItemSet, judgments: Sequence[Judgment], tally: Tally) -> bool:
    """Write people's answers as a run, one run per person; return whether every item has an answer."""
    answers = latest_answers(items, judgments, tally)
    if not answers:
        raise DataError(
            f"none of {len(judgments)} answers is to an item of {items.label}: name its set with --set"
        )
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
    people = sorted({person for by_person in answers.values() for person in by_person})
    number = {person: place for place, person in enumerate(people, 1)}
    dates = [judgment.created_at for judgment in judgments if judgment.created_at]
    rows = [
        _row(item, items, number[person], place, max(dates, default=""))
        for item in items.items
        for person, place in sorted(answers.get(item.id, {}).items())
    ]
    plan = _plan(items, len(people), len(rows))
    begin(out, plan)
    return finish(out, plan, rows)


def _plan(items: ItemSet, people: int, rows: int) -> RunPlan:
    return RunPlan(
        model=HUMAN,
        set=items.label,
        set_hash=items.hash,
        visibility=items.visibility,
        items=tuple(item.id for item in items.items),
        set_size=len(items.items),
        runs=people,
        prompt="the quiz",
        prompt_texts={},
        temperature=None,
        top_p=None,
        limits=(),
        seed=0,
        shuffle=False,
        expected=rows,
    )


def _row(item: Item, items: ItemSet, person: int, place: int, date: str) -> AnswerRow:
    return AnswerRow(
        model=HUMAN, returned="", set=items.label, set_hash=items.hash, item=item.id, family=family(item),
        category=item.category, language=item.language, run=person, answer=LETTERS[item.answer],
        prediction=LETTERS[place], correct=place == item.answer, order=LETTERS[: len(item.options)],
        stop_reason="stop", max_tokens=0, escalated=0, retries=0, calls=0, input_tokens=0, output_tokens=0,
        cost=None, seconds=0.0, error="", text="", at=date,
    )  # fmt: skip
