from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.datasets.readers.riloff import Riloff
from deadpan.errors import DataError


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
    assert (
        "train.txt" in str(error.value)
        and "labels_train.txt" in str(error.value)
        and ":2:" in str(error.value)
    )


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
