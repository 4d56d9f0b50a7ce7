"""Items on which people agree."""

from __future__ import annotations

import pytest

from bench_items import judged, small_set
from deadpan.bench.people import agreed_items, item_agreement, kept_items
from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.judgments import write_export
from deadpan.records import Judgment

SET = small_set(4)


def test_items_on_which_people_do_not_agree_are_dropped_with_the_reason():
    wrong = {("i0-0", 0), ("i0-0", 1), ("i0-0", 2), ("i1-0", 0)}
    found = {each.item: each for each in item_agreement(SET, judged(SET, wrong=wrong), Tally(), min_agreement=0.8)}
    assert found["i0-0"].why == "people agree on another option"
    assert found["i1-0"].why == "people do not agree"
    assert found["i2-0"].kept
    assert not any(each.kept for each in item_agreement(SET, judged(SET, people=2), Tally()))


def test_an_item_that_lost_its_twin_stands_alone():
    found = item_agreement(SET, judged(SET, wrong={("i0-0", 0), ("i0-0", 1), ("i0-0", 2)}), Tally())
    kept = {item.id: item.pair_id for item in kept_items(SET, {each.item for each in found if each.kept})}
    assert "i0-0" not in kept
    assert (kept["i0-1"], kept["i1-0"], kept["i1-1"]) == ("", "p1", "p1")


def test_kept_items_are_written(tmp_path):
    write_export(tmp_path / "export", judged(SET, wrong={("i0-0", 0), ("i0-0", 1)}), [])
    result = agreed_items(tmp_path / "export", SET, out=tmp_path / "kept.jsonl")
    assert (len(result.kept), len((tmp_path / "kept.jsonl").read_text().splitlines())) == (7, 7)
    assert "kept 7 of 8 items" in str(result)
    with pytest.raises(ConfigError, match="min_agreement"):
        agreed_items(tmp_path / "export", SET, min_agreement=2)
    with pytest.raises(ConfigError, match=r"name it \.jsonl"):  # what it writes must be readable as a set
        agreed_items(tmp_path / "export", SET, out=tmp_path / "kept.csv")


def votes(counts, **changes):
    """What is found of the first item if so many people chose each option, its answer first."""
    item = SET.items[0]
    chosen = [step for step, count in enumerate(counts) for _ in range(count)]
    judgments = [
        Judgment(item.id, f"p{n}", "answer", item.options[(item.answer + step) % 6], 5.0, "2026-11-15T10:00:00")
        for n, step in enumerate(chosen)
    ]  # fmt: skip
    return item_agreement(SET, judgments, Tally(), **changes)[0]


def test_three_people_and_four_of_five_are_enough():
    assert (votes([4, 1]).kept, votes([4, 1]).agreed, votes([4, 1]).right) == (True, 0.8, 0.8)
    assert votes([3]).kept
    assert votes([2]).why == "fewer than 3 people"
    assert votes([3, 1]).why == "people do not agree"
    assert votes([1, 4]).why == "people agree on another option" and votes([1, 4]).right == 0.2
    assert votes([1, 1], min_agreement=0.5, min_raters=2).kept, "as many for the answer as for another"
    assert votes([2], min_raters=2).kept
    assert votes([3], min_agreement=1).kept


def test_an_item_that_nobody_answered_has_no_agreement():
    found = votes([])
    assert (found.n, found.agreed, found.right, found.why) == (0, 0.0, 0.0, "fewer than 3 people")


@pytest.mark.parametrize("share", [0, -0.1, 1.01])
def test_the_agreement_asked_for_is_a_share_above_0(tmp_path, share):
    write_export(tmp_path / "export", judged(SET), [])
    with pytest.raises(ConfigError, match="give a number above 0 and at most 1"):
        agreed_items(tmp_path / "export", SET, min_agreement=share)


def test_the_defaults_of_a_set_are_those_of_an_item(tmp_path):
    """Three of four is below 0.8, and two people are too few."""
    items = small_set(12)
    wrong = {(item.id, 0) for item in items.items[:22]}
    people = [one for one in judged(items, 4, wrong) if one.item_id != items.items[-1].id or one.annotator < "p2"]
    write_export(tmp_path / "export", people, [])
    found = agreed_items(tmp_path / "export", items)
    assert [item.id for item in found.kept] == [items.items[-2].id]
    assert {each.why for each in found.items[:22]} == {"people do not agree"}
    assert found.items[-1].why == "fewer than 3 people"
    assert len(found.summary().tables[0].rows) == 20, "23 were dropped"
    assert "dropped: people do not agree 22, fewer than 3 people 1" in str(found)
