from __future__ import annotations

import pytest

from deadpan.datasets.readers.ghosh_veale import GhoshVeale
from deadpan.errors import DataError

TRAIN = (
    "TrainSen\t1\tSo glad it rains #sarcasm\nTrainSen\t0\tRain today\nTrainSen\t1\nTrainSen\t1\t#sarcasm\n"
)


def test_tags_go_and_what_is_left_empty_is_dropped(read) -> None:
    files = {
        "Train_v1.txt": TRAIN,
        "dev/Dev_v1.txt": "TrainSen\t1\tSure\n",
        "Test_v1.txt": "TestSen\t0\tOk\n",
    }
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
