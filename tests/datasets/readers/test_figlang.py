from __future__ import annotations

import json

import pytest

from deadpan.datasets.readers.figlang import Reddit, Twitter
from deadpan.errors import DataError
from deadpan.records import Turn

STEM = "sarcasm_detection_shared_task"


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_threads(read) -> None:
    train = lines(
        {"label": "SARCASM", "response": "Genius", "context": ["I fell", "How?"]},
        {"label": "NOT_SARCASM", "response": "Ouch", "context": ["I fell", "How?"]},
        {"label": "NOT_SARCASM", "response": "Ice", "context": ["I fell", "Where?"]},
        {"label": "SARCASM", "response": "x", "context": "no list"},
        {"response": "x", "context": []},
    )
    test = lines({"id": "twitter_1", "response": "Right", "context": ["Up?"]})
    files = {f"twitter/{STEM}_twitter_training.jsonl": train, f"twitter/{STEM}_twitter_testing.jsonl": test}
    examples, tally = read(Twitter, files, name="fig")
    assert [(e.id, e.label) for e in examples] == [
        ("fig/train-1", True),
        ("fig/train-2", False),
        ("fig/train-3", False),
        ("fig/test-twitter_1", None),
    ]
    assert examples[0].context == (Turn("", "I fell"), Turn("", "How?"))
    assert Twitter.release.context and Reddit.release.context
    assert examples[0].sequence == examples[1].sequence != examples[2].sequence
    assert examples[0].group == examples[2].group != examples[3].group
    assert tally.drops == {"bad_row": 2}


def test_later_test_files_have_labels(read) -> None:
    row = {"label": "SARCASM", "id": "reddit_1", "response": "Right", "context": ["Up?"]}
    examples, _ = read(Reddit, {f"{STEM}_reddit_testing.jsonl": lines(row)})
    assert [(e.split, e.label) for e in examples] == [("test", True)]


def test_training_without_labels_is_refused(read) -> None:
    with pytest.raises(DataError, match="no key 'label'"):
        read(Reddit, {f"{STEM}_reddit_training.jsonl": lines({"response": "Right", "context": []})})
