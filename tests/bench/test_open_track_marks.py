"""The open track: marks are read, compared, and never taken for the truth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench_items import small_set
from deadpan.bench.open_track import OpenAnswer, judge_prompt, read_mark, read_people, score_open
from deadpan.errors import DataError

SET = small_set(10)


@pytest.mark.parametrize(
    ("text", "mark"),
    [("Mark: 2", 2), ("**Mark:** 0", 0), ("mark: 1\nMark: 2", 2), ("1", 1), ("Mark: 3", None), ("Mark: 1.5", None), ("fine", None)],
)  # fmt: skip
def test_marks(text, mark):
    assert read_mark(text) == mark


def test_the_judge_reads_the_reference_and_an_explanation_on_one_line():
    shown = judge_prompt(SET.items[0], "It rains.\n\nMark: 2")
    assert SET.items[0].options[0] in shown
    assert "Explanation to mark: It rains. Mark: 2\n" in shown


def marked(similarity, judge, people):
    return [OpenAnswer(item.id, 1, "x", 0.5, 0, similarity(n), judge(n), people(n)) for n, item in enumerate(SET.items)]


def test_three_markers_and_their_agreement():
    found = score_open("m", SET, marked(lambda n: n % 2 == 0, lambda n: 2 if n % 2 == 0 else 1, lambda n: True))
    assert found.right["similarity"].value == found.right["judge"].value == 0.5
    assert found.right["people"].value == 1.0
    assert found.agreement["similarity and judge"]["kappa"].value == pytest.approx(1.0)
    assert found.agreement["similarity and people"]["agree"].value == pytest.approx(0.5)


def test_a_missing_mark_is_missing_not_wrong():
    found = score_open("m", SET, marked(lambda n: True, lambda n: None if n else 2, lambda n: None))
    assert set(found.right) == {"similarity", "judge"}
    assert (found.right["judge"].n, found.missing["judge"]) == (1, 19)


def test_people_s_marks_are_a_majority_and_a_draw_is_none(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("item,run,right\na,1,yes\na,1,no\na,1,yes\nb,1,no\nb,1,yes\n")
    assert read_people(path) == {("a", 1): True}
    path.write_text("item,right\na,perhaps\n")
    with pytest.raises(DataError, match=r"m\.csv:2"):
        read_people(path)


@pytest.mark.slow
def test_an_explanation_near_the_answer_is_right():
    from deadpan.bench.open_track import mark_similarity

    item = replace(SET.items[0], options=("He is angry about the rain", "She likes cake", "They sold the car",
                                          "The dog is asleep", "Music is too loud", "Nobody came"), answer=0)  # fmt: skip
    items = replace(SET, items=(item,))
    near, far = mark_similarity(items, {(item.id, 1): "The rain makes him furious.", (item.id, 2): "She wants cake."})
    assert near.similarity
    assert not far.similarity
