"""SARC's raw rows, in their three forms."""

from __future__ import annotations

import pytest

from deadpan.datasets import read_dataset
from deadpan.datasets.readers.sarc.raw import SarcRaw
from deadpan.errors import DataError
from deadpan.records import Turn

ROW = ("1", "Right on time", "ann", "news", "3", "-1", "-1", "2016-10", "1476107492", "Two years late.")
HEADER = "label,comment,author,subreddit,score,ups,downs,date,created_utc,parent_comment"


def test_tabs_without_a_header(tmp_path):
    other = ("0", 'He said "no" and left', "ben", *ROW[3:])
    (tmp_path / "sarc.tsv").write_text("\t".join(ROW) + "\n" + "\t".join(other) + "\n")
    dataset = read_dataset("sarc-raw", tmp_path)
    assert [e.label for e in dataset] == [True, False]
    assert dataset[1].response == Turn("ben", 'He said "no" and left')
    assert dataset[0].context == (Turn("", "Two years late."),)
    assert SarcRaw.release.context
    assert dataset[0].meta["created_utc"] == 1476107492
    assert dataset[0].group == dataset[1].group != ""


def test_kaggles_copy(tmp_path):
    line = '1,"Right, on time",ann,news,3,-1,-1,2016-10,2016-10-16 23:55:23,"Two ""years"""\n'
    (tmp_path / "train-balanced-sarcasm.csv").write_text(f"{HEADER}\n{line}")
    example = read_dataset("sarc-kaggle", tmp_path)[0]
    assert example.response.text == "Right, on time"
    assert example.context[0].text == 'Two "years"'
    assert example.meta["created_utc"] == "2016-10-16 23:55:23"


def test_our_own_builds_have_ids(tmp_path):
    (tmp_path / "sarc.csv").write_text(
        f"{HEADER},id,parent_id,link_id\n1,Right,ann,news,3,1,0,2016-10,5,Late,c9,c1,p1\n"
    )
    example = read_dataset("sarc-raw", tmp_path)[0]
    assert (example.id, example.group, example.sequence) == ("sarc-raw/c9", "p1", "c1")


def test_short_rows_and_unknown_labels_are_counted(tmp_path):
    (tmp_path / "sarc.tsv").write_text(
        "\t".join(ROW) + "\n1\tcut\n" + "\t".join(("7", *ROW[1:])) + "\n", encoding="utf-8"
    )
    dataset = read_dataset("sarc-raw", tmp_path)
    assert len(dataset) == 1
    assert dataset.tally.drops == {"bad_row": 1, "unknown_label": 1}


def test_another_file_is_refused(tmp_path):
    (tmp_path / "sarc.tsv").write_text("hello\nworld\n")
    with pytest.raises(DataError, match=r"sarc\.tsv:1"):
        read_dataset("sarc-raw", tmp_path)


@pytest.mark.parametrize("score", ["\u00b2", "9" * 5000, "--3", "3.5"], ids=len)
def test_a_score_that_is_no_whole_number_stays_as_it_is(tmp_path, score):
    (tmp_path / "sarc.tsv").write_text("\t".join((*ROW[:4], score, *ROW[5:])) + "\n", encoding="utf-8")
    assert read_dataset("sarc-raw", tmp_path)[0].meta["score"] == score
