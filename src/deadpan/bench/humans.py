"""People on the same items: their answers become a row, and their agreement says which items are sound."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.bench.folder import Plan, begin, finish
from deadpan.bench.items import LETTERS, family
from deadpan.bench.rows import Row
from deadpan.bench.sets import ItemSet
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.records import Item, Judgment
from deadpan.studies import read_export

HUMAN = "human"
QUESTION = "answer"
COLUMNS = {
    "item_id": ("item_id", "item", "id", "question_id"),
    "annotator": ("annotator", "person", "participant", "rater", "worker"),
    "answer": ("answer", "choice", "response", "option"),
}


def read_answers(path: Path) -> list[Judgment]:
    """People's answers from a study export (a folder) or a CSV with an item, a person and an answer."""
    path = Path(path)
    if path.is_dir():
        return list(read_export(path).judgments)
    if not path.is_file():
        raise DataError(f"{path}: no such file; give a study export or a CSV")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names = _columns(reader.fieldnames or [], path)
            return [_judgment(row, names) for row in reader]
    except (UnicodeDecodeError, csv.Error) as bad:
        raise DataError(f"{path}: not a CSV of answers ({bad})") from None


def _judgment(row: dict[str, str | None], names: dict[str, str]) -> Judgment:
    """A line of a CSV; one that is too short has None for what it lacks."""
    item, person, answer = (row[names[each]] or "" for each in ("item_id", "annotator", "answer"))
    return Judgment(item, person, QUESTION, answer, 0.0, "")


def _columns(found: Sequence[str], path: Path) -> dict[str, str]:
    names = {}
    for wanted, choices in COLUMNS.items():
        match = next((name for name in found if name.strip().lower() in choices), None)
        if match is None:
            have = ", ".join(found) or "none"
            raise DataError(f"{path}: no column named {' or '.join(choices)}; its columns are {have}")
        names[wanted] = match
    return names


def place_of_answer(item: Item, answer: str) -> int | None:
    """The option somebody meant: its letter, its place from 0 or its text; None where it is none of them."""
    said = answer.strip()
    if said in item.options:
        return item.options.index(said)
    if len(said) == 1 and said.upper() in LETTERS:
        return LETTERS.index(said.upper())
    if said.isdigit() and int(said) < len(item.options):
        return int(said)
    return None


def latest_answers(items: ItemSet, judgments: Iterable[Judgment], tally: Tally) -> dict[str, dict[str, int]]:
    """The last answer of every person to every item, by item; what does not fit is counted."""
    known = {item.id: item for item in items.items}
    found: dict[str, dict[str, tuple[str, int | None]]] = defaultdict(dict)
    for judgment in judgments:
        if judgment.item_id not in known:
            tally.drop("not_in_this_set", judgment.item_id)
            continue
        place = place_of_answer(known[judgment.item_id], judgment.answer)
        earlier = found[judgment.item_id].get(judgment.annotator)
        taken_back = earlier is not None and not judgment.answer.strip()
        if place is None and not taken_back:
            tally.drop("no_option", judgment.item_id, judgment.answer)
            continue
        if earlier is not None:
            tally.drop("taken_back" if taken_back else "answered_again", judgment.item_id)
        if earlier is None or judgment.created_at >= earlier[0]:
            found[judgment.item_id][judgment.annotator] = (judgment.created_at, place)
    left = {
        item: {person: place for person, (_, place) in answers.items() if place is not None}
        for item, answers in found.items()
    }
    return {item: answers for item, answers in left.items() if answers}


def write_human_run(out: Path, items: ItemSet, judgments: Sequence[Judgment], tally: Tally) -> bool:
    """A run folder of people: each person is a run. Complete once every item was answered by somebody."""
    answers = latest_answers(items, judgments, tally)
    if not answers:
        raise DataError(f"no answer to an item of {items.label} among {len(judgments)}: is it the right set?")
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty; name another --out")
    people = sorted({person for each in answers.values() for person in each})
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


def _plan(items: ItemSet, people: int, rows: int) -> Plan:
    return Plan(
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


def _row(item: Item, items: ItemSet, person: int, place: int, date: str) -> Row:
    return Row(
        model=HUMAN, returned="", set=items.label, set_hash=items.hash, item=item.id, family=family(item),
        category=item.category, language=item.language, run=person, answer=LETTERS[item.answer],
        prediction=LETTERS[place], correct=place == item.answer, order=LETTERS, stop_reason="stop",
        max_tokens=0, escalated=0, retries=0, calls=0, input_tokens=0, output_tokens=0, cost=None,
        seconds=0.0, error="", text="", at=date,
    )  # fmt: skip


# ---------------------------------------------------------------- agreement


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """How people answered one item."""

    item: str
    n: int
    agreed: float
    """The share of people who took the most common option."""
    right: float
    """The share who took the item's answer."""
    kept: bool
    why: str


def agree(
    items: ItemSet, judgments: Sequence[Judgment], tally: Tally, threshold: float = 0.8, least: int = 3
) -> list[ItemAgreement]:
    """Keep an item where at least `least` people answered and `threshold` of them chose its answer.

    An item whose majority chose another option is not kept: either its key or its wording is wrong.
    """
    if not 0 < threshold <= 1:
        raise DataError(f"--threshold is a share above 0 and up to 1, got {threshold}")
    answers = latest_answers(items, judgments, tally)
    found = []
    for item in items.items:
        given = Counter(answers.get(item.id, {}).values())
        n = given.total()
        agreed = max(given.values()) / n if n else 0.0
        right = given[item.answer] / n if n else 0.0
        why = _why_not(n, least, agreed, right, threshold)
        found.append(ItemAgreement(item.id, n, agreed, right, not why, why))
    return found


def kept_items(items: ItemSet, found: Sequence[ItemAgreement]) -> list[Item]:
    """The items people agree on; one that lost its twin stands alone, so that the set stays sound."""
    names = {each.item for each in found if each.kept}
    kept = [item for item in items.items if item.id in names]
    sizes = Counter(item.pair_id for item in kept)
    return [item if sizes[item.pair_id] > 1 else replace(item, pair_id="") for item in kept]


def _why_not(n: int, least: int, agreed: float, right: float, threshold: float) -> str:
    if n < least:
        return f"fewer than {least} people"
    if agreed < threshold:
        return "people do not agree"
    if right < agreed:
        return "people agree on another option"
    return ""
