"""Small sets of items, and models that answer to order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from deadpan.bench.asking import Question, Reply
from deadpan.bench.items import CATEGORIES, CHECKS, LETTERS
from deadpan.bench.run import Clock, Job
from deadpan.bench.sets import ItemSet, make_set
from deadpan.llm.retries import Backoff, Failed
from deadpan.records import Item, Turn

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "flint",
    "grove",
    "heath",
    "inlet",
    "jetty",
    "knoll",
    "ledge",
]


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
    }  # fmt: skip
    return Item(**{**given, **changes})


def small_set(pairs: int = 6, visibility: str = "public") -> ItemSet:
    items = [make_item(number, twin) for number in range(pairs) for twin in (0, 1)]
    return make_set(visibility, visibility, items)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


FAST = Clock(sleep=no_wait, backoff=Backoff(draw=lambda: 0.5))


class Scripted:
    """Answers by a function of the question, the limit and how often this was asked before."""

    def __init__(self, answer: Callable[[Question, int, int], Reply | Failed | Exception]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int, int]] = []

    async def ask(self, question: Question, max_tokens: int) -> Reply:
        key = (question.item.id, question.run, max_tokens)
        before = self.asked.count(key)
        self.asked.append(key)
        await asyncio.sleep(0)
        found = self.answer(question, max_tokens, before)
        if isinstance(found, Exception):
            raise found
        return found


def says(place: int, question: Question) -> Reply:
    """The reply of a model that chooses an option of the item."""
    return Reply(f"Final Answer: {LETTERS[question.order.index(place)]}", "stop", "m-1", 100, 5)


def right(question: Question, limit: int = 0, before: int = 0) -> Reply:
    return says(question.item.answer, question)


def job(items: ItemSet, **changes) -> Job:
    return Job(items, **{"runs": 3, **changes})
