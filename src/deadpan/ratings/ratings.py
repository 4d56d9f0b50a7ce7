"""Answers of raters to items, from the judgments of one question or from a matrix."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deadpan.arguments import check_list, check_records, check_text
from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment
from deadpan.results import Result
from deadpan.stats.interval import FloatArray, IntArray

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

MISSING = -1
_CURE = "pass Ratings, Judgments, rows of answers (one per item), or {rater: answers}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ratings(Result):
    """The answers of several raters to one question about several items.

    `codes[item, rater]` is an index into `categories`, or -1 where there is no answer. `ordered` is True
    if the order of the categories has a meaning, which weighted kappa and ordinal alpha need: they were
    passed in that order, or they are numbers.

    Make one with `ratings_from_judgments` or `ratings_from_matrix`; `agreement` also takes plain lists.
    """

    question: str
    items: tuple[str, ...]
    raters: tuple[str, ...]
    categories: tuple[str, ...]
    codes: IntArray
    ordered: bool

    def __repr__(self) -> str:
        answers = int((self.codes != MISSING).sum())
        return (
            f"Ratings({len(self.items):,} items, {len(self.raters):,} raters, {answers:,} answers, "
            f"{len(self.categories)} categories)"
        )

    def as_dict(self) -> dict[str, object]:
        """Return the counts of items, raters and answers."""
        totals = self.counts.sum(axis=0).astype(int).tolist()
        return {
            "question": self.question,
            "items": len(self.items),
            "raters": len(self.raters),
            "answers": dict(zip(self.categories, totals, strict=True)),
        }

    def summary(self) -> Summary:
        """Return the number of answers per category."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        totals = self.counts.sum(axis=0).astype(int).tolist()
        table = Table(("answer", "n"), tuple(zip(self.categories, totals, strict=True)), self.question)
        return Summary((table,), (f"{len(self.items):,} items, {len(self.raters):,} raters",))

    @property
    def counts(self) -> FloatArray:
        """The number of raters who gave each item each answer (items x categories)."""
        return count_answers(self.codes, len(self.categories))

    def numbers(self) -> FloatArray:
        """Return the categories as numbers, or raise an error that names one that is not a number."""
        values = [_number(category) for category in self.categories]
        for category, value in zip(self.categories, values, strict=True):
            if value is None:
                raise ConfigError(f"this metric needs numbers as answers: {category!r} is not a number")
        return np.array(values, dtype=np.float64)


Ratable: TypeAlias = (
    Ratings | Sequence[Judgment] | Sequence[Sequence[Hashable | None]] | Mapping[str, Sequence[Hashable | None]]
)
"""The input of `as_ratings`: Ratings, Judgments, rows of answers (one per item), or {rater: answers}."""


def as_ratings(data: Ratable) -> Ratings:
    """Return Ratings from Judgments, from rows of answers (one per item), or from {rater: answers}."""
    if isinstance(data, Ratings):
        return data
    source: Any = data
    if hasattr(source, "columns") and hasattr(source, "to_dict"):  # a pandas DataFrame
        columns = {str(name): source[name].tolist() for name in source.columns}
        source = {
            name: [None if isinstance(answer, float) and np.isnan(answer) else answer for answer in answers]
            for name, answers in columns.items()
        }
    if isinstance(source, Mapping):
        return _from_raters(source)
    if isinstance(source, np.ndarray):
        source = source.tolist()
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise DataError(f"{type(data).__name__} cannot be read as ratings: {_CURE}")
    rows = list(source)
    if any(isinstance(row, Judgment) for row in rows):
        return ratings_from_judgments(check_records(rows, Judgment, "ratings", _CURE))
    return ratings_from_matrix(rows)


def _from_raters(answers: Mapping[str, Sequence[Hashable | None]]) -> Ratings:
    for rater, given in answers.items():
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise DataError(f"the answers of {rater!r} must be a list, one per item: {_CURE}")
    columns = [list(given) for given in answers.values()]
    lengths = {str(rater): len(column) for rater, column in zip(answers, columns, strict=True)}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{rater} {n}" for rater, n in lengths.items())
        raise DataError(f"every rater needs one answer per item, None for a missing one: got {counts}")
    rows = [[_text(answer) for answer in row] for row in zip(*columns, strict=True)]
    items = tuple(str(place) for place in range(len(rows)))
    return _ratings("", items, tuple(lengths), rows, None)


def count_answers(codes: IntArray, n_categories: int) -> FloatArray:
    """Return the number of raters who gave each item each answer (items x categories)."""
    counts: FloatArray = (codes[:, :, None] == np.arange(n_categories)).sum(axis=1).astype(np.float64)
    return counts


def ratings_from_judgments(
    judgments: Sequence[Judgment], question: str | None = None, categories: Sequence[str] | None = None
) -> Ratings:
    """Return the answers to one question; the latest judgment of a person on an item counts.

    An empty answer withdraws an earlier one. `categories` lists all options, in order if they have one,
    including those nobody chose.
    """
    judgments = check_records(judgments, Judgment, "judgments", "read them with read_records(path, Judgment)")
    questions = sorted({judgment.question for judgment in judgments})
    if question is None:
        if len(questions) > 1:
            raise ConfigError(f"the judgments are of several questions: choose one of {', '.join(questions)}")
        question = questions[0] if questions else ""
    elif check_text(question, "question") not in questions:
        raise ConfigError(f"no judgment of question {question!r}: choose from {', '.join(questions) or 'none'}")
    latest = _latest([judgment for judgment in judgments if judgment.question == question])
    items = tuple(sorted({item for item, _ in latest}))
    raters = tuple(sorted({rater for _, rater in latest}))
    answers = [[latest.get((item, rater)) or None for rater in raters] for item in items]
    return _ratings(question, items, raters, answers, categories)


def ratings_from_matrix(
    rows: Sequence[Sequence[Hashable | None]], categories: Sequence[Hashable] | None = None, question: str = ""
) -> Ratings:
    """Return ratings from one row per item and one column per rater; None is a missing answer."""
    rows = check_list(rows, "rows of answers")
    check_text(question, "question")
    for place, row in enumerate(rows):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence):
            raise DataError(f"row {place} must be a list of answers, got {type(row).__name__}: {_CURE}")
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DataError(
            f"every item needs one answer per rater, None for a missing one: rows have from {min(widths)} "
            f"to {max(widths)}"
        )
    answers = [[_text(answer) for answer in row] for row in rows]
    return _ratings(
        question,
        tuple(str(at) for at in range(len(rows))),
        tuple(str(at) for at in range(widths.pop() if widths else 0)),
        answers,
        None if categories is None else [str(name) for name in check_list(categories, "categories")],
    )


def _text(answer: Hashable | None) -> str | None:
    if isinstance(answer, float) and np.isnan(answer):
        raise DataError("an answer is NaN: use None for a missing answer")
    return None if answer is None else str(answer)


def _latest(judgments: Sequence[Judgment]) -> dict[tuple[str, str], str]:
    """Return the latest answer by (item, annotator); of rows with the same time, the last one counts."""
    rows: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        rows.setdefault((judgment.item_id, judgment.annotator), []).append(judgment)
    return {key: (same[0] if len(same) == 1 else max(reversed(same), key=_time)).answer for key, same in rows.items()}


def _time(judgment: Judgment) -> datetime:
    try:
        time = datetime.fromisoformat(judgment.created_at)
    except ValueError:
        raise DataError(
            f"the time {judgment.created_at!r} of {judgment.annotator!r} on item {judgment.item_id!r} "
            "is not in ISO format: write it as 2026-01-31T12:00:00Z"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _ratings(
    question: str,
    items: tuple[str, ...],
    raters: tuple[str, ...],
    answers: Sequence[Sequence[str | None]],
    categories: Sequence[str] | None,
) -> Ratings:
    used = {answer for row in answers for answer in row if answer is not None}
    options, ordered = _options(used, categories)
    code = {category: number for number, category in enumerate(options)}
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for at, row in enumerate(answers):
        for rater, answer in enumerate(row):
            if answer is not None:
                codes[at, rater] = code[answer]
    return Ratings(question, items, raters, options, codes, ordered)


def _options(used: set[str], categories: Sequence[str] | None) -> tuple[tuple[str, ...], bool]:
    """Return all categories, and True if their order has a meaning."""
    if categories is not None:
        categories = check_list(categories, "categories")
        if strange := [name for name in categories if not isinstance(name, str)]:
            raise ConfigError(f"categories must be names: got {strange[0]!r}")
        if len(set(categories)) < len(categories):
            raise ConfigError(f"categories must be unique: got {', '.join(categories)}")
        if unknown := sorted(used - set(categories)):
            raise DataError(
                f"{len(unknown)} answers are not among the categories, first {unknown[0]!r}: "
                f"choose from {', '.join(categories)}"
            )
        return tuple(categories), True
    values = {answer: _number(answer) for answer in used}
    numbers = {answer: value for answer, value in values.items() if value is not None}
    if len(numbers) == len(used):
        return tuple(sorted(used, key=lambda answer: (numbers[answer], answer))), True
    return tuple(sorted(used)), False


def _number(answer: str) -> float | None:
    try:
        value = float(answer)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
