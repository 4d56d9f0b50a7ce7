"""Headlines of results: no winner that is not significant, whatever the numbers are."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from deadpan.page.results import rank_finding
from deadpan.stats import Interval


@dataclass
class Pair:
    first: str
    second: str
    significant: bool


def finding(significant: bool, *names: str, metric: str = "f1", constant: float = 0.5) -> str:
    """The finding of a comparison in which all pairs differ significantly, or none does."""
    scores = {name: Interval(0.9 - at / 10, 0.55, 0.95, 0.95, 9) for at, name in enumerate(names)}
    if metric == "brier":
        scores = {name: Interval(0.1 + at / 10, 0.05, 0.25, 0.95, 9) for at, name in enumerate(names)}
    pairs = [Pair(a, b, significant) for at, a in enumerate(names) for b in names[at + 1 :]]
    return rank_finding("mine.csv", metric, scores, pairs, constant)


def test_a_winner_needs_every_difference_to_be_significant():
    assert finding(True, "a", "b", "c").startswith("a does best on mine.csv: a has F1 0.9")
    text = finding(False, "a", "b", "c")
    assert text.startswith("No system is significantly better than all others on mine.csv: a has F1 0.9")


def test_by_a_score_of_errors_the_lowest_is_best():
    text = finding(True, "b", "a", metric="brier")
    assert text.startswith("b does best on mine.csv: b has Brier score 0.1")
    text = finding(True, "b", "a", metric="brier", constant=0.2)
    assert text.startswith("No system is significantly better than a constant answer on mine.csv: b has Brier")


@pytest.mark.parametrize("constant", [0.95, 0.6])
def test_a_best_system_that_is_no_better_than_a_constant_answer_is_no_winner(constant):
    text = finding(True, "a", "majority", constant=constant)
    assert text.startswith("No system is significantly better than a constant answer on mine.csv: a has F1 0.")


def test_one_system_is_compared_with_a_constant_answer():
    assert finding(True, "a").startswith("a on mine.csv: F1 0.9")
    assert "a is not significantly better than a constant answer" in finding(True, "a", constant=0.6)
