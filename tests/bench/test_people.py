"""People: a row of their own, items they agree on, the quiz they are given, marks of explanations."""

from __future__ import annotations

import pytest

from bench_items import judged, small_set
from deadpan.bench.items.item import LETTERS
from deadpan.bench.items.sets import make_set
from deadpan.bench.people import place_of_answer, read_answers, write_human_run, write_quiz
from deadpan.bench.runs.folder import read_run
from deadpan.bench.scores.score import score_run
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.judgments import write_export
from deadpan.formats.study import read_study
from deadpan.records import Judgment

SET = small_set(4)


def test_people_become_a_row_with_an_interval(tmp_path):
    complete = write_human_run(tmp_path / "h", SET, judged(SET, wrong={("i0-0", 0)}), Tally())
    scores = score_run(read_run(tmp_path / "h"))
    assert complete
    assert (scores.kind, scores.runs, scores.n) == ("human", 3, 8)
    assert scores.avg.value == pytest.approx(23 / 24)
    assert scores.avg.low < scores.avg.value
    assert scores.maj.value == 1.0


def test_people_may_answer_only_some_items_but_then_the_row_stays_pending(tmp_path):
    some = [each for each in judged(SET) if each.item_id != "i3-1"]
    assert not write_human_run(tmp_path / "h", SET, some, Tally())
    assert not read_run(tmp_path / "h").complete


def test_an_export_and_a_csv_give_the_same_row(tmp_path):
    write_export(tmp_path / "export", judged(SET), [])
    rows = "\n".join(
        f"{j.item_id},{j.annotator},{LETTERS[place_of_answer(next(i for i in SET.items if i.id == j.item_id), j.answer)]}"
        for j in judged(SET)
    )
    (tmp_path / "a.csv").write_text(f"item,person,answer\n{rows}\n", encoding="utf-8")
    for source, out in ((tmp_path / "export", "one"), (tmp_path / "a.csv", "two")):
        write_human_run(tmp_path / out, SET, read_answers(source), Tally())
    letters = [[r.prediction for r in read_run(tmp_path / out).rows] for out in ("one", "two")]
    assert letters[0] == letters[1]


def test_the_last_answer_counts_and_strange_ones_are_counted(tmp_path):
    tally = Tally()
    first = judged(SET)
    changed = Judgment("i0-0", "p0", "answer", SET.items[0].options[1], 1.0, "2026-11-15T11:00:00")
    odd = [Judgment("elsewhere", "p0", "answer", "A", 1.0, ""), Judgment("i0-0", "p9", "answer", "Z", 1.0, "")]
    write_human_run(tmp_path / "h", SET, [*first, changed, *odd], tally)
    assert dict(tally.drops) == {"answered_again": 1, "not_in_this_set": 1, "no_option": 1}
    row = next(r for r in read_run(tmp_path / "h").rows if (r.item, r.run) == ("i0-0", 1))
    assert row.prediction == "B"


def test_a_line_of_a_csv_that_is_too_short_is_counted(tmp_path):
    (tmp_path / "a.csv").write_text("item,person,answer\ni0-0,ann\ni0-0,bob,A\n")
    tally = Tally()
    write_human_run(tmp_path / "h", SET, read_answers(tmp_path / "a.csv"), tally)
    assert dict(tally.drops) == {"no_option": 1}


def test_a_csv_without_an_answer_column_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("item,person\nx,y\n")
    with pytest.raises(DataError, match="no column named answer"):
        read_answers(tmp_path / "a.csv")
    with pytest.raises(DataError, match="name its set"):
        write_human_run(tmp_path / "h", SET, [], Tally())


def test_the_quiz_shows_no_answer(tmp_path):
    assert write_quiz(SET, tmp_path / "quiz", raters=7).items == 8
    study, items = read_study(tmp_path / "quiz")
    assert (study.protocol, study.raters_per_item) == ("quiz", 7)
    assert items[0].answer == SET.items[0].answer
    assert set(items[0].shown_fields()) == {"options", "question", "language"}


def test_a_quiz_of_a_private_set_is_only_its_owners(tmp_path):
    for visibility, mode in (("public", 0o755), ("private", 0o700), ("reserve", 0o700)):
        write_quiz(make_set("mine", visibility, SET.items), tmp_path / visibility)
        assert (tmp_path / visibility).stat().st_mode & 0o700 == 0o700
        assert (tmp_path / visibility).stat().st_mode & 0o777 & ~mode == 0


def test_an_answer_is_an_option_its_letter_or_its_place():
    item = SET.items[0]
    given = (item.options[1], "b", "B", " 1 ", "00001", "9", "9" * 5000, "\u00b2", "Z", "")
    assert [place_of_answer(item, answer) for answer in given] == [1, 1, 1, 1, *[None] * 6]
