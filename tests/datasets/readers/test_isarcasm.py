from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.datasets.readers.isarcasm import ISarcasm
from deadpan.errors import DataError

IDS = (
    "tweet_id,sarcasm_label,sarcasm_type\n"
    "11,sarcastic,rhetorical question\n"
    "12,not_sarcastic,\n"
    "13,non_sarcastic,\n"
)
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
    with pytest.raises(
        DataError, match=r"isarcasm_train\.csv:1: tweet ids only.*--text-file FILE.*--ids-only"
    ):
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
    examples, tally = read(
        ISarcasm, {"train_text.csv": TEXTS, "isarcasm_train.csv": IDS, "isarcasm_test.csv": IDS}
    )
    assert {e.split for e in examples} == {"train"}
    assert tally.drops["no_text"] == 1 + 3
    assert tally.places["no_text"][0].startswith("isarcasm_test.csv:")


def test_ids_only_needs_ids(read) -> None:
    with pytest.raises(DataError, match="no file of ids"):
        read(ISarcasm, {"train_text.csv": TEXTS}, ids_only=True)
