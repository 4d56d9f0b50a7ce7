"""SarcBench for people: two to six options, one best; the human row of the leaderboard."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.formats.study import QuizItem, QuizSettings
from deadpan.page import Cell, Table
from deadpan.records import Item, Turn
from deadpan.stats import LEVEL, Interval, wilson
from deadpan.stats.interval import RESAMPLES, FloatArray, totals_interval, undefined
from deadpan.stats.scores import share
from deadpan.studio.protocols.protocol import (
    Answers,
    Choice,
    LazyText,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    shuffled_places,
)

_LETTERS = "ABCDEF"
_BEST = Question("answer", _("Which answer fits best?"), tuple(Choice(letter, letter) for letter in _LETTERS))


class QuizProtocol(StudyProtocol[QuizItem, QuizSettings]):
    """The answer is the option's letter in the item set, whatever order a person saw.

    A quiz gives scores, not labels: its answers are exported and become the human row of the leaderboard.
    """

    name = "quiz"
    item_type = QuizItem
    settings_type = QuizSettings
    reads = "items"
    title: LazyText = _("Take the benchmark")
    summary: LazyText = _("Read a short scene and choose what the speaker most likely means.")
    blurb: LazyText = _(
        "Each question has six answers, and one fits best. Some speakers are sarcastic and some are not. "
        "Answer by yourself, without looking anything up."
    )
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Read the scene first"),
            _("“Perfect timing,” she says as the bus pulls away."),
            _("The words praise the timing, the scene shows that it was bad: she is annoyed."),
        ),
    )

    def item_from(self, record: Item) -> QuizItem:
        return QuizItem(
            record.id,
            Turn(record.speaker, record.utterance),
            record.context,
            options=record.options,
            question=record.question,
            language=record.language,
            after=record.after,
            answer=record.answer,
            category=record.category,
            pair=record.pair_id,
            version=record.version,
        )

    def family_of(self, item: QuizItem) -> str:
        """Return the pair: somebody who has seen one twin would recognise the other."""
        return item.pair

    def language_of(self, item: QuizItem) -> str:
        return item.language

    def key_of(self, item: QuizItem) -> str | None:
        """Return the letter of the best option."""
        return None if item.answer is None else _LETTERS[item.answer]

    def questions(self, settings: QuizSettings) -> tuple[Question, ...]:
        return (_BEST,)

    def screen(self, item: QuizItem, settings: QuizSettings, order: str) -> Screen:
        """Return the scene, its own question and the options in this person's order."""
        choices = tuple(
            Choice(_LETTERS[place], item.options[place]) for place in shuffled_places(len(item.options), order)
        )
        text, own = (item.question, "all") if item.question else (_BEST.text, "choices")
        asked = Question(_BEST.name, text, choices, quotes=own)  # type: ignore[arg-type]
        return Screen(item.context, item.response, (), (asked,), item.after, item.language)

    def report(self, answers: Answers[QuizItem, QuizSettings]) -> list[Section]:
        """Return the score per person and category, and the items people do not agree on."""
        truth = {id: _LETTERS[item.answer] for id, item in answers.items.items() if item.answer is not None}
        people: dict[str, list[bool]] = defaultdict(list)
        categories: dict[str, list[bool]] = defaultdict(list)
        items: dict[str, list[bool]] = defaultdict(list)
        for judgment in answers.judgments:
            if judgment.question == _BEST.name and judgment.answer and judgment.item_id in truth:
                right = judgment.answer == truth[judgment.item_id]
                people[judgment.annotator].append(right)
                category = answers.items[judgment.item_id].category or gettext("no category")
                categories[category].append(right)
                items[judgment.item_id].append(right)
        threshold = answers.settings.agreement_threshold
        low = {item: marks for item, marks in items.items() if sum(marks) / len(marks) < threshold}
        return [
            _scores(gettext("Score of each person"), gettext("person"), people),
            _scores(gettext("Score by category"), gettext("category"), categories),
            _scores(
                gettext("Items on which fewer than %(share)d %% chose the keyed answer") % {"share": threshold * 100},
                gettext("item"),
                low,
            ),
            _overall(people, items),
        ]


def _overall(people: Mapping[str, Sequence[bool]], items: Mapping[str, Sequence[bool]]) -> Section:
    """Return the mean score with intervals that resample people, and items."""
    rows: list[tuple[Cell, ...]] = []
    for name, groups in ((gettext("over people"), people), (gettext("over items"), items)):
        counts = np.array([(sum(marks), len(marks)) for marks in groups.values()], dtype=np.float64)
        rows.append((name, _mean(counts)))
    return Section(gettext("Score of all"), Table((gettext("interval"), gettext("share right")), tuple(rows)))


def _mean(counts: FloatArray) -> Interval:
    """Return the share of right answers with an interval that draws whole groups of answers."""
    if len(counts) == 0:
        return undefined("no answer yet")

    def of(sums: FloatArray) -> FloatArray:
        return share(sums[..., 0], sums[..., 1], np.nan)

    # Answers of one person, or to one item, are not independent: whole groups are resampled.
    return totals_interval(
        counts, np.ones(len(counts), dtype=np.int64), of, len(counts), "", RESAMPLES, LEVEL, 0,
        limits=(0.0, 1.0),
    )  # fmt: skip


def _scores(title: str, noun: str, marks: Mapping[str, Sequence[bool]]) -> Section:
    rows: list[tuple[Cell, ...]] = [(name, wilson(sum(given), len(given))) for name, given in sorted(marks.items())]
    note = "" if rows else gettext("None so far.")
    return Section(title, Table((noun, gettext("share right")), tuple(rows)), note)
