"""Corpora of texts without context, as published."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from deadpan.datasets.readers.texts import (
    ArSarcasm,
    GhoshVeale,
    Kocasm,
    NewsHeadlines,
    OrabyGeneric,
    OrabyHyperbole,
    OrabyRhetoricalQuestion,
    Ptacek,
    Riloff,
    SemEval2018A,
    SemEval2018B,
)
from deadpan.errors import DataError


def test_outer_quotes_go(read) -> None:
    content = (
        "tweet,sarcasm,sentiment,dialect\n"
        '"""يا سلام""",TRUE,NEG,egypt\n'
        'قال "نعم",FALSE,NEU,msa\n'
        '"""""قال"" ثم ذهب""",FALSE,NEU,msa\n'
    )
    examples, tally = read(ArSarcasm, {"training_data.csv": content}, name="ar")
    assert [(e.response.text, e.label) for e in examples] == [
        ("يا سلام", True),
        ('قال "نعم"', False),
        ('"قال" ثم ذهب', False),
    ]
    assert examples[0].meta == {"sentiment": "NEG", "dialect": "egypt"}
    assert tally.changes == {"outer_quotes_stripped": 2}


def test_test_part(read) -> None:
    examples, _ = read(ArSarcasm, {"testing_data.csv": "tweet,sarcasm,sentiment,dialect\nلا,FALSE,NEU,msa\n"})
    assert [e.split for e in examples] == ["test"]


def test_a_text_of_quotes_only(read) -> None:
    """One quotation mark is a text, two are an empty one."""
    content = 'tweet,sarcasm,sentiment,dialect\n"""",FALSE,NEU,msa\n"""""",FALSE,NEU,msa\n'
    examples, tally = read(ArSarcasm, {"training_data.csv": content})
    assert [e.response.text for e in examples] == ['"']
    assert tally.drops == {"no_text": 1} and tally.changes == {"outer_quotes_stripped": 1}


TRAIN = "TrainSen\t1\tSo glad it rains #sarcasm\nTrainSen\t0\tRain today\nTrainSen\t1\nTrainSen\t1\t#sarcasm\n"


def test_tags_go_and_what_is_left_empty_is_dropped(read) -> None:
    files = {"Train_v1.txt": TRAIN, "dev/Dev_v1.txt": "TrainSen\t1\tSure\n", "Test_v1.txt": "TestSen\t0\tOk\n"}
    examples, tally = read(GhoshVeale, files, name="gv")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("gv/train-1", "So glad it rains", True),
        ("gv/train-2", "Rain today", False),
        ("gv/dev-1", "Sure", True),
        ("gv/test-1", "Ok", False),
    ]
    assert tally.drops == {"bad_row": 1, "empty": 1}
    assert tally.changes["responses_with_marker"] == 2


def test_tags_stay_on_request(read) -> None:
    examples, _ = read(GhoshVeale, {"Train_v1.txt": TRAIN}, keep_markers=True)
    assert examples[0].response.text.endswith("#sarcasm")


def test_a_file_without_tabs_is_refused(read) -> None:
    with pytest.raises(DataError, match=r"Train_v1\.txt:1: 1 field "):
        read(GhoshVeale, {"Train_v1.txt": "just\nlines\n"})


def test_index_is_the_id(read) -> None:
    files = {
        "train.csv": ",tokens,label\n0,참 잘 했다 #irony,1\n5,밥 먹었다,0\n7,,0\n",
        "test.csv": ",tokens,label\n0,그래,0\n",
    }
    examples, tally = read(Kocasm, files, name="kocasm")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("kocasm/train-0", "참 잘 했다", True),
        ("kocasm/train-5", "밥 먹었다", False),
        ("kocasm/test-0", "그래", False),
    ]
    assert tally.places == {"no_text": ["train.csv:4"]}
    assert {e.language for e in examples} == {"ko"}


def test_an_id_given_twice_is_told_apart(read) -> None:
    examples, tally = read(Kocasm, {"train.csv": ",tokens,label\n0,하나,1\n0,둘,0\n0,셋,0\n"}, name="k")
    assert [e.id for e in examples] == ["k/train-0", "k/train-0#2", "k/train-0#3"]
    assert tally.changes == {"repeated_ids": 2}


LINES = (
    '{"article_link": "http://x/1", "headline": "man finds sock", "is_sarcastic": 1}\n'
    '{"is_sarcastic": 0, "headline": "sock prices rise", "article_link": "http://x/2"}\n'
    '{"is_sarcastic": 0, "headl\n'
)


def zipped(text: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Sarcasm_Headlines_Dataset.json", text)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [("Sarcasm_Headlines_Dataset.json", LINES), ("Sarcasm_Headlines_Dataset.json.zip", zipped(LINES))],
)
def test_plain_or_zipped(read, name: str, content: str | bytes) -> None:
    examples, tally = read(NewsHeadlines, {name: content}, name="news")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("news/1", "man finds sock", True),
        ("news/2", "sock prices rise", False),
    ]
    assert examples[0].group == examples[0].meta["article_link"] == "http://x/1"
    assert tally.drops == {"bad_row": 1} and tally.places["bad_row"][0].startswith(f"{name}:3")


def test_the_second_version_is_read_instead_of_the_first(read) -> None:
    second = '{"is_sarcastic": 1, "headline": "v2", "article_link": ""}\n'
    files = {"Sarcasm_Headlines_Dataset.json": LINES, "Sarcasm_Headlines_Dataset_v2.json": second}
    assert [e.response.text for e in read(NewsHeadlines, files)[0]] == ["v2"]


@pytest.mark.parametrize("content", [zipped(LINES)[:80], b"", b"not a zip"], ids=["cut", "empty", "other"])
def test_a_zip_cut_short_is_refused(read, content: bytes) -> None:
    with pytest.raises(DataError, match=r"Sarcasm_Headlines_Dataset\.json\.zip"):
        read(NewsHeadlines, {"Sarcasm_Headlines_Dataset.json.zip": content})


POSTS = 'class,id,text\r\nnotsarc,1,"Plain, really."\r\nsarc,2,"Oh sure.\nRight."\r\n'


@pytest.mark.parametrize(
    ("kind", "file", "form"),
    [
        (OrabyGeneric, "GEN-sarc-notsarc.csv", ""),
        (OrabyHyperbole, "HYP-sarc-notsarc.csv", "hyperbole"),
        (OrabyRhetoricalQuestion, "RQ-sarc-notsarc.csv", "rhetorical_question"),
    ],
)
def test_parts(read, kind, file: str, form: str) -> None:
    examples, tally = read(kind, {file: POSTS}, name="oraby")
    assert [(e.id, e.label) for e in examples] == [("oraby/1", False), ("oraby/2", True)]
    assert [e.categories for e in examples] == [(), (form,) if form else ()]
    assert examples[0].meta.get("form", "") == form
    assert not tally.drops


def test_latin_1_is_refused_with_its_line(read) -> None:
    with pytest.raises(DataError, match=r"GEN-sarc-notsarc\.csv:3: not UTF-8"):
        read(OrabyGeneric, {"GEN-sarc-notsarc.csv": b"class,id,text\nsarc,1,ok\nsarc,2,caf\xe9\n"})


def test_tweets_with_newlines_and_nul(read) -> None:
    content = 'text,sarcasm_label\r\n"first,\r\nsecond",1\r\nplain,0\r\nbro\0ken,1\r\n'
    examples, tally = read(Ptacek, {"ptacek_text.csv": content}, name="ptacek")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("ptacek/1", "first,\r\nsecond", True),
        ("ptacek/2", "plain", False),
    ]
    assert tally.drops == {"nul_byte": 1}
    assert tally.places["nul_byte"][0].startswith("ptacek_text.csv:5")
    assert examples[0].label_kind == "marker"


def test_texts_and_labels_run_in_parallel(read) -> None:
    files = {
        "train.txt": "I love mondays\n\nLunch was fine\n",
        "labels_train.txt": "1\n0\n0\n",
        "test.txt": "ok",
        "labels_test.txt": "0\n",
    }
    examples, tally = read(Riloff, files, name="riloff")
    assert [(e.id, e.label) for e in examples] == [
        ("riloff/train-1", True),
        ("riloff/train-3", False),
        ("riloff/test-1", False),
    ]
    assert tally.places == {"no_text": ["train.txt:2"]}


@pytest.mark.parametrize(("texts", "labels"), [("a\nb\n", "1\n"), ("a\n", "1\n0\n")])
def test_unequal_files_are_refused(read, texts: str, labels: str) -> None:
    with pytest.raises(DataError) as error:
        read(Riloff, {"train.txt": texts, "labels_train.txt": labels})
    assert "train.txt" in str(error.value) and "labels_train.txt" in str(error.value) and ":2:" in str(error.value)


def test_labels_must_be_there(read) -> None:
    with pytest.raises(DataError, match=r"labels should be beside it in labels_train\.txt"):
        read(Riloff, {"train.txt": "a\n"})


def test_labels_that_are_none_are_refused(read) -> None:
    with pytest.raises(DataError, match=r"no label in it is one of 1, 0.*train\.txt:1: 'b"):
        read(Riloff, {"train.txt": "a\n", "labels_train.txt": "b\n"})


def test_one_file_will_do(read, tmp_path: Path) -> None:
    read(Riloff, {"train.txt": "a\n", "labels_train.txt": "1\n"})
    assert [e.split for e in Riloff("riloff", tmp_path / "train.txt")] == ["train"]


@pytest.mark.parametrize(
    ("texts", "labels", "says"),
    [
        ("a\nb\n", "1\n", r"/train\.txt:2: labels_train\.txt ends"),
        ("a\n", "1\n0\n", r"labels_train\.txt:2: train\.txt ends"),
    ],
)
def test_the_shorter_file_is_named(read, texts: str, labels: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read(Riloff, {"train.txt": texts, "labels_train.txt": labels})


SEMEVAL_TRAIN = 'Tweet index\tLabel\tTweet text\n1\t1\t"Lovely day\n2\t0\tI said "no" #irony\n3\t1\n4\tx\thm\n'


def test_a(read) -> None:
    examples, tally = read(SemEval2018A, {"SemEval2018-T3-train-taskA_emoji.txt": SEMEVAL_TRAIN}, name="a")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("a/train-1", '"Lovely day', True),
        ("a/train-2", 'I said "no"', False),
    ]
    assert tally.drops == {"bad_row": 1, "unknown_label": 1}
    assert tally.places["bad_row"][0].startswith("SemEval2018-T3-train-taskA_emoji.txt:4")


def test_b_names_the_kinds(read) -> None:
    rows = "".join(f"{n}\t{n}\ttweet {n}\n" for n in range(4))
    examples, _ = read(
        SemEval2018B, {"SemEval2018-T3-train-taskB_emoji.txt": "Tweet Index\tLabel\tTweet text\n" + rows}
    )
    assert [(e.label, e.categories) for e in examples] == [
        (False, ()),
        (True, ("polarity_contrast",)),
        (True, ("situational_irony",)),
        (True, ("other_irony",)),
    ]


@pytest.mark.parametrize(
    "gold", ["Tweet index\tLabel\tTweet text\n1\t1\tSure\n", "Tweet text\tTweet Index\tLabel\nSure\t1\t1\n"]
)
def test_gold_comes_before_input_and_in_either_order(read, gold: str) -> None:
    files = {
        "goldtest_TaskA/SemEval2018-T3_gold_test_taskA_emoji.txt": gold,
        "test_TaskA/SemEval2018-T3_input_test_taskA.txt": "tweet index\ttweet text\n1\tSure\n",
    }
    examples, _ = read(SemEval2018A, files)
    assert [(e.split, e.response.text, e.label) for e in examples] == [("test", "Sure", True)]


def test_input_has_no_labels(read) -> None:
    examples, _ = read(SemEval2018A, {"SemEval2018-T3_input_test_taskA.txt": "tweet index\ttweet text\n1\tSure\n"})
    assert [e.label for e in examples] == [None]


def test_training_needs_labels(read) -> None:
    with pytest.raises(DataError, match="no column 'label'"):
        read(SemEval2018A, {"SemEval2018-T3-train-taskA.txt": "tweet index\ttweet text\n1\tSure\n"})


def test_categories_of_numbers_with_a_point_and_of_none(read) -> None:
    train = "Tweet Index\tLabel\tTweet text\n1\t2.0\tOh\n"
    test = "tweet index\ttweet text\n1\tSure\n"
    files = {"SemEval2018-T3-train-taskB_emoji.txt": train, "SemEval2018-T3_input_test_taskB.txt": test}
    examples, _ = read(SemEval2018B, files)
    assert [(e.label, e.categories) for e in examples] == [(True, ("situational_irony",)), (None, ())]
