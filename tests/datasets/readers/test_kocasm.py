from __future__ import annotations

from deadpan.datasets.readers.kocasm import Kocasm


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
