"""Verdicts: inside the interval, better, worse, counted, said in words, or something is missing."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError, MissingExtra, ModelError
from deadpan.reproduce.published import PublishedCell
from deadpan.reproduce.verdicts import Measured, MissingPeople, judge, need_of
from deadpan.stats import Interval


def cell(
    value: float | None, judged: str = "higher", scale: float = 100, decimals: int = 1, step: float = 1
) -> PublishedCell:
    return PublishedCell("t/r/c", "t", "r", "c", value, "", judged, scale, decimals, step=step)


def ours(value: float, low: float | None = None, high: float | None = None, **more) -> Measured:
    return Measured(Interval(value, low, high, 0.95, 100), **more)


@pytest.mark.parametrize(
    ("published", "judged", "measured", "word"),
    [
        (75.9, "higher", (0.74, 0.72, 0.76), "reproduced"),
        (75.9, "higher", (0.80, 0.78, 0.82), "reproduced"),
        (75.9, "higher", (0.70, 0.68, 0.72), "differs"),
        (75.9, "either", (0.80, 0.78, 0.82), "differs"),
        (75.9, "either", (0.76, 0.7586, 0.77), "reproduced"),  # 75.9 is rounded
    ],
)
def test_a_number_is_reproduced_inside_the_interval_or_if_better(published, judged, measured, word):
    assert judge(cell(published, judged), ours(*measured)).word == word


@pytest.mark.parametrize(
    ("published", "step", "counted", "word"),
    [(4700, 100, 4693, "reproduced"), (4700, 100, 4600, "differs"), (777, 1, 777, "reproduced"),
     (777, 1, 776, "differs"), (50, 1, 51, "differs"), (1_340_000, 10_000, 1_337_000, "reproduced"),
     (800, 100, 777, "reproduced"), (3000, 100, 3400, "differs"), (10_000, 1000, 14_000, "differs")],
)  # fmt: skip
def test_counts_are_compared_in_the_digits_published(published, step, counted, word):
    assert judge(cell(float(published), "count", 1, 0, step), ours(counted)).word == word


def test_a_difference_has_its_reason():
    verdict = judge(cell(75.9), ours(0.6, 0.5, 0.7, reason="other vectors"))
    assert (verdict.word, verdict.why) == ("differs", "other vectors")


def test_a_need_wins_over_a_number_and_errors_become_needs():
    assert judge(cell(777.0, "count", 1), ours(600, needs="data: test.csv")).word == "needs data"
    assert need_of(MissingPeople("deadpan studio create")).word == "needs people"
    assert need_of(ModelError("klue")).word == "needs weights"
    assert need_of(MissingExtra("torch", "neural")).word == "needs weights"
    assert need_of(DataError("no file")).word == "needs data"


def test_an_undefined_number_differs_with_its_reason():
    undefined = Measured(Interval(None, None, None, 0.95, 0, "no pairs"))
    assert judge(cell(75.9), undefined).why == "no pairs"
