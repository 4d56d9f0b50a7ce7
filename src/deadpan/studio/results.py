"""What a study's answers come to: agreement, disagreements, labels, the protocol's own report."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from deadpan.agreement import agreement, dawid_skene, majority
from deadpan.records import Judgment, Label
from deadpan.stats import Interval
from deadpan.studio.creation import protocol_of
from deadpan.studio.judgments import latest_records
from deadpan.studio.models import MAIN
from deadpan.studio.protocols.protocol import Answers, Question, Section

LIVE_RESAMPLES = 500


def answers_of(study: Any, resamples: int = LIVE_RESAMPLES) -> Answers:
    """Everything a report needs."""
    hidden = dict(study.items.filter(kind=MAIN).values_list("item_id", "hidden"))
    told = [(row.answers, row.reasons) for row in study.submissions.all()]
    return Answers(latest_records(study), hidden, study.settings, resamples, told)


def choice_questions(study: Any) -> list[Question]:
    """The questions that can be agreed on."""
    return [q for q in protocol_of(study).questions(study.settings) if q.choices]


def study_agreement(
    study: Any, resamples: int = LIVE_RESAMPLES, seed: int = 0
) -> dict[str, dict[str, Interval]]:
    """Every coefficient of every question that has answers."""
    answers = answers_of(study, resamples)
    found = {}
    for question in choice_questions(study):
        ratings = answers.ratings(question)
        if ratings is not None:
            found[question.name] = agreement(ratings, resamples=resamples, seed=seed)
    return found


def report(study: Any, resamples: int = LIVE_RESAMPLES) -> list[Section]:
    """The protocol's own tables."""
    return protocol_of(study).report(answers_of(study, resamples))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item people answered differently. Nobody is named: it is about the item."""

    item: str
    question: str
    counts: dict[str, int]
    adjudicated: str


def disagreements(study: Any) -> list[Disagreement]:
    """Items with more than one answer to a question, the most divided first."""
    decided = {(r.item_id, r.question): r.answer for r in latest_records(study, adjudicators=True)}
    names = {question.name for question in choice_questions(study)}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in latest_records(study):
        if record.question in names:
            counts.setdefault((record.item_id, record.question), Counter())[record.answer] += 1
    found = [
        Disagreement(item, question, dict(tally.most_common()), decided.get((item, question), ""))
        for (item, question), tally in counts.items()
        if len(tally) > 1
    ]
    return sorted(found, key=lambda d: (max(d.counts.values()) / sum(d.counts.values()), d.item, d.question))


def labels(study: Any, judgments: list[Judgment] | None = None) -> list[Label]:
    """Dawid-Skene, the majority, then what was adjudicated: of several, the last one listed is the best."""
    rows = latest_records(study) if judgments is None else judgments
    answers = Answers(rows, {}, study.settings)
    found: list[Label] = []
    for question in choice_questions(study):
        ratings = answers.ratings(question)
        if ratings is not None:
            found += dawid_skene(ratings).labels
            found += majority(ratings)
    n = Counter((r.item_id, r.question) for r in rows)
    for record in latest_records(study, adjudicators=True):
        found.append(
            Label(
                record.item_id,
                record.question,
                record.answer,
                {record.answer: 1.0},
                n[record.item_id, record.question],
                "adjudicated",
            )
        )
    return found
