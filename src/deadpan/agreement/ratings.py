"""Who answered what: items by raters, from the judgments of one question or from a plain matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment
from deadpan.stats.interval import FloatArray, IntArray

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Answers as numbers: `codes[item, rater]` points into `categories`, -1 where there is no answer.

    `ordered` says that the categories stand in an order that means something, which weighted kappa and
    ordinal alpha need: they were given in that order, or they are numbers.
    """

    question: str
    items: tuple[str, ...]
    raters: tuple[str, ...]
    categories: tuple[str, ...]
    codes: IntArray
    ordered: bool

    @property
    def counts(self) -> FloatArray:
        """How many raters gave each item each answer (items x categories)."""
        return count_answers(self.codes, len(self.categories))

    def numbers(self) -> FloatArray:
        """The categories as numbers, or an error that names the first that is none."""
        values = [_number(category) for category in self.categories]
        for category, value in zip(self.categories, values, strict=True):
            if value is None:
                raise ConfigError(f"answers must be numbers for this measure: {category!r} is not")
        return np.array(values, dtype=np.float64)


def count_answers(codes: IntArray, n_categories: int) -> FloatArray:
    """How many raters gave each item each answer (items x categories)."""
    counts: FloatArray = (codes[:, :, None] == np.arange(n_categories)).sum(axis=1).astype(np.float64)
    return counts


def ratings_from_judgments(
    judgments: Sequence[Judgment], question: str | None = None, categories: Sequence[str] | None = None
) -> Ratings:
    """The answers to one question; of one person's rows on one item the latest by `created_at` counts.

    An empty answer takes an earlier one back. `categories` names all the options, in order where they
    have one, also those nobody chose.
    """
    questions = sorted({judgment.question for judgment in judgments})
    if question is None:
        if len(questions) > 1:
            raise ConfigError(f"judgments of several questions: say which, of {', '.join(questions)}")
        question = questions[0] if questions else ""
    elif question not in questions:
        raise ConfigError(f"no judgment of question {question!r}: there are {', '.join(questions) or 'none'}")
    latest = _latest([judgment for judgment in judgments if judgment.question == question])
    items = tuple(sorted({item for item, _ in latest}))
    raters = tuple(sorted({rater for _, rater in latest}))
    answers = [[latest.get((item, rater)) or None for rater in raters] for item in items]
    return _ratings(question, items, raters, answers, categories)


def ratings_from_matrix(
    rows: Sequence[Sequence[Hashable | None]],
    categories: Sequence[Hashable] | None = None,
    question: str = "",
) -> Ratings:
    """Ratings from items x raters, None where a rater gave no answer; other answers are taken as text."""
    widths = {len(row) for row in rows}
    if len(widths) > 1:
        raise DataError(f"every item needs one cell a rater: rows have from {min(widths)} to {max(widths)}")
    answers = [[_text(answer) for answer in row] for row in rows]
    return _ratings(
        question,
        tuple(str(at) for at in range(len(rows))),
        tuple(str(at) for at in range(widths.pop() if widths else 0)),
        answers,
        None if categories is None else [str(category) for category in categories],
    )


def _text(answer: Hashable | None) -> str | None:
    if isinstance(answer, float) and np.isnan(answer):
        raise DataError("an answer is NaN: use None where a rater gave no answer")
    return None if answer is None else str(answer)


def _latest(judgments: Sequence[Judgment]) -> dict[tuple[str, str], str]:
    """The last answer by (item, annotator); of rows at the very same time, the one further down counts."""
    rows: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in judgments:
        rows.setdefault((judgment.item_id, judgment.annotator), []).append(judgment)
    return {
        key: (same[0] if len(same) == 1 else max(reversed(same), key=_time)).answer
        for key, same in rows.items()
    }


def _time(judgment: Judgment) -> datetime:
    try:
        time = datetime.fromisoformat(judgment.created_at)
    except ValueError:
        raise DataError(
            f"the time {judgment.created_at!r} of {judgment.annotator!r} on item {judgment.item_id!r} "
            "is not in ISO form, so the latest answer cannot be told"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _ratings(
    question: str,
    items: tuple[str, ...],
    raters: tuple[str, ...],
    answers: Sequence[Sequence[str | None]],
    categories: Sequence[str] | None,
) -> Ratings:
    found = {answer for row in answers for answer in row if answer is not None}
    options, ordered = _options(found, categories)
    code = {category: number for number, category in enumerate(options)}
    codes = np.full((len(items), len(raters)), MISSING, dtype=np.int64)
    for at, row in enumerate(answers):
        for rater, answer in enumerate(row):
            if answer is not None:
                codes[at, rater] = code[answer]
    return Ratings(question, items, raters, options, codes, ordered)


def _options(found: set[str], categories: Sequence[str] | None) -> tuple[tuple[str, ...], bool]:
    """All categories, and whether their order means something."""
    if categories is not None:
        if len(set(categories)) < len(categories):
            raise ConfigError(f"categories repeat: {', '.join(categories)}")
        if strange := sorted(found - set(categories)):
            raise DataError(
                f"{len(strange)} answers are no category, first {strange[0]!r}: "
                f"the categories are {', '.join(categories)}"
            )
        return tuple(categories), True
    values = {answer: _number(answer) for answer in found}
    numbers = {answer: value for answer, value in values.items() if value is not None}
    if len(numbers) == len(found):
        return tuple(sorted(found, key=lambda answer: (numbers[answer], answer))), True
    return tuple(sorted(found)), False


def _number(answer: str) -> float | None:
    try:
        value = float(answer)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
