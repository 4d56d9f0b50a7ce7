"""SARC's test of people: the sarcastic one of two responses to one context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.draws import draw
from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.study import PairwiseItem, StudySettings
from deadpan.page import Cell, Table
from deadpan.ratings import fleiss_kappa
from deadpan.records import Example, Turn
from deadpan.stats import wilson
from deadpan.studio.protocols.protocol import (
    Answers,
    Choice,
    LazyText,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    perceived_example,
    sample_items,
    shuffled_places,
)

WHICH = Question("choice", _("Which of the two is sarcastic?"), (Choice("1", _("First")), Choice("2", _("Second"))))


class PairwiseProtocol(StudyProtocol[PairwiseItem, StudySettings]):
    """The answer is the option's place in the item, whatever order a person saw."""

    name = "pairwise"
    item_type = PairwiseItem
    title: LazyText = _("Which one is sarcastic?")
    summary: LazyText = _("Two people answered the same post. Choose the sarcastic one.")
    raters = 5
    blurb: LazyText = _("One of the two responses was marked as sarcastic by its author. Choose it.")
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Two responses to “The train is late again”"),
            _("“What a surprise.” – “Take the bus, it is faster.”"),
            _("The first says surprise and means none."),
        ),
    )

    def items_from(self, records: Sequence[Example], *, sample: int = 0, seed: int = 0) -> list[PairwiseItem]:
        """Return the pairs: a sarcastic and a sincere response to one context, in a random order."""
        by_sequence: dict[str, list[Example]] = {}
        for example in records:
            if example.sequence and example.label is not None and example.context:
                by_sequence.setdefault(example.sequence, []).append(example)
        items = [
            _pair(name, both) for name, both in by_sequence.items() if len(both) == 2 and both[0].label != both[1].label
        ]
        if not items:
            raise ConfigError("no two responses to one context, one sarcastic and one not, in this source")
        return sample_items(items, sample, seed)

    def questions(self, settings: StudySettings) -> tuple[Question, ...]:
        return (WHICH,)

    def screen(self, item: PairwiseItem, settings: StudySettings, order: str) -> Screen:
        """Return the post both respond to as the last turn, and the options in this person's order."""
        choices = tuple(Choice(str(place + 1), item.options[place]) for place in shuffled_places(2, order))
        asked = Question(WHICH.name, WHICH.text, choices, quotes="choices")
        return Screen([*item.context, item.response], None, (), (asked,))

    def examples_of(
        self, item: PairwiseItem, values: Mapping[str, str], answers: Answers[PairwiseItem, StudySettings], tally: Tally
    ) -> Iterator[Example]:
        """Yield both responses, joined by their sequence."""
        for place, option in enumerate(item.options, 1):
            example = perceived_example(item, answers, values[WHICH.name] == str(place))
            yield replace(
                example,
                id=f"{item.id}.{place}",
                response=Turn("", option),
                context=(*item.context, item.response),
                sequence=item.id,
            )

    def report(self, answers: Answers[PairwiseItem, StudySettings]) -> list[Section]:
        """Return how often people choose the response its author marked as sarcastic."""
        truth = {id: str(item.answer + 1) for id, item in answers.items.items() if item.answer is not None}
        given = [j for j in answers.judgments if j.question == WHICH.name and j.answer and j.item_id in truth]
        right = sum(j.answer == truth[j.item_id] for j in given)
        found = {item: value for item, value in answers.majority(WHICH).items() if item in truth}
        rows: list[tuple[Cell, ...]] = [
            (gettext("average of people"), wilson(right, len(given))),
            (gettext("majority"), wilson(sum(v == truth[i] for i, v in found.items()), len(found))),
        ]
        ratings = answers.ratings(WHICH)
        if ratings is not None:
            rows.append((gettext("Fleiss' kappa"), fleiss_kappa(ratings, resamples=answers.resamples)))
        note = gettext("Chance is 0.5. Answers of one item are not independent: the average's interval is too narrow.")
        return [
            Section(gettext("How well people tell"), Table((gettext("score"), gettext("value")), tuple(rows)), note)
        ]


def _pair(name: str, both: Sequence[Example]) -> PairwiseItem:
    # By hash: the sarcastic one must not always be the first.
    first, second = sorted(both, key=lambda example: draw(0, example.id))
    return PairwiseItem(
        name,
        first.context[-1],
        first.context[:-1],
        options=(first.response.text, second.response.text),
        answer=0 if first.label else 1,
        ids=(first.id, second.id),
    )
