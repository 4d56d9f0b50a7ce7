"""Labels from the answers; agreement, the report of the protocol, and the disagreements to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Count, Max
from django.utils import timezone

from deadpan.page import Cell, Table
from deadpan.page.summary import Summary
from deadpan.ratings import Agreement, agreement, dawid_skene, majority
from deadpan.ratings.coefficients import Metric
from deadpan.records import Label
from deadpan.results import Result
from deadpan.stats import Interval
from deadpan.studio.models import MAIN, WITHDRAWN, Event, StoredCase, StoredJudgment, StoredOpinion, StoredStudy
from deadpan.studio.protocols.protocol import Answers, Question, Section
from deadpan.studio.records.journal import accepted_submissions, latest_records, rejected_submissions
from deadpan.studio.records.studies import item_of, lock_study, protocol_of, settings_of

LIVE_RESAMPLES = 500


def study_labels(study: Any) -> list[Label]:
    """Return labels by Dawid-Skene, by majority, then adjudicated: the last one of an item is the best."""
    judgments = latest_records(study)
    answers: Answers[Any, Any] = Answers(judgments, settings_of(study))
    found: list[Label] = []
    for question in choice_questions(study):
        ratings = answers.ratings(question)
        if ratings is not None:
            found += dawid_skene(ratings).labels
            found += majority(ratings)
    votes = Counter((j.item_id, j.question) for j in judgments)
    for j in latest_records(study, adjudicators=True):
        # An adjudicator decides alone; `n` still says how many people had answered.
        n = votes[j.item_id, j.question]
        found.append(Label(j.item_id, j.question, j.answer, {j.answer: 1.0}, n, "adjudicated"))
    return found


def choice_questions(study: Any) -> list[Question]:
    """Return the questions with choices: those that people can agree on."""
    return [q for q in protocol_of(study).questions(settings_of(study)) if q.choices]


def answers_of(study: Any, resamples: int = LIVE_RESAMPLES, first: int | None = None, **more: Any) -> Answers[Any, Any]:
    """Return everything a report or a release reads, of the `first` items only where that is given.

    `more` are further fields of Answers.
    """
    rows = study.items.filter(kind=MAIN, **({} if first is None else {"position__lt": first}))
    items = {row.item_id: item_of(row, study) for row in rows.order_by("position").iterator(chunk_size=1000)}
    fields: dict[str, Any] = {
        "items": items,
        "submissions": accepted_submissions(study),
        "rejected": [reasons for _, reasons in rejected_submissions(study)],
        "source": study.slug,
        "language": study.language,
        "resamples": resamples,
    }
    return Answers(latest_records(study, first=first), settings_of(study), **(fields | more))


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
                    "rows": [[_cell_value(cell) for cell in row] for row in s.table.rows],
                    "note": s.note,
                }
                for s in self.report
            ],
        }


def _cell_value(cell: Cell) -> object:
    return cell.as_dict() if isinstance(cell, Interval) else cell


def study_results(
    study: Any, *, resamples: int = LIVE_RESAMPLES, seed: int = 0, first: int | None = None
) -> StudyAgreement:
    """Return every coefficient of every question that has answers, and the protocol's report.

    Agreement is of the control stratum if there is one; with `first`, both are of the first items only.
    """
    answers = answers_of(study, resamples, first)
    control = control_items(study)
    compared = replace(answers, judgments=[j for j in answers.judgments if not control or j.item_id in control])
    coefficients = {}
    for question in choice_questions(study):
        ratings = compared.ratings(question)
        if ratings is not None:
            metric: Metric = "ordinal" if question.kind == "scale" else "nominal"
            coefficients[question.name] = agreement(ratings, metric, resamples=resamples, seed=seed)
    return StudyAgreement(coefficients, protocol_of(study).report(answers))


def control_items(study: Any) -> set[str]:
    """Return the ids of a study's control stratum; empty where all items are in random order."""
    made = Event.objects.filter(study=study, what="create").order_by("pk").first()
    found = made.detail.get("control", []) if made is not None else []
    return set(found)


# ---------------------------------------------------------------- disagreements


# Items counted at a time.
_ITEMS_AT_ONCE = 200
# Entries looked at again, and how long: one that was numbered earlier may be committed later.
_OVERLAP, _SETTLED = 500, timedelta(seconds=10)


def refresh_cases(study: Any) -> int:
    """Bring the disagreements up to the end of the journal; return how many items were looked at."""
    journal = StoredJudgment.objects.filter(study=study)
    newest = journal.order_by("-id").values_list("id", "created_at").first()
    upto = StoredStudy.objects.filter(pk=study.pk).values_list("cases_upto", flat=True).get()
    if newest is None or newest[0] <= upto:
        return 0
    # The newest entry may be of a transaction beside others that are numbered lower and not yet visible.
    last = newest[0] if newest[1] < timezone.now() - _SETTLED else newest[0] - 1
    changed = set(journal.filter(id__gt=upto - _OVERLAP, id__lte=newest[0]).values_list("item_id", flat=True))
    recount_cases(study, changed)
    StoredStudy.objects.filter(pk=study.pk, cases_upto__lt=last).update(cases_upto=last)
    return len(changed)


def recount_cases(study: Any, items: Iterable[int]) -> None:
    """Count the answers of these items again, and store those that differ."""
    names = [question.name for question in choice_questions(study)]
    wanted = sorted(items)
    for at in range(0, len(wanted), _ITEMS_AT_ONCE):
        some = wanted[at : at + _ITEMS_AT_ONCE]
        # Counted before the database is locked: people who save meanwhile wait for the writing only.
        state, found = _state(some), _divided(study, some, names)
        if _stored(some) == found:
            continue
        with transaction.atomic():
            # Two who count the same items at the same moment would both store them.
            lock_study(study.pk)
            if _state(some) != state:
                found = _divided(study, some, names)
            StoredCase.objects.filter(study=study, item_id__in=some).delete()
            StoredCase.objects.bulk_create(
                StoredCase(study=study, item_id=item, question=question, **values)
                for (item, question), values in found.items()
            )


def _state(items: list[int]) -> Any:
    """Return what changes whenever an entry about these items is added or erased."""
    return StoredJudgment.objects.filter(item_id__in=items).aggregate(last=Max("id"), n=Count("id"))


def _stored(items: list[int]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the disagreements of these items as they are stored."""
    stored = StoredCase.objects.filter(item_id__in=items)
    rows = stored.values("item_id", "question", "counts", "place", "model", "decided")
    return {(row.pop("item_id"), row.pop("question")): row for row in rows}


def _divided(study: Any, items: list[int], names: list[str]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the disagreements of these items as the journal has them."""
    latest, decided = _answers(study, items, names)
    counts: dict[tuple[int, str], Counter[str]] = {}
    for (item, question, _), answer in latest.items():
        if answer:
            counts.setdefault((item, question), Counter())[answer] += 1
    said = StoredOpinion.objects.filter(item_id__in=items, question__in=names).order_by("-pk")
    # The model that was attached first speaks where there are several.
    opinions = {(item, name): answer for item, name, answer in said.values_list("item_id", "question", "answer")}

    def differs(key: tuple[int, str], tally: Counter[str]) -> bool:
        return key in opinions and opinions[key] != tally.most_common(1)[0][0]

    return {
        key: {
            "counts": dict(tally.most_common()),
            "place": max(tally.values()) / sum(tally.values()) - differs(key, tally),
            "model": opinions.get(key, ""),
            "decided": decided.get(key, ""),
        }
        for key, tally in counts.items()
        if len(tally) > 1 or differs(key, tally)
    }


def _answers(
    study: Any, items: list[int], names: list[str]
) -> tuple[dict[tuple[int, str, int], str], dict[tuple[int, str], str]]:
    """Return the latest answer per item, question and member, and the adjudicators' per item and question."""
    rows = (
        StoredJudgment.objects.filter(study=study, item_id__in=items, item__kind=MAIN, question__in=names)
        .exclude(member__state=WITHDRAWN)
        .order_by("id")
        .values_list("item_id", "question", "member_id", "answer", "source")
    )
    latest: dict[tuple[int, str, int], str] = {}
    decided: dict[tuple[int, str], str] = {}
    for item, question, member, answer, source in rows:
        if source == "adjudication":
            decided[item, question] = answer
        else:
            latest[item, question, member] = answer
    return latest, decided
