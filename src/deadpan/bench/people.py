"""People: the quiz they take, their answers as a run, and the items on which they agree."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten

import numpy as np

from deadpan.bench.items.item import LETTERS, check_items_name, family, write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.folder import AnswerRow, RunPlan, begin, finish, make_folder
from deadpan.bench.scores.score import item_answers
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.export import read_export
from deadpan.formats.study import Study, write_study
from deadpan.formats.study_items import QuizItem
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Item, Judgment, Turn
from deadpan.results import Result
from deadpan.stats import LEVEL, Interval
from deadpan.stats.interval import percentile_interval
from deadpan.storage import manifest_path, read_manifest
from deadpan.validation import encode

PROTOCOL = "quiz"


@dataclass(frozen=True, slots=True)
class QuizStudy(Result):
    """A study folder that was written."""

    out: Path
    set: str
    items: int
    raters: int

    def as_dict(self) -> dict[str, object]:
        """Return the folder and the number of items."""
        return {"out": str(self.out), "set": self.set, "items": self.items, "raters": self.raters}

    def summary(self) -> Summary:
        """Return the folder and the next command."""
        return Summary(
            notes=(
                f"{self.out}: a quiz of {self.items} items for {self.raters} people per item.",
                f"Next: deadpan studio create quiz {self.out} --name NAME",
            )
        )


def write_quiz(
    items: str | Path | ItemSet,
    out: Path,
    *,
    raters: int = 5,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> QuizStudy:
    """Write the study. Answer, category and pair are hidden fields: no browser gets them."""
    items, out = open_set(items, ask), Path(out)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: not empty: choose another --out")
    languages = sorted({item.language for item in items.items})
    study = Study(
        protocol=PROTOCOL,
        title=f"SarcBench {items.label}",
        version=items.version,
        language=languages[0] if len(languages) == 1 else "en",
        seed=seed,
        raters_per_item=raters,
        settings={"set": items.label, "set_hash": items.hash, "question": "answer"},
    )
    asked = [
        QuizItem(
            id=item.id,
            response=Turn(item.speaker, item.utterance),
            context=item.context,
            options=item.options,
            question=item.question,
            language=item.language,
            after=item.after,
            answer=item.answer,
            category=item.category,
            pair=family(item),
            version=item.version,
        )
        for item in items.items
    ]
    make_folder(out, items.visibility)
    count = write_study(out, study, asked, command="bench study")
    return QuizStudy(out, items.label, count, raters)


HUMAN = "human"
QUESTION = "answer"
_SHOWN_COLUMNS = 120
"""Characters of a file's columns that an error shows: if the file is not a table, that is a whole line."""
_ANSWER_COLUMNS = {
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
    for wanted, choices in _ANSWER_COLUMNS.items():
        match = next((name for name in header if name.strip().lower() in choices), None)
        if match is None:
            have = shorten(", ".join(header) or "none", _SHOWN_COLUMNS, placeholder=" ...")
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
        _human_row(item, items, number[person], place, max(dates, default=""))
        for item in items.items
        for person, place in sorted(answers.get(item.id, {}).items())
    ]
    plan = _human_plan(items, len(people), len(rows))
    begin(out, plan)
    return finish(out, plan, rows)


def _human_plan(items: ItemSet, people: int, rows: int) -> RunPlan:
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


def _human_row(item: Item, items: ItemSet, person: int, place: int, date: str) -> AnswerRow:
    return AnswerRow(
        model=HUMAN, returned="", set=items.label, set_hash=items.hash, item=item.id, family=family(item),
        category=item.category, language=item.language, run=person, answer=LETTERS[item.answer],
        prediction=LETTERS[place], correct=place == item.answer, order=LETTERS[: len(item.options)],
        stop_reason="stop", max_tokens=0, escalated=0, retries=0, calls=0, input_tokens=0, output_tokens=0,
        cost=None, seconds=0.0, error="", text="", at=date,
    )  # fmt: skip


AGREEMENT = 0.7
"""Items whose key a smaller share of people choose are flagged: key, wording or scene may be wrong."""
RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class PeopleFacts:
    """Facts about people's answers beyond their score."""

    people: int
    over_people: Interval
    """Accuracy; the interval resamples people and families of items, crossed."""
    agreed: float
    """The mean share of the most frequent option of an item: nobody can agree with people more often."""
    flagged: tuple[str, ...]
    """Items that two people or more answered, of whom fewer than 70 % chose the key."""


def people_facts(rows: Sequence[AnswerRow], seed: int = 0) -> PeopleFacts:
    """Return the facts of a run by people; its run number is the person."""
    asked = item_answers(rows)
    agreed = [max(Counter(each.predictions).values()) / len(each.predictions) for each in asked]
    flagged = [each.item for each in asked if len(each.predictions) > 1 and each.right < AGREEMENT]
    people = len({row.run for row in rows})
    return PeopleFacts(people, _crossed(rows, seed), sum(agreed) / len(agreed), tuple(flagged))


def _crossed(rows: Sequence[AnswerRow], seed: int) -> Interval:
    """Resample people and families independently; a row's weight is the product of the two counts."""
    person = np.unique([row.run for row in rows], return_inverse=True)[1]
    family = np.unique([row.family for row in rows], return_inverse=True)[1]
    right = np.array([row.correct for row in rows], dtype=np.float64)
    value, people, families = float(right.mean()), int(person.max()) + 1, int(family.max()) + 1
    if people == 1 or families == 1:
        what = "person" if people == 1 else "family of items"
        return Interval(value, None, None, LEVEL, len(rows), why=f"one {what} only: no interval")
    rng, found = np.random.default_rng(seed), []
    for _ in range(RESAMPLES):
        times = rng.multinomial(people, [1 / people] * people)[person]
        weight = times * rng.multinomial(families, [1 / families] * families)[family]
        if weight.any():
            found.append(float(weight @ right / weight.sum()))
    fewer = min(people, families)
    return percentile_interval(value, np.array(found), len(rows), clusters=fewer, limits=(0.0, 1.0))


SHOWN_ITEMS = 20


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """People's answers to one item, in shares."""

    item: str
    n: int
    agreed: float
    """The share of people who chose the most frequent option."""
    right: float
    """The share of people who chose the keyed answer."""
    kept: bool
    why: str


@dataclass(frozen=True, slots=True)
class SetAgreement(Result):
    """Agreement per item, and the items that are kept."""

    items: tuple[ItemAgreement, ...] = field(repr=False)
    kept: tuple[Item, ...] = field(repr=False)
    tally: Tally = field(repr=False)

    def __repr__(self) -> str:
        return f"SetAgreement({len(self.kept)} of {len(self.items)} items kept)"

    def as_dict(self) -> dict[str, object]:
        """Return every item with its agreement."""
        return {"kept": len(self.kept), "items": encode(self.items), **self.tally.as_dict()}

    def summary(self) -> Summary:
        """Return the dropped items that people answered, and how many were kept."""
        dropped = [each for each in self.items if not each.kept]
        rows: list[tuple[Cell, ...]] = [
            (each.item, each.n, f"{each.agreed:.2f}", f"{each.right:.2f}", each.why)
            for each in [each for each in dropped if each.n][:SHOWN_ITEMS]
        ]
        columns = ("item", "people", "agreed", "right", "dropped because")
        reasons = ", ".join(f"{why} {n}" for why, n in Counter(each.why for each in dropped).items())
        note = f"kept {len(self.kept)} of {len(self.items)} items" + (
            f"; dropped: {reasons}" if reasons else ""
        )
        return Summary((Table(columns, tuple(rows)),) if rows else (), (*self.tally.notes(), note))


def agreed_items(
    answers: Path,
    items: str | Path | ItemSet,
    *,
    threshold: float = 0.8,
    least: int = 3,
    out: Path | None = None,
    ask: AskPassphrase | None = None,
) -> SetAgreement:
    """Keep the items on which people agree with the key; write them to `out` if given.

    An item is kept if at least `least` people answered it and a share of `threshold` chose its answer. An
    item that lost the other half of its pair stays, as a single item.
    """
    if out is not None:
        check_items_name(out)
        if out.exists():
            raise DataError(f"{out}: already exists: choose another --out")
    opened, tally = open_set(items, ask), Tally()
    agreement = item_agreement(opened, read_answers(answers, opened), tally, threshold, least)
    kept = kept_items(opened, agreement)
    if out is not None:
        write_items(out, kept)
    return SetAgreement(tuple(agreement), tuple(kept), tally)


def item_agreement(
    items: ItemSet, judgments: Sequence[Judgment], tally: Tally, threshold: float = 0.8, least: int = 3
) -> list[ItemAgreement]:
    """Return the agreement per item. If most people chose another option, key or wording is wrong."""
    if not 0 < threshold <= 1:
        raise ConfigError(f"threshold is {threshold:g}: give a number above 0 and at most 1")
    answers = latest_answers(items, judgments, tally)
    agreement = []
    for item in items.items:
        votes = Counter(answers.get(item.id, {}).values())
        n = votes.total()
        agreed = max(votes.values()) / n if n else 0.0
        right = votes[item.answer] / n if n else 0.0
        why = _why_not(n, least, agreed, right, threshold)
        agreement.append(ItemAgreement(item.id, n, agreed, right, not why, why))
    return agreement


def kept_items(items: ItemSet, agreement: Sequence[ItemAgreement]) -> list[Item]:
    """Return the kept items; one that lost the other half of its pair becomes a single item."""
    names = {each.item for each in agreement if each.kept}
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
