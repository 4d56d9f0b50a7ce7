"""Items on which people agree."""

from __future__ import annotations

import pytest

from bench_items import judged, small_set
from deadpan.bench.scores.agreement import agreed_items, item_agreement, kept_items
from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.export import write_export

SET = small_set(4)


def test_items_on_which_people_do_not_agree_are_dropped_with_the_reason():
    wrong = {("i0-0", 0), ("i0-0", 1), ("i0-0", 2), ("i1-0", 0)}
    found = {
        each.item: each for each in item_agreement(SET, judged(SET, wrong=wrong), Tally(), threshold=0.8)
    }
    assert found["i0-0"].why == "people agree on another option"
    assert found["i1-0"].why == "people do not agree"
    assert found["i2-0"].kept
    assert not any(each.kept for each in item_agreement(SET, judged(SET, people=2), Tally()))


def test_an_item_that_lost_its_twin_stands_alone():
    found = item_agreement(SET, judged(SET, wrong={("i0-0", 0), ("i0-0", 1), ("i0-0", 2)}), Tally())
    kept = {item.id: item.pair_id for item in kept_items(SET, found)}
    assert "i0-0" not in kept
    assert (kept["i0-1"], kept["i1-0"], kept["i1-1"]) == ("", "p1", "p1")


def test_kept_items_are_written(tmp_path):
    write_export(tmp_path / "export", judged(SET, wrong={("i0-0", 0), ("i0-0", 1)}), [])
    result = agreed_items(tmp_path / "export", SET, out=tmp_path / "kept.jsonl")
    assert (len(result.kept), len((tmp_path / "kept.jsonl").read_text().splitlines())) == (7, 7)
    assert "kept 7 of 8 items" in str(result)
    with pytest.raises(ConfigError, match="threshold"):
        agreed_items(tmp_path / "export", SET, threshold=2)
    with pytest.raises(ConfigError, match=r"name it \.jsonl"):  # what it writes must be readable as a set
        agreed_items(tmp_path / "export", SET, out=tmp_path / "kept.csv")
