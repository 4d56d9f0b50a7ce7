"""iSarcasm and iSarcasmEval, as published."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.datasets.readers.isarcasm import (
    ISarcasm,
    ISarcasmEvalA,
    ISarcasmEvalArabicA,
    ISarcasmEvalArabicC,
    ISarcasmEvalB,
    ISarcasmEvalC,
    ISarcasmEvalVotes,
)
from deadpan.errors import DataError

IDS = "tweet_id,sarcasm_label,sarcasm_type\n11,sarcastic,rhetorical question\n12,not_sarcastic,\n13,non_sarcastic,\n"
TEXTS = 'text,sarcasm_label\n"Lovely weather,\nagain #sarcasm",1\nI had soup,0\n,0\nodd,maybe\n'


def test_texts_alone(read) -> None:
    examples, tally = read(ISarcasm, {"train_text.csv": TEXTS}, name="isarcasm")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("isarcasm/train-1", "Lovely weather,\nagain", True),
        ("isarcasm/train-2", "I had soup", False),
    ]
    assert tally.drops == {"no_text": 1, "unknown_label": 1}
    assert tally.places == {"no_text": ["train_text.csv:5"], "unknown_label": ["train_text.csv:6: 'maybe'"]}
    assert tally.changes["markers_stripped"] == 1
    assert examples[0].label_kind == "author" and examples[0].split == "train"


def test_ids_alone_say_how_to_bring_texts(read) -> None:
    with pytest.raises(DataError, match=r"isarcasm_train\.csv:1: tweet ids only.*--text-file FILE.*--ids-only"):
        read(ISarcasm, {"isarcasm_train.csv": IDS})


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("texts.csv", "id,text\n11,Was that a question?\n12,Tea at four\n13,\n"),
        (
            "texts.jsonl",
            '{"tweet_id": 11, "text": "Was that a question?"}\n{"tweet_id": "12", "text": "Tea at four"}\n',
        ),
    ],
)
def test_ids_joined_with_texts(read, tmp_path: Path, name: str, texts: str) -> None:
    files = {"isarcasm_train.csv": IDS, name: texts}
    examples, tally = read(ISarcasm, files, text_file=tmp_path / name)
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("corpus/train-11", "Was that a question?", True),
        ("corpus/train-12", "Tea at four", False),
    ]
    assert examples[0].categories == ("rhetorical_question",)
    assert examples[0].meta == {"tweet_id": "11"}
    assert tally.drops == {"no_text": 1}


def test_texts_of_other_tweets_are_refused(read, tmp_path: Path) -> None:
    files = {"isarcasm_train.csv": IDS, "texts.csv": "tweet_id,text\n1.1e1,hm\n"}
    with pytest.raises(DataError, match="none of the tweet ids"):
        read(ISarcasm, files, text_file=tmp_path / "texts.csv")


def test_ids_can_be_counted_without_texts(read) -> None:
    examples, tally = read(ISarcasm, {"isarcasm_train.csv": IDS, "isarcasm_test.csv": IDS}, ids_only=True)
    assert [e.label for e in examples] == [True, False, False] * 2
    assert {e.split for e in examples} == {"train", "test"}
    assert all(e.response.text == "" for e in examples) and not tally.drops


def test_ids_of_a_split_without_texts_are_counted(read) -> None:
    examples, tally = read(ISarcasm, {"train_text.csv": TEXTS, "isarcasm_train.csv": IDS, "isarcasm_test.csv": IDS})
    assert {e.split for e in examples} == {"train"}
    assert tally.drops["no_text"] == 1 + 3
    assert tally.places["no_text"][0].startswith("isarcasm_test.csv:")


def test_ids_only_needs_ids(read) -> None:
    with pytest.raises(DataError, match="no file of ids"):
        read(ISarcasm, {"train_text.csv": TEXTS}, ids_only=True)


HEADER = ",tweet,sarcastic,rephrase,sarcasm,irony,satire,understatement,overstatement,rhetorical_question\n"
ENGLISH = (
    HEADER + "0,Best bus ever,1,The bus was late,1,0,0,0,1,0\n"
    "1,I took the bus,0,,,,,,,\n"
    "2,,0,,,,,,,\n"
    "3,Who needs sleep?,1,,0,1,0,0,0,1\n"
)
ARABIC = "id,text,sarcastic,rephrase,dialect\n7,يا سلام,1,هذا سيئ,nile\n8,صباح الخير,0,,msa\n"


def test_a(read) -> None:
    examples, tally = read(ISarcasmEvalA, {"train/train.En.csv": ENGLISH}, name="a")
    assert [(e.id, e.label) for e in examples] == [("a/train-0", True), ("a/train-1", False), ("a/train-3", True)]
    assert examples[0].categories == ("sarcasm", "overstatement")
    assert examples[0].rephrase == "The bus was late"
    assert tally.places == {"no_text": ["train.En.csv:4"]}


def test_a_test(read) -> None:
    examples, _ = read(ISarcasmEvalA, {"task_A_En_test.csv": "text,sarcastic\nGreat,1\nOk,0\n"})
    assert [(e.split, e.id, e.label) for e in examples] == [
        ("test", "corpus/test-1", True),
        ("test", "corpus/test-2", False),
    ]


def test_arabic_has_a_dialect(read) -> None:
    examples, _ = read(
        ISarcasmEvalArabicA, {"train.Ar.csv": ARABIC, "task_A_Ar_test.csv": "text,sarcastic,dialect\nلا,0,gulf\n"}
    )
    assert [e.meta["dialect"] for e in examples] == ["nile", "msa", "gulf"]
    assert {e.language for e in examples} == {"ar"}


def test_b_is_the_sarcastic_part(read) -> None:
    test = HEADER.removeprefix(",").replace("tweet,sarcastic,rephrase", "text")
    test += "Ah,0,1,0,0,0,0\nOh,0,0,0,0,0,0\n"
    examples, tally = read(ISarcasmEvalB, {"train.En.csv": ENGLISH, "task_B_En_test.csv": test})
    assert [(e.split, e.label, e.categories) for e in examples] == [
        ("train", True, ("sarcasm", "overstatement")),
        ("train", True, ("irony", "rhetorical_question")),
        ("test", True, ("irony",)),
        ("test", False, ()),
    ]
    assert tally.drops == {"not_in_task": 2}


def test_c_is_pairs(read) -> None:
    test = "text_0,text_1,sarcastic_id\nIt was dull,What a thrill,1\nSo fun,Not fun,0\nhm,hm,5\n"
    examples, tally = read(ISarcasmEvalC, {"train.En.csv": ENGLISH, "task_C_En_test.csv": test}, name="c")
    assert [(e.response.text, e.label) for e in examples] == [
        ("Best bus ever", True),
        ("The bus was late", False),
        ("It was dull", False),
        ("What a thrill", True),
        ("So fun", True),
        ("Not fun", False),
    ]
    assert [e.sequence for e in examples] == [name for name in ("c/train-0", "c/test-1", "c/test-2") for _ in "ab"]
    assert all(e.group == e.sequence for e in examples)
    assert len({e.id for e in examples}) == 6
    assert examples[3].rephrase == "It was dull"
    assert tally.drops == {"not_in_task": 2, "no_text": 1, "unknown_label": 1}


def test_arabic_pairs(read) -> None:
    examples, _ = read(ISarcasmEvalArabicC, {"train.Ar.csv": ARABIC})
    assert [(e.label, e.meta["dialect"]) for e in examples] == [(True, "nile"), (False, "nile")]


def test_votes(read) -> None:
    header = "id,text,dialect,sarcasm_ref,human_aggregated,#humans_sarcasm\n"
    files = {
        "third-party annotations/english_task_a.csv": header + "1,Nice one,,1,0,2\n2,Wow,,0,1,5\n",
        "third-party annotations/arabic_task_a.csv": header + "1,يا سلام,nile,1,0,4\n",
    }
    examples, tally = read(ISarcasmEvalVotes, files, name="votes")
    assert [(e.id, e.label, e.language) for e in examples] == [
        ("votes/test-en-1", False, "en"),
        ("votes/test-en-2", True, "en"),
        ("votes/test-ar-1", False, "ar"),
    ]
    assert examples[0].meta == {"votes": 2, "voters": 5, "sarcasm_ref": True}
    assert examples[2].meta["dialect"] == "nile"
    assert {e.label_kind for e in examples} == {"perceived"}
    assert tally.changes == {"label_against_votes": 1}


def test_votes_that_are_no_number_are_left_out(read) -> None:
    header = "id,text,human_aggregated,#humans_sarcasm\n"
    rows = f"1,Nice one,0,{'9' * 5000}\n2,Wow,1,many\n3,Oh,1,3.0\n"
    examples, tally = read(
        ISarcasmEvalVotes, {"third-party annotations/english_task_a.csv": header + rows}, name="votes"
    )
    assert [e.meta for e in examples] == [{"voters": 5}, {"voters": 5}, {"voters": 5, "votes": 3}]
    assert not tally.changes


@pytest.mark.parametrize("kind", [ISarcasmEvalA, ISarcasmEvalB, ISarcasmEvalC])
def test_another_header_is_refused(read, kind) -> None:
    with pytest.raises(DataError, match=r"train\.En\.csv:1: no column"):
        read(kind, {"train.En.csv": "a,b\n1,2\n"})


@pytest.mark.parametrize(("columns", "language"), [("dialect,", "ar"), ("", "en")])
def test_votes_in_a_file_of_another_name_are_arabic_if_they_have_a_dialect(tmp_path, columns, language) -> None:
    dialect = "nile," if columns else ""
    path = tmp_path / "mine.csv"
    path.write_text(f"id,text,{columns}human_aggregated,#humans_sarcasm\n1,Wow,{dialect}1,5\n")
    [example] = ISarcasmEvalVotes("votes", path)
    assert (example.language, example.label) == (language, True)
