from __future__ import annotations

import json
from typing import Any

import pytest

from deadpan.datasets.readers.mustard import Mustard
from deadpan.errors import DataError
from deadpan.records import Turn


def clip(utterance: str, *context: str, **changes: Any) -> dict[str, Any]:
    return {
        "utterance": utterance,
        "speaker": "ANN",
        "context": list(context),
        "context_speakers": ["BOB"] * len(context),
        "show": "SHOW",
        "sarcasm": True,
        **changes,
    }


def test_clips_that_share_a_line_are_one_scene(read) -> None:
    clips = {
        "1_1": clip("Sure.", "The cat is on the roof again."),
        "1_2": clip("I only wanted some soup for lunch.", "The cat is on the roof again.", sarcasm=False),
        "1_3": clip("Lovely.", "I only wanted some soup for lunch."),
        "1_4": clip("Sure.", "The cat is on the roof again.", show="OTHER"),
    }
    examples, _ = read(Mustard, {"data/sarcasm_data.json": json.dumps(clips)}, name="m")
    assert [(e.id, e.label, e.group) for e in examples] == [
        ("m/1_1", True, "m/1_1"),
        ("m/1_2", False, "m/1_1"),
        ("m/1_3", True, "m/1_1"),
        ("m/1_4", True, "m/1_4"),
    ]
    assert examples[0].response.speaker == "ANN"
    assert examples[0].context == (Turn("BOB", "The cat is on the roof again."),)
    assert examples[0].meta == {"show": "SHOW"}


def test_five_words_are_distinctive_and_four_are_not(read) -> None:
    clips = {
        "1": clip("The cat is very fat."),
        "2": clip("Sure.", "The cat is very fat.", "The cat is fat."),
        "3": clip("Sure.", "The cat is fat."),
    }
    examples, _ = read(Mustard, {"sarcasm_data.json": json.dumps(clips)}, name="m")
    assert [e.group for e in examples] == ["m/1", "m/1", "m/3"]


def test_bad_clips_are_counted(read) -> None:
    clips = {
        "good": clip("Sure."),
        "half": {"utterance": "Sure."},
        "mute": clip("Sure.", "Hm.", context_speakers=[]),
        "odd": clip("Sure.", context="Hm."),
        "word": clip("Sure.", context="Hm", context_speakers=["ANN", "BOB"]),
        "none": 3,
        "unsure": clip("Sure.", sarcasm="?"),
    }
    examples, tally = read(Mustard, {"sarcasm_data.json": json.dumps(clips)})
    assert len(examples) == 1
    assert tally.drops == {"bad_row": 5, "unknown_label": 1}
    assert "no key 'speaker'" in str(tally.places)


@pytest.mark.parametrize("content", ["[]", '{"a": 1}', '{"a": {"utterance"', ""])
def test_another_shape_is_refused(read, content: str) -> None:
    with pytest.raises(DataError, match=r"sarcasm_data\.json:1: no"):
        read(Mustard, {"sarcasm_data.json": content})
