"""Two corpora as one to train on and one to test on."""

from __future__ import annotations

import pytest

from deadpan.datasets.parts import read_parts, read_several
from deadpan.datasets.reading import Reading
from deadpan.errors import ConfigError


def test_each_corpus_is_one_part_and_ids_do_not_meet(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,text,label,user\n1,oh,1,u\n2,no,0,u\n")
    data = read_parts(None, tmp_path / "a.csv", tmp_path / "b.csv")
    assert [(e.id, e.split, e.group) for e in data.examples] == [
        ("train/1", "train", "train/u"), ("train/2", "train", "train/u"),
        ("1", "test", "test/u"), ("2", "test", "test/u"),
    ]  # fmt: skip


def test_columns_are_for_the_tables_among_several_sources(tmp_path):
    (tmp_path / "a.csv").write_text("id,tweet,label\n1,oh great,1\n2,no,0\n")
    reading = Reading.of(text="tweet")
    table, starter = read_several([tmp_path / "a.csv", "starter-en"], reading)
    assert [e.response.text for e in table.examples] == ["oh great", "no"] and len(starter.examples) > 100
    assert read_parts(None, "starter-en", tmp_path / "a.csv", reading).examples[-1].response.text == "no"
    with pytest.raises(ConfigError, match="starter-en does not take columns"):
        read_several(["starter-en", "starter-ko"], reading)


@pytest.mark.parametrize("given", [(None, None, None), ("a", "b", None), (None, "a", None), ("a", "b", "c")])
def test_one_source_or_both_parts(given):
    with pytest.raises(ConfigError, match="one SOURCE, or both"):
        read_parts(*given)
