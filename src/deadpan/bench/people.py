"""People: the quiz they take, their answers as a run, and the items on which they agree."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import shorten

from deadpan.bench.items.item import LETTERS, check_items_name, family, write_items
from deadpan.bench.items.sets import AskPassphrase, ItemSet, open_set
from deadpan.bench.runs.folder import PLAN, ROWS, AnswerRow, RunPlan, begin, finish, make_folder, read_plan, read_run
from deadpan.bench.scores.report import score_tables, set_note
from deadpan.bench.scores.score import RunScores, item_answers, score_run
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.judgments import read_export
from deadpan.formats.study import QuizItem, Study, write_study
from deadpan.page.summary import Summary
from deadpan.page.table import Cell, Table
from deadpan.records import Item, Judgment, Turn
from deadpan.results import Result
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
    items: str | Path | ItemSet, out: Path, *, raters: int = 5, seed: int = 0, ask: AskPassphrase | None = None
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
    count = write_study(out, study, asked, command="bench people study")
    return QuizStudy(out, items.label, count, raters)


# ---------------------------------------------------------------- scores


@dataclass(frozen=True, slots=True)
class PeopleScores(Result):
    """People's answers as a run, its scores, and the agreement of people on every item."""

    out: Path
    scores: RunScores = field(repr=False)
    unanswered: int
    tally: Tally = field(repr=False)
    facts: PeopleFacts = field(repr=False)
    agreement: SetAgreement = field(repr=False)

    @property
    def complete(self) -> bool:
        return not self.unanswered

    def as_dict(self) -> dict[str, object]:
        """Return the scores, the answers that were excluded, and every item with its agreement."""
        found = {"people": encode(self.facts), "agreement": self.agreement.as_dict()}
        return {**self.scores.as_dict(), **self.tally.as_dict(), **found}

    def summary(self) -> Summary:
        """Return the scores of people, the items on which they disagree, and those that nobody answered."""
        notes = [*self.tally.notes(), set_note(self.scores)]
        notes.append(
            f"The interval is over people and items. On average {self.facts.agreed:.2f} of the answers to an item are "
            "its most frequent one, the highest score that anyone can reach."
        )
        if self.facts.flagged:
            shown = ", ".join(self.facts.flagged[:5]) + (", ..." if len(self.facts.flagged) > 5 else "")
            notes.append(f"{len(self.facts.flagged)} items below 70 % agreement with their key: {shown}")
        if self.unanswered:
            notes.append(f"{self.unanswered} items have no answer: the row stays off the leaderboard.")
        agreed = self.agreement.summary()
        tables = (*score_tables((self.scores.model,), (self.scores,)), *agreed.tables)
        return Summary(tables, (*notes, agreed.notes[-1]))


def score_people(
    answers: Path,
    items: str | Path | ItemSet,
    out: Path,
    *,
    keep: Path | None = None,
    min_agreement: float = 0.8,
    min_raters: int = 3,
    seed: int = 0,
    ask: AskPassphrase | None = None,
) -> PeopleScores:
    """Turn people's answers (a studio export or a CSV) into a run for the leaderboard, and judge the items.

    An item is kept if at least `min_raters` people answered it and a share of `min_agreement` chose its
    answer; `keep` is a .jsonl file that gets these items.
    """
    opened, tally, out = open_set(items, ask), Tally(), Path(out)
    judgments = read_answers(answers, opened)
    _check_kept(keep, min_agreement)
    write_human_run(out, opened, judgments, tally)
    run = read_run(out)
    scores, facts = score_run(run, seed), people_facts(run.rows)
    agreement = agreed_items(answers, opened, min_agreement=min_agreement, min_raters=min_raters, out=keep)
    return PeopleScores(out, scores, len(opened.items) - scores.n, tally, facts, agreement)


def _check_kept(out: Path | None, min_agreement: float) -> None:
    """Raise what would stop the items that people agree on from being written."""
    if not 0 < min_agreement <= 1:
        raise ConfigError(f"min_agreement is {min_agreement:g}: give a number above 0 and at most 1")
    if out is not None:
        check_items_name(out)
        if out.exists():
            raise DataError(f"{out}: already exists: choose another file")


# ---------------------------------------------------------------- answers

_HUMAN = "human"
_QUESTION = "answer"
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
        return [judgment for judgment in read_export(path).judgments if judgment.question == _QUESTION]
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
    return Judgment(item, person, _QUESTION, answer, 0.0, "")


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
        raise DataError(f"none of {len(judgments)} answers is to an item of {items.label}: name its set with --set")
    _clear_earlier(out, items)
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


def _clear_earlier(out: Path, items: ItemSet) -> None:
    """Make way for newer answers: people's earlier row on the same set is replaced, nothing else is."""
    if not out.exists() or not any(out.iterdir()):
        return
    earlier = read_plan(out) if (out / PLAN).is_file() else None
    if earlier is None or earlier.model != _HUMAN or earlier.set_hash != items.hash:
        raise DataError(f"{out}: not empty and not people's answers to {items.label}: choose another --out")
    for old in (manifest_path(out), out / ROWS, out / PLAN):
        old.unlink(missing_ok=True)


def _human_plan(items: ItemSet, people: int, rows: int) -> RunPlan:
    return RunPlan(
        model=_HUMAN,
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
        model=_HUMAN, returned="", set=items.label, set_hash=items.hash, item=item.id, family=family(item),
        category=item.category, language=item.language, run=person, answer=LETTERS[item.answer],
        prediction=LETTERS[place], correct=place == item.answer, order=LETTERS[: len(item.options)],
        stop_reason="stop", max_tokens=0, escalated=0, retries=0, calls=0, input_tokens=0, output_tokens=0,
        cost=None, seconds=0.0, error="", text="", at=date,
    )  # fmt: skip


AGREEMENT = 0.7
"""Items whose key a smaller share of people choose are flagged: key, wording or scene may be wrong."""


@dataclass(frozen=True, slots=True)
class PeopleFacts:
    """Facts about people's answers beyond their score."""

    people: int
    agreed: float
    """The mean share of the most frequent option of an item: nobody can agree with people more often."""
    flagged: tuple[str, ...]
    """Items that two people or more answered, of whom fewer than 70 % chose the key."""


def people_facts(rows: Sequence[AnswerRow]) -> PeopleFacts:
    """Return the facts of a run by people; its run number is the person."""
    asked = item_answers(rows)
    agreed = [max(Counter(each.predictions).values()) / len(each.predictions) for each in asked]
    flagged = [each.item for each in asked if len(each.predictions) > 1 and each.right < AGREEMENT]
    people = len({row.run for row in rows})
    return PeopleFacts(people, sum(agreed) / len(agreed), tuple(flagged))


_SHOWN_ITEMS = 20


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
            for each in [each for each in dropped if each.n][:_SHOWN_ITEMS]
        ]
        columns = ("item", "people", "agreed", "right", "dropped because")
        reasons = ", ".join(f"{why} {n}" for why, n in Counter(each.why for each in dropped).items())
        note = f"kept {len(self.kept)} of {len(self.items)} items" + (f"; dropped: {reasons}" if reasons else "")
        return Summary((Table(columns, tuple(rows)),) if rows else (), (*self.tally.notes(), note))


def agreed_items(
    answers: Path,
    items: str | Path | ItemSet,
    *,
    min_agreement: float = 0.8,
    min_raters: int = 3,
    out: Path | None = None,
    ask: AskPassphrase | None = None,
) -> SetAgreement:
    """Keep the items on which people agree with the key; write them to `out` if given.

    An item that lost the other half of its pair stays, as a single item.
    """
    _check_kept(out, min_agreement)
    opened, tally = open_set(items, ask), Tally()
    agreement = item_agreement(opened, read_answers(answers, opened), tally, min_agreement, min_raters)
    kept = kept_items(opened, {each.item for each in agreement if each.kept})
    if out is not None:
        write_items(out, kept)
    return SetAgreement(tuple(agreement), tuple(kept), tally)


def item_agreement(
    items: ItemSet, judgments: Sequence[Judgment], tally: Tally, min_agreement: float = 0.8, min_raters: int = 3
) -> list[ItemAgreement]:
    """Return the agreement per item. If most people chose another option, key or wording is wrong."""
    answers = latest_answers(items, judgments, tally)
    agreement = []
    for item in items.items:
        votes = Counter(answers.get(item.id, {}).values())
        n = votes.total()
        agreed = max(votes.values()) / n if n else 0.0
        right = votes[item.answer] / n if n else 0.0
        why = _why_not(n, min_raters, agreed, right, min_agreement)
        agreement.append(ItemAgreement(item.id, n, agreed, right, not why, why))
    return agreement


def kept_items(items: ItemSet, names: Container[str]) -> list[Item]:
    """Return the items of these names; one that lost the other half of its pair becomes a single item."""
    kept = [item for item in items.items if item.id in names]
    sizes = Counter(item.pair_id for item in kept)
    return [item if sizes[item.pair_id] > 1 else replace(item, pair_id="") for item in kept]


def _why_not(n: int, min_raters: int, agreed: float, right: float, min_agreement: float) -> str:
    if n < min_raters:
        return f"fewer than {min_raters} people"
    if agreed < min_agreement:
        return "people do not agree"
    if right < agreed:
        return "people agree on another option"
    return ""
