"""Results of a study: agreement, disagreements, labels and the protocol's own report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from deadpan.page import Cell, Table
from deadpan.page.summary import Summary
from deadpan.ratings import Agreement, agreement, dawid_skene, majority
from deadpan.records import Judgment, Label
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.studio.models import MAIN
from deadpan.studio.people.informative import control_only
from deadpan.studio.protocols.answers import Answers, Section
from deadpan.studio.protocols.questions import Question
from deadpan.studio.records.judgments import latest_records
from deadpan.studio.records.studies import item_of, protocol_of, settings_of
from deadpan.studio.records.submissions import accepted_submissions, rejected_submissions

LIVE_RESAMPLES = 500


def answers_of(study: Any, resamples: int = LIVE_RESAMPLES, **more: Any) -> Answers[Any, Any]:
    """Return everything a report or a release reads; `more` are further fields of Answers."""
    items = {row.item_id: item_of(row, study) for row in study.items.filter(kind=MAIN).order_by("position")}
    fields: dict[str, Any] = {
        "items": items,
        "submissions": accepted_submissions(study),
        "rejected": [reasons for _, reasons in rejected_submissions(study)],
        "source": study.slug,
        "language": study.language,
        "resamples": resamples,
    }
    return Answers(latest_records(study), settings_of(study), **(fields | more))


def choice_questions(study: Any) -> list[Question]:
    """Return the questions with choices: those that people can agree on."""
    return [q for q in protocol_of(study).questions(settings_of(study)) if q.choices]


@dataclass(frozen=True, slots=True)
class StudyAgreement(Result):
    """Every coefficient of every question, and the protocol's own report."""

    agreement: Mapping[str, Agreement]
    report: Sequence[Section]

    def summary(self) -> Summary:
        """Return one table per question and one per section of the report."""
        tables = [
            replace(table, title=question)
            for question, agreement in self.agreement.items()
            for table in agreement.summary().tables
        ]
        tables += [Table(s.table.columns, s.table.rows, title=s.title) for s in self.report]
        return Summary(tuple(tables), tuple(f"{s.title}: {s.note}" for s in self.report if s.note))

    def as_dict(self) -> dict[str, object]:
        """Return the coefficients and the tables."""
        return {
            "agreement": {question: agreement.as_dict() for question, agreement in self.agreement.items()},
            "report": [
                {
                    "title": s.title,
                    "columns": s.table.columns,
                    "rows": [[_plain(cell) for cell in row] for row in s.table.rows],
                    "note": s.note,
                }
                for s in self.report
            ],
        }


def _plain(cell: Cell) -> object:
    return cell.as_dict() if isinstance(cell, Interval) else cell


def study_results(study: Any, *, resamples: int = LIVE_RESAMPLES, seed: int = 0) -> StudyAgreement:
    """Return agreement and the protocol's report."""
    return StudyAgreement(study_agreement(study, resamples, seed), report(study, resamples))


def study_agreement(study: Any, resamples: int = LIVE_RESAMPLES, seed: int = 0) -> dict[str, Agreement]:
    """Return every coefficient of every question that has answers; of the control stratum if there is one."""
    answers: Answers[Any, Any] = Answers(control_only(study, latest_records(study)), settings_of(study))
    coefficients = {}
    for question in choice_questions(study):
        ratings = answers.ratings(question)
        if ratings is not None:
            coefficients[question.name] = agreement(ratings, resamples=resamples, seed=seed)
    return coefficients


def report(study: Any, resamples: int = LIVE_RESAMPLES) -> list[Section]:
    """Return the protocol's own tables."""
    return protocol_of(study).report(answers_of(study, resamples))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item people answered differently. It names nobody."""

    item: str
    question: str
    counts: dict[str, int]
    adjudicated: str


def disagreements(study: Any) -> list[Disagreement]:
    """Return the items with more than one answer to a question, the most divided first."""
    decided = {(r.item_id, r.question): r.answer for r in latest_records(study, adjudicators=True)}
    names = {question.name for question in choice_questions(study)}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in latest_records(study):
        if record.question in names:
            counts.setdefault((record.item_id, record.question), Counter())[record.answer] += 1
    divided = [
        Disagreement(item, question, dict(tally.most_common()), decided.get((item, question), ""))
        for (item, question), tally in counts.items()
        if len(tally) > 1
    ]
    return sorted(
        divided, key=lambda d: (max(d.counts.values()) / sum(d.counts.values()), d.item, d.question)
    )


def labels(study: Any, judgments: list[Judgment] | None = None) -> list[Label]:
    """Return labels by Dawid-Skene, by majority, then adjudicated: the last one of an item is the best."""
    rows = latest_records(study) if judgments is None else judgments
    answers: Answers[Any, Any] = Answers(rows, settings_of(study))
    labels: list[Label] = []
    for question in choice_questions(study):
        ratings = answers.ratings(question)
        if ratings is not None:
            labels += dawid_skene(ratings).labels
            labels += majority(ratings)
    n = Counter((r.item_id, r.question) for r in rows)
    for record in latest_records(study, adjudicators=True):
        labels.append(
            Label(
                record.item_id,
                record.question,
                record.answer,
                {record.answer: 1.0},
                n[record.item_id, record.question],
                "adjudicated",
            )
        )
    return labels
