"""Questions of one's own: choices, scales, sliders, rankings, words and marked spans, with conditions."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.formats.study import OTHERS, CustomItem, CustomQuestion, CustomSettings
from deadpan.page import Cell, Table
from deadpan.ratings import dawid_skene, krippendorff_alpha, majority, ratings_from_matrix
from deadpan.ratings.questions import Marked, intraclass_correlation, mark_agreement, surprisingly_popular
from deadpan.records import Example, Turn
from deadpan.stats import wilson
from deadpan.studio.protocols.protocol import (
    Answers,
    Choice,
    LazyText,
    Question,
    Screen,
    Section,
    StudyProtocol,
    answer_shares,
    labelled_item,
    perceived_example,
)

CustomAnswers = Answers[CustomItem, CustomSettings]
_WORD = re.compile(r"\S+")


class CustomProtocol(StudyProtocol[CustomItem, CustomSettings]):
    """A study whose questions are built in the browser or written in study.toml."""

    name = "custom"
    item_type = CustomItem
    settings_type = CustomSettings
    own_questions = True
    title: LazyText = _("Answer questions about texts")
    summary: LazyText = _("Read a text and answer the questions about it.")
    blurb: LazyText = _("Read the whole text first. Then answer the questions in order.")

    def item_from(self, record: Example) -> CustomItem:
        return labelled_item(CustomItem, record)

    def questions(self, settings: CustomSettings) -> tuple[Question, ...]:
        return tuple(question for asked in settings.questions for question in _questions(asked))

    def screen(self, item: CustomItem, settings: CustomSettings, order: str) -> Screen:
        """Return the text; a span must lie in one of its turns."""
        lengths = tuple(len(turn.text) for turn in (*item.context, item.response))
        asked = [replace(q, lengths=lengths) if q.kind == "spans" else q for q in self.questions(settings)]
        return Screen(item.context, item.response, (), asked)

    def examples_of(
        self, item: CustomItem, values: Mapping[str, str], answers: CustomAnswers, tally: Tally
    ) -> Iterator[Example]:
        """Yield the text with the label of the chosen question; the other questions' answers are its meta."""
        named = answers.settings.label_question
        if named in {q.name for q in answers.settings.questions} and named not in values:
            tally.drop("no_majority", item.id)
            return
        label = values[named] in answers.settings.sarcastic_answers if named in values else None
        others = {name: value for name, value in values.items() if name != named}
        yield replace(perceived_example(item, answers, label), meta=others)

    def report(self, answers: CustomAnswers) -> list[Section]:
        """Return for each question how often each answer was given, and how far people agree, by its kind."""
        found: list[Section] = []
        for question in self.questions(answers.settings):
            given = [j for j in answers.judgments if j.question == question.name and j.answer]
            by_item: dict[str, dict[str, str]] = defaultdict(dict)
            for j in given:
                by_item[j.item_id][j.annotator] = j.answer
            if question.choices and (shares := answer_shares(answers, question)):
                found.append(shares)
            elif question.kind in _REPORTS and given:
                rows = _REPORTS[question.kind](question, by_item, answers)
                head = (gettext("coefficient"), gettext("value"))
                found.append(Section(str(question.text), Table(head, tuple(rows))))
        return [*found, *_predictions(self, answers)]


def _questions(asked: CustomQuestion) -> Iterator[Question]:
    """Yield a question as pages know it, and the second one about other people's answers."""
    values = asked.answers if asked.kind in ("choice", "scale") else ()
    question = Question(
        asked.name, asked.text, tuple(Choice(value, value) for value in values), asked.required,
        asked.after, asked.when, kind=asked.kind, options=asked.options, low=asked.low, high=asked.high,
        ends=asked.ends,
    )  # fmt: skip
    yield question
    if asked.predict:
        name, text = f"{asked.name}{OTHERS}", _("How many of 100 other people will give the same answer?")
        yield replace(question, name=name, text=text, choices=(), kind="slider", low=0, high=100, ends=())


# ---------------------------------------------------------------- agreement by kind


ByItem = Mapping[str, Mapping[str, str]]
Rows = list[tuple[Cell, ...]]


def _slider(question: Question, by_item: ByItem, answers: CustomAnswers) -> Rows:
    rows = [[float(value) for value in given.values()] for given in by_item.values()]
    mean = fmean(value for row in rows for value in row)
    return [
        (gettext("mean"), f"{mean:.2f}"),
        (gettext("intraclass correlation, ICC(1)"), intraclass_correlation(rows, answers.resamples)),
    ]


def _many(question: Question, by_item: ByItem, answers: CustomAnswers) -> Rows:
    people = sorted({who for given in by_item.values() for who in given})
    found: Rows = []
    for option in question.options:
        matrix = [
            [("yes" if option in json.loads(given[who]) else "no") if who in given else None for who in people]
            for given in by_item.values()
        ]
        alpha = krippendorff_alpha(ratings_from_matrix(matrix, ["yes", "no"]), resamples=answers.resamples)
        found.append((gettext("Krippendorff's alpha") + f": {option}", alpha))
    return found


def _ranking(question: Question, by_item: ByItem, answers: CustomAnswers) -> Rows:
    orders = [json.loads(value) for given in by_item.values() for value in given.values()]
    ranks = {option: fmean(order.index(option) + 1 for order in orders) for option in question.options}
    best_first = sorted(ranks, key=ranks.__getitem__)
    return [(f"{gettext('mean rank')}: {option}", f"{ranks[option]:.2f}") for option in best_first]


def _spans(question: Question, by_item: ByItem, answers: CustomAnswers) -> Rows:
    found: Rows = []
    for label in question.options:
        marked = [
            marked_tokens(answers.items[item], list(given.values()), label)
            for item, given in by_item.items()
            if item in answers.items
        ]
        agreed = mark_agreement(marked, answers.resamples)
        found += [(f"{label}: {gettext('alpha over words')}", agreed["alpha"]), (f"{label}: F1", agreed["f1"])]
    return found


def marked_tokens(item: CustomItem, given: Sequence[str], label: str) -> Marked:
    """Return the number of an item's words, and for each answer the words its spans of a label touch."""
    turns: Sequence[Turn] = (*item.context, item.response)
    words = [(at, m.start(), m.end()) for at, turn in enumerate(turns) for m in _WORD.finditer(turn.text)]

    def touched(answer: str) -> frozenset[int]:
        spans = [span for span in json.loads(answer) if span["label"] == label]
        return frozenset(
            place
            for place, (turn, start, end) in enumerate(words)
            if any(s["turn"] == turn and s["start"] < end and start < s["end"] for s in spans)
        )

    return len(words), [touched(answer) for answer in given]


_REPORTS: Mapping[str, Any] = {"slider": _slider, "many": _many, "ranking": _ranking, "spans": _spans}


# ---------------------------------------------------------------- peer prediction


def _predictions(protocol: CustomProtocol, answers: CustomAnswers) -> list[Section]:
    """Return the labels of majority, Dawid-Skene and surprisingly popular answers against the author's own label."""
    known = {id: item.label for id, item in answers.items.items() if item.label is not None}
    asked = {q.name: q for q in protocol.questions(answers.settings)}
    question = asked.get(answers.settings.label_question)
    if question is None or f"{question.name}{OTHERS}" not in asked or not (ratings := answers.ratings(question)):
        return []
    votes: dict[str, dict[str, str]] = defaultdict(dict)
    expected: dict[str, dict[str, float]] = defaultdict(dict)
    for j in answers.judgments:
        if j.question == question.name and j.answer:
            votes[j.item_id][j.annotator] = j.answer
        elif j.question == f"{question.name}{OTHERS}" and j.answer:
            expected[j.item_id][j.annotator] = float(j.answer) / 100
    popular = {item: surprisingly_popular(given, expected[item], question.values) for item, given in votes.items()}
    methods = {
        gettext("majority"): {label.item_id: label.value for label in majority(ratings)},
        "Dawid-Skene": {label.item_id: label.value for label in dawid_skene(ratings).labels},
        gettext("surprisingly popular"): popular,
    }
    rows: Rows = []
    for name, labels in methods.items():
        judged = {item: value for item, value in labels.items() if value is not None and item in known}
        right = sum((value in answers.settings.sarcastic_answers) == known[item] for item, value in judged.items())
        rows.append((name, sum(value is not None for value in labels.values()), wilson(right, len(judged))))
    head = (gettext("method"), gettext("items"), gettext("agrees with the author"))
    return [Section(gettext("What others would say"), Table(head, tuple(rows)))]
