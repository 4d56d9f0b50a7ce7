"""SARC's index and its table of comments, whole and damaged, and its raw rows in their three forms."""

from __future__ import annotations

import bz2
import json

import pytest

from deadpan.datasets import open_dataset, read_dataset
from deadpan.datasets.readers.sarc import SarcRaw
from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.storage import batch_to_records

COMMENTS = {
    "p1": {"text": "City opens a bridge", "author": "ann", "subreddit": "news"},
    "c1": {"text": "Only two years late.", "author": "ben", "score": 4},
    "c2": {"text": "Right on time, as ever", "author": "cat", "score": 7, "created_utc": 5},
    "c3": {"text": "I cross it daily.", "author": "dan"},
    "p2": {"text": "", "author": ""},
    "c4": {"text": 'no {braces} \\ or "quotes" can stop this, 한국어 😀', "author": "eve"},
    "c5": {"text": "fine", "author": "fay"},
    "unused": {"text": "never asked for"},
}
INDEX = "p1 c1|c2 c3|1 0\np2|c4 c5|0 1\n"


@pytest.fixture
def release(tmp_path):
    (tmp_path / "train-balanced.csv").write_text(INDEX)
    (tmp_path / "comments.json").write_text(json.dumps(COMMENTS))
    return tmp_path


def test_a_response_has_its_thread_its_pair_and_its_label(release):
    examples = list(read_dataset("sarc-main", release))
    first = examples[0]
    assert [e.id for e in examples] == ["c2", "c3", "c4", "c5"]
    assert [e.label for e in examples] == [True, False, False, True]
    assert first.context == (Turn("ann", "City opens a bridge"), Turn("ben", "Only two years late."))
    assert (first.response, first.group, first.sequence) == (Turn("cat", "Right on time, as ever"), "p1", "c1")
    assert (first.split, first.label_kind, first.meta["score"]) == ("train", "marker", 7)
    assert open_dataset("sarc-main", release).release.context


def test_a_post_without_text_is_counted_not_shown_as_silence(release):
    dataset = read_dataset("sarc-pol", release)
    assert dataset[2].context == ()
    assert dataset.tally.changes["ancestors_without_text"] == 1


def test_packed_files_read_the_same(release, tmp_path):
    packed = tmp_path / "packed"
    packed.mkdir()
    for name in ("train-balanced.csv", "comments.json"):
        (packed / f"{name}.bz2").write_bytes(bz2.compress((release / name).read_bytes()))
    assert list(open_dataset("sarc-main", packed)) == list(open_dataset("sarc-main", release))


def test_unbalanced_sequences(release):
    (release / "test-unbalanced.csv").write_text("p1|c2 c3 c5|0 1 0\n")
    examples = list(open_dataset("sarc-main-unbalanced", release))
    assert [(e.id, e.label, e.split) for e in examples] == [
        ("c2", False, "test"),
        ("c3", True, "test"),
        ("c5", False, "test"),
    ]


def test_a_response_without_text_is_a_counted_drop(release):
    (release / "train-balanced.csv").write_text("p1|c2 gone|1 0\n")
    dataset = read_dataset("sarc-main", release)
    assert [e.id for e in dataset] == ["c2"]
    assert dataset.tally.drops["no_text"] == 1


def test_another_file_is_refused_at_its_first_line(tmp_path):
    (tmp_path / "train-balanced.csv").write_text("text,label\nhello,1\n")
    with pytest.raises(DataError, match=r"train-balanced\.csv:1: not a SARC index"):
        list(open_dataset("sarc-main", tmp_path))


def test_a_missing_table_of_comments_is_named(tmp_path):
    (tmp_path / "train-balanced.csv").write_text(INDEX)
    with pytest.raises(DataError, match=r"no comments\.json beside"):
        list(open_dataset("sarc-main", tmp_path))


def test_a_cut_archive_is_an_error_not_an_end(release):
    whole = bz2.compress((INDEX * 5000).encode())
    (release / "train-balanced.csv").unlink()
    (release / "train-balanced.csv.bz2").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"train-balanced\.csv\.bz2: damaged or truncated"):
        list(open_dataset("sarc-main", release))


def test_columns_say_what_records_say(tmp_path):
    """Missing words, marks, silence, strangers among the fields, half a surrogate: the same either way."""
    comments = {
        **COMMENTS,
        "c6": {"text": "so useful /s", "author": None, "score": 1, "unknown": [1]},
        "c7": {"text": " \u3000 ", "author": "gil"},
        "c8": {"text": "what a #sarcasm day \ud800", "author": "한"},
        "c9": {"author": "nobody"},
        "p3": {"text": "half \udc00", "author": "ida"},
    }
    index = INDEX + "p3 c1|c6 c7|1 0\np3|c8 c9 missing|0 1 1\np3|c9|1\nbad line\np1|c2|0\n"
    (tmp_path / "train-balanced.csv").write_text(index)
    (tmp_path / "comments.json").write_text(json.dumps(comments))
    for keep in (True, False):
        rows, columns = (open_dataset("sarc-main", tmp_path, keep_markers=keep) for _ in range(2))
        expected = list(rows)
        found = [record for batch in columns.batches() for record in batch_to_records(batch, Example)]
        assert found == expected
        assert columns.tally == rows.tally
    assert len(expected) == 7


def test_columns_of_the_real_release_are_its_records(real_corpora):
    rows, columns = (open_dataset("sarc-pol", real_corpora) for _ in range(2))
    expected = list(rows)
    found = [record for batch in columns.batches() for record in batch_to_records(batch, Example)]
    assert found == expected
    assert columns.tally == rows.tally


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
