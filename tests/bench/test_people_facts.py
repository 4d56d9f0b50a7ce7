"""People as a row: intervals over people and items, agreement, flags."""

from __future__ import annotations

import pytest

from bench_items import judged, small_set
from deadpan.bench.people import people_facts, write_human_run
from deadpan.bench.runs.folder import read_run
from deadpan.bench.scores.score import mean_interval, score_run
from deadpan.drops import Tally
from deadpan.errors import DataError

SET = small_set(10)


def facts(tmp_path, judgments):
    write_human_run(tmp_path / "human", SET, judgments, Tally())
    return people_facts(read_run(tmp_path / "human").rows), score_run(read_run(tmp_path / "human"))


def test_people_who_differ_make_the_interval_wider(tmp_path):
    """One person is always wrong: another sample of people could be all like that one, or without."""
    wrong = {(item.id, 0) for item in SET.items}
    found, scores = facts(tmp_path, judged(SET, people=4, wrong=wrong))
    assert found.people == 4
    over_items = mean_interval([0.75] * 20, [item.pair_id for item in SET.items])
    assert scores.avg.value == pytest.approx(0.75)
    assert scores.avg.high - scores.avg.low > over_items.high - over_items.low + 0.3
    assert scores.answers_per_item == (4, 4)
    assert found.agreed == pytest.approx(0.75)


def test_an_item_below_seventy_percent_is_flagged(tmp_path):
    first, second = SET.items[0].id, SET.items[5].id
    wrong = {(first, 0), (first, 1), (second, 0)}
    found, _ = facts(tmp_path, judged(SET, people=4, wrong=wrong))
    assert found.flagged == (first,), "3 of 4 is enough"


def test_newer_answers_replace_the_row_and_nothing_else(tmp_path):
    facts(tmp_path, judged(SET, people=2))
    found, scores = facts(tmp_path, judged(SET, people=4))
    assert found.people == 4 and scores.answers_per_item == (4, 4)
    assert read_run(tmp_path / "human").complete
    with pytest.raises(DataError, match="not people's answers to"):
        write_human_run(tmp_path / "human", small_set(4), judged(SET, people=2), Tally())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    with pytest.raises(DataError, match="choose another --out"):
        write_human_run(tmp_path / "mine", SET, judged(SET), Tally())
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_one_person_has_no_interval(tmp_path):
    found, scores = facts(tmp_path, judged(SET, people=1))
    assert scores.avg.low is None
    assert found.flagged == ()
