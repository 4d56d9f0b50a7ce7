"""People: a row of their own, items they agree on, the quiz they are given, marks of explanations."""

from __future__ import annotations

import pytest

from bench_items import small_set
from deadpan.bench.folder import read_run
from deadpan.bench.humans import agree, kept_items, place_of_answer, read_answers, write_human_run
from deadpan.bench.items import LETTERS
from deadpan.bench.quiz import write_quiz
from deadpan.bench.scores import score_run
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.records import Judgment
from deadpan.studies import read_study, write_export

SET = small_set(4)


def judged(people=3, wrong=()):
    return [
        Judgment(item.id, f"p{n}", "answer", item.options[(item.answer + ((item.id, n) in wrong)) % 6], 5.0, "2026-11-15T10:00:00")
        for item in SET.items
        for n in range(people)
    ]  # fmt: skip


def test_people_become_a_row_with_an_interval(tmp_path):
    complete = write_human_run(tmp_path / "h", SET, judged(wrong={("i0-0", 0)}), Tally())
    scores = score_run(read_run(tmp_path / "h"))
    assert complete
    assert (scores.kind, scores.runs, scores.n) == ("human", 3, 8)
    assert scores.avg.value == pytest.approx(23 / 24)
    assert scores.avg.low < scores.avg.value
    assert scores.maj.value == 1.0


def test_people_may_answer_only_some_items_but_then_the_row_stays_pending(tmp_path):
    some = [each for each in judged() if each.item_id != "i3-1"]
    assert not write_human_run(tmp_path / "h", SET, some, Tally())
    assert not read_run(tmp_path / "h").complete


def test_an_export_and_a_csv_give_the_same_row(tmp_path):
    write_export(tmp_path / "export", judged(), [])
    rows = "\n".join(
        f"{j.item_id},{j.annotator},{LETTERS[place_of_answer(next(i for i in SET.items if i.id == j.item_id), j.answer)]}"
        for j in judged()
    )
    (tmp_path / "a.csv").write_text(f"item,person,answer\n{rows}\n", encoding="utf-8")
    for source, out in ((tmp_path / "export", "one"), (tmp_path / "a.csv", "two")):
        write_human_run(tmp_path / out, SET, read_answers(source), Tally())
    letters = [[r.prediction for r in read_run(tmp_path / out).rows] for out in ("one", "two")]
    assert letters[0] == letters[1]


def test_the_last_answer_counts_and_strange_ones_are_counted(tmp_path):
    tally = Tally()
    first = judged()
    changed = Judgment("i0-0", "p0", "answer", SET.items[0].options[1], 1.0, "2026-11-15T11:00:00")
    odd = [
        Judgment("elsewhere", "p0", "answer", "A", 1.0, ""),
        Judgment("i0-0", "p9", "answer", "Z", 1.0, ""),
    ]
    write_human_run(tmp_path / "h", SET, [*first, changed, *odd], tally)
    assert dict(tally.drops) == {"answered_again": 1, "not_in_this_set": 1, "no_option": 1}
    row = next(r for r in read_run(tmp_path / "h").rows if (r.item, r.run) == ("i0-0", 1))
    assert row.prediction == "B"


def test_items_on_which_people_do_not_agree_are_dropped_with_the_reason():
    wrong = {("i0-0", 0), ("i0-0", 1), ("i0-0", 2), ("i1-0", 0)}
    found = {each.item: each for each in agree(SET, judged(wrong=wrong), Tally(), threshold=0.8)}
    assert found["i0-0"].why == "people agree on another option"
    assert found["i1-0"].why == "people do not agree"
    assert found["i2-0"].kept
    assert not any(each.kept for each in agree(SET, judged(people=2), Tally()))


def test_an_item_that_lost_its_twin_stands_alone():
    found = agree(SET, judged(wrong={("i0-0", 0), ("i0-0", 1), ("i0-0", 2)}), Tally())
    kept = {item.id: item.pair_id for item in kept_items(SET, found)}
    assert "i0-0" not in kept
    assert (kept["i0-1"], kept["i1-0"], kept["i1-1"]) == ("", "p1", "p1")


def test_a_line_of_a_csv_that_is_too_short_is_counted(tmp_path):
    (tmp_path / "a.csv").write_text("item,person,answer\ni0-0,ann\ni0-0,bob,A\n")
    tally = Tally()
    write_human_run(tmp_path / "h", SET, read_answers(tmp_path / "a.csv"), tally)
    assert dict(tally.drops) == {"no_option": 1}


def test_a_csv_without_an_answer_column_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("item,person\nx,y\n")
    with pytest.raises(DataError, match="no column named answer"):
        read_answers(tmp_path / "a.csv")
    with pytest.raises(DataError, match="right set"):
        write_human_run(tmp_path / "h", SET, [], Tally())


def test_the_quiz_shows_no_answer(tmp_path):
    assert write_quiz(tmp_path / "quiz", SET, raters=7) == 8
    study, items = read_study(tmp_path / "quiz")
    assert (study.protocol, study.raters_per_item) == ("quiz", 7)
    assert items[0].hidden["answer"] == SET.items[0].options[SET.items[0].answer]
    assert set(items[0].shown) == {"question", "language"}
