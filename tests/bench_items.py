"""Small sets of items, and models that answer to order."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

from deadpan.bench.items.item import CATEGORIES, CHECKS, LETTERS
from deadpan.bench.items.sets import ItemSet, make_set
from deadpan.bench.runs.answerers import GivenAnswer
from deadpan.bench.runs.folder import BenchRun, read_run
from deadpan.bench.runs.run import RunClock, run_models
from deadpan.bench.runs.settings import PosedItem, RunSettings
from deadpan.llm.retries import Backoff, Failed
from deadpan.records import Item, Judgment, Turn

WORDS = ["amber", "birch", "cedar", "delta", "ember", "flint", "grove", "heath", "inlet", "jetty", "knoll", "ledge"]


def make_item(number: int, twin: int = 0, **changes) -> Item:
    """An item whose options are all different and tell nothing; `twin` makes the second of a pair."""
    word = WORDS[number % len(WORDS)]
    place = (number + 3 * twin) % 6
    options = [f"The speaker means thing {number} {each} in the {word}." for each in "uvwxyz"]
    rolled = options[-twin:] + options[:-twin] if twin else options
    given = {
        "id": f"i{number}-{twin}",
        "version": "0.2.0",
        "context": (Turn("Narrator", f"It is day {number} of a long week by the {word}, and it {'rains' if twin else 'shines'} on all of us there."),),
        "utterance": f"Lovely {word} weather, number {number}.",
        "question": f"What does the speaker mean about {number}?",
        "options": tuple(rolled),
        "answer": place,
        "category": CATEGORIES[number % 5],
        "pair_id": f"p{number}",
        "checks": dict.fromkeys(CHECKS, True),
        "tags": ("test",),
        "author": "a test",
        "licence": "CC0-1.0",
        "canary": "canary",
        "speaker": "Ann",
        "difficulty": "none",
        "mistakes": tuple("" if at == place else "literal" for at in range(6)),
        "cue": f"day {number} of a long week",
    }  # fmt: skip
    return Item(**{**given, **changes})


def small_set(pairs: int = 6, visibility: str = "public") -> ItemSet:
    items = [make_item(number, twin) for number in range(pairs) for twin in (0, 1)]
    return make_set(visibility, visibility, items)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


FAST = RunClock(sleep=no_wait, backoff=Backoff(draw=lambda: 0.5))


class Scripted:
    """Answers by a function of the question, the limit and how often this was asked before."""

    def __init__(self, answer: Callable[[PosedItem, int, int], GivenAnswer | Failed | Exception]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int, int]] = []

    async def ask(self, question: PosedItem, max_tokens: int) -> GivenAnswer:
        key = (question.item.id, question.run, max_tokens)
        before = self.asked.count(key)
        self.asked.append(key)
        await asyncio.sleep(0)
        found = self.answer(question, max_tokens, before)
        if isinstance(found, Exception):
            raise found
        return found


def says(place: int, question: PosedItem) -> GivenAnswer:
    """The reply of a model that chooses an option of the item."""
    return GivenAnswer(f"Final Answer: {LETTERS[question.order.index(place)]}", "stop", "m-1", 100, 5)


def right(question: PosedItem, limit: int = 0, before: int = 0) -> GivenAnswer:
    return says(question.item.answer, question)


def forget_calls(journal: Path, keep: Callable[[int, str], bool]) -> int:
    """Delete the calls of a run for which `keep` (by number and tag) is false; return how many are left."""
    with sqlite3.connect(journal) as db:
        rows = db.execute("SELECT id, record FROM entries WHERE final OR paid = 0 ORDER BY id").fetchall()
        kept = [row for n, row in enumerate(rows) if keep(n, json.loads(row[1])["tag"])]
        gone = {row[0] for row in rows} - {row[0] for row in kept}
        db.executemany("DELETE FROM entries WHERE id = ?", [(each,) for each in gone])
    db.close()
    return len(kept)


def job(items: ItemSet, **changes) -> RunSettings:
    return RunSettings(items, **{"runs": 3, **changes})


def judged(items: ItemSet, people: int = 3, wrong: set[tuple[str, int]] = frozenset()) -> list[Judgment]:
    """Right answers by several people, but for (item, person) in `wrong`."""
    return [
        Judgment(item.id, f"p{n}", "answer", item.options[(item.answer + ((item.id, n) in wrong)) % 6], 5.0, "2026-11-15T10:00:00")
        for item in items.items
        for n in range(people)
    ]  # fmt: skip


def run_scripted(out: Path, name: str, answer: Callable, items: ItemSet, **changes) -> BenchRun:
    """The run of a model that answers to order."""
    settings = job(items, **changes)
    [(folder, _)] = run_models([name], settings, out, clock=FAST, answerers={name: Scripted(answer)})
    return read_run(folder)


def off_by(step: int) -> Callable:
    """Answers that are always wrong, by some options."""
    return lambda q, limit, n: says((q.item.answer + step) % 6, q)
