"""Ratings from judgments, matrices and plain mappings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from deadpan import ratings as ag
from deadpan.errors import ConfigError, DataError
from deadpan.records import Judgment


def judgment(item: str, annotator: str, answer: str, at: str = "2024-05-01T10:00:00", question: str = "q") -> Judgment:
    return Judgment(item, annotator, question, answer, 3.0, at)


def test_bad_matrices_are_refused() -> None:
    with pytest.raises(DataError, match="rows have from 1 to 2"):
        ag.ratings_from_matrix([["a"], ["a", "b"]])
    with pytest.raises(DataError, match="use None"):
        ag.ratings_from_matrix([[1.0, float("nan")]])
    with pytest.raises(DataError, match="1 answers are not among the categories, first 'c': choose from a, b"):
        ag.ratings_from_matrix([["a", "c"]], categories=["a", "b"])
    with pytest.raises(ConfigError, match="categories must be unique"):
        ag.ratings_from_matrix([["a", "a"]], categories=["a", "a"])


def test_the_latest_judgment_counts_whatever_the_order_and_time_zone() -> None:
    rows = [
        judgment("i", "ann", "yes", "2024-05-01T10:00:00+00:00"),
        judgment("i", "ann", "no", "2024-05-01T18:30:00+09:00"),
        judgment("i", "bob", "no", "2024-05-01T09:00:00Z"),
        judgment("i", "eve", "no", "2024-05-01T09:00:00Z"),
        judgment("i", "eve", "", "2024-05-01T09:05:00Z"),
    ]
    for order in (rows, rows[::-1]):
        ratings = ag.ratings_from_judgments(order)
        (label,) = ag.majority(ratings)
        assert label.distribution == {"yes": 0.5, "no": 0.5}
        assert label.n == 2
    same_time = [judgment("i", "ann", answer) for answer in ("yes", "no")]
    assert ag.majority(ag.ratings_from_judgments(same_time))[0].value == "no"
    with pytest.raises(DataError, match="of 'ann' on item 'i' is not in ISO form"):
        ag.ratings_from_judgments([judgment("i", "ann", "a", "yesterday"), judgment("i", "ann", "b", "today")])


def test_one_question_at_a_time() -> None:
    rows = [judgment("i", "ann", "yes"), judgment("i", "ann", "5", question="r")]
    with pytest.raises(ConfigError, match="choose one of q, r"):
        ag.ratings_from_judgments(rows)
    assert ag.ratings_from_judgments(rows, "r").categories == ("5",)
    with pytest.raises(ConfigError, match="no judgment of question 'x': choose from q, r"):
        ag.ratings_from_judgments(rows, "x")
    assert ag.majority(ag.ratings_from_judgments([])) == []


def test_plain_data_is_read_as_ratings() -> None:
    rows = [["yes", "no"], ["yes", None], ["no", "no"]]
    by_rater = {"ann": ["yes", "yes", "no"], "bob": ["no", None, "no"]}
    table = pd.DataFrame({"ann": ["yes", "yes", "no"], "bob": ["no", np.nan, "no"]})
    judgments = [judgment("a", "x", "yes"), judgment("a", "y", "no")]
    expected = ag.ratings_from_matrix(rows)
    for data in (rows, tuple(map(tuple, rows)), by_rater, table):
        assert ag.as_ratings(data).codes.tolist() == expected.codes.tolist()
    assert ag.as_ratings(by_rater).raters == ag.as_ratings(table).raters == ("ann", "bob")
    assert ag.as_ratings(judgments).items == ("a",)
    assert ag.as_ratings(np.array([[1, 2], [1, 1]])).categories == ("1", "2")
    assert ag.agreement(by_rater)["raw"] == ag.agreement(rows)["raw"]


@pytest.mark.parametrize(
    ("data", "cure"),
    [
        ("yes no", "pass Ratings"),
        (3, "pass Ratings"),
        (None, "pass Ratings"),
        (["yes", "no"], "row 0 must be a list"),
        ([1, 2], "row 0 must be a list"),
        ({"ann": ["yes"], "bob": ["yes", "no"]}, "got ann 1, bob 2"),
        ({"ann": "yes", "bob": "no"}, "the answers of 'ann' must be a list"),
        ([judgment("a", "x", "yes"), "no"], "number 1 is a str"),
    ],
)
def test_what_is_no_rating_is_an_error_with_the_cure(data: object, cure: str) -> None:
    for function in (ag.agreement, ag.majority, ag.dawid_skene, ag.match_majority, ag.fleiss_kappa):
        with pytest.raises(DataError, match=cure):
            function(data)  # type: ignore[operator]


def test_ratings_show_their_counts() -> None:
    made = ag.ratings_from_matrix([["yes", "no"], ["yes", None]])
    assert repr(made) == "Ratings(2 items, 2 raters, 3 answers, 2 categories)"
    assert "2 items, 2 raters" in str(made)
    found = ag.agreement(made)
    assert repr(found) == "Agreement(5 coefficients, 2 items, 2 raters)"
    assert "Krippendorff's alpha" in str(found) and "<table>" in found._repr_html_()
    assert set(found.as_dict()) == {"raw", "cohen", "fleiss", "alpha", "ac1"}
    assert "1 annotators" not in repr(ag.dawid_skene(made)) and "2 labels" in str(ag.dawid_skene(made))


def test_answers_are_counted_by_category() -> None:
    made = ag.ratings_from_matrix([["yes", "no", "yes"], ["yes", None, None], ["no", "no", "no"]])
    assert (made.categories, made.ordered) == (("no", "yes"), False)
    assert made.codes.tolist() == [[1, 0, 1], [1, -1, -1], [0, 0, 0]]
    assert made.as_dict()["answers"] == {"no": 4, "yes": 3}
    assert made.summary().tables[0].rows == (("no", 4), ("yes", 3))
    assert ag.ratings_from_matrix([]).raters == ()


def test_numbers_and_given_categories_are_in_order() -> None:
    numbers = ag.ratings_from_matrix([[10, 9.5], [10, 10]])
    assert (numbers.categories, numbers.ordered) == (("9.5", "10"), True)
    assert numbers.numbers().tolist() == [9.5, 10.0]
    assert ag.ratings_from_matrix([["high", "low"]], categories=["low", "high"]).ordered
    mixed = ag.ratings_from_matrix([[10, "many"]])
    assert not mixed.ordered
    with pytest.raises(ConfigError, match="'many' is not a number"):
        mixed.numbers()
    with pytest.raises(ConfigError, match="categories must be names: got 3"):
        ag.ratings_from_judgments([judgment("i", "ann", "3")], categories=["1", 3])  # type: ignore[list-item]


def test_a_series_of_rows_is_a_matrix() -> None:
    rows = pd.Series([["yes", "no"], ["no", "no"]])
    assert ag.as_ratings(rows).codes.tolist() == [[1, 0], [0, 0]]
