from __future__ import annotations

import pytest

from deadpan.datasets.readers.semeval2018 import TaskA, TaskB
from deadpan.errors import DataError

TRAIN = 'Tweet index\tLabel\tTweet text\n1\t1\t"Lovely day\n2\t0\tI said "no" #irony\n3\t1\n4\tx\thm\n'


def test_a(read) -> None:
    examples, tally = read(TaskA, {"SemEval2018-T3-train-taskA_emoji.txt": TRAIN}, name="a")
    assert [(e.id, e.response.text, e.label) for e in examples] == [
        ("a/train-1", '"Lovely day', True),
        ("a/train-2", 'I said "no"', False),
    ]
    assert tally.drops == {"bad_row": 1, "unknown_label": 1}
    assert tally.places["bad_row"][0].startswith("SemEval2018-T3-train-taskA_emoji.txt:4")


def test_b_names_the_kinds(read) -> None:
    rows = "".join(f"{n}\t{n}\ttweet {n}\n" for n in range(4))
    examples, _ = read(
        TaskB, {"SemEval2018-T3-train-taskB_emoji.txt": "Tweet Index\tLabel\tTweet text\n" + rows}
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
    examples, _ = read(TaskA, files)
    assert [(e.split, e.response.text, e.label) for e in examples] == [("test", "Sure", True)]


def test_input_has_no_labels(read) -> None:
    examples, _ = read(TaskA, {"SemEval2018-T3_input_test_taskA.txt": "tweet index\ttweet text\n1\tSure\n"})
    assert [e.label for e in examples] == [None]


def test_training_needs_labels(read) -> None:
    with pytest.raises(DataError, match="no column 'label'"):
        read(TaskA, {"SemEval2018-T3-train-taskA.txt": "tweet index\ttweet text\n1\tSure\n"})


def test_categories_of_numbers_with_a_point_and_of_none(read) -> None:
    train = "Tweet Index\tLabel\tTweet text\n1\t2.0\tOh\n"
    test = "tweet index\ttweet text\n1\tSure\n"
    files = {
        "SemEval2018-T3-train-taskB_emoji.txt": train,
        "SemEval2018-T3_input_test_taskB.txt": test,
    }
    examples, _ = read(TaskB, files)
    assert [(e.label, e.categories) for e in examples] == [(True, ("situational_irony",)), (None, ())]
