"""Corpora of responses with their conversations, as published."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deadpan.datasets.readers.conversations import FigLangReddit, FigLangTwitter, KoCoSa, Mustard
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
    examples, tally = read(FigLangTwitter, files, name="fig")
    assert [(e.id, e.label) for e in examples] == [
        ("fig/train-1", True),
        ("fig/train-2", False),
        ("fig/train-3", False),
        ("fig/test-twitter_1", None),
    ]
    assert examples[0].context == (Turn("", "I fell"), Turn("", "How?"))
    assert FigLangTwitter.release.context and FigLangReddit.release.context
    assert examples[0].sequence == examples[1].sequence != examples[2].sequence
    assert examples[0].group == examples[2].group != examples[3].group
    assert tally.drops == {"bad_row": 2}


def test_later_test_files_have_labels(read) -> None:
    row = {"label": "SARCASM", "id": "reddit_1", "response": "Right", "context": ["Up?"]}
    examples, _ = read(FigLangReddit, {f"{STEM}_reddit_testing.jsonl": lines(row)})
    assert [(e.split, e.label) for e in examples] == [("test", True)]


def test_training_without_labels_is_refused(read) -> None:
    with pytest.raises(DataError, match="no key 'label'"):
        read(FigLangReddit, {f"{STEM}_reddit_training.jsonl": lines({"response": "Right", "context": []})})


def document(**changes: object) -> str:
    columns: dict[str, object] = {
        "Context": {"0": "A: 늦었어?\n(잠시 후)\nB: 조금.", "1": "A: 비 온다.\nB: 응."},
        "Response": {"0": "A: 시계가 참 예쁘네.", "1": "A: 우산 가져가."},
        "Sarcasm_Label": {"0": "Sarcasm", "1": "Non-Sarcasm"},
        "Sarcasm_Explanation": {"0": "늦은 것을 비꼰다.", "1": ""},
    }
    return json.dumps(columns | changes)


def test_dialogues(read) -> None:
    files = {"KoCoSa/KoCoSa_dev.json": document(), "KoCoSa/KoCoSa_test.json": document()}
    examples, _ = read(KoCoSa, files, name="kocosa")
    first = examples[0]
    assert [(e.id, e.label) for e in examples[:3]] == [
        ("kocosa/dev-0", True),
        ("kocosa/dev-1", False),
        ("kocosa/test-0", True),
    ]
    assert first.response == Turn("A", "시계가 참 예쁘네.")
    assert first.context == (Turn("A", "늦었어?"), Turn("", "(잠시 후)"), Turn("B", "조금."))
    assert first.explanation == "늦은 것을 비꼰다." and examples[1].explanation == ""
    assert KoCoSa.release.context and KoCoSa.release.explanation
    assert first.group == first.sequence == examples[2].group != examples[1].group


def test_holes_are_counted(read) -> None:
    content = document(Response={"0": "A: 시계가 참 예쁘네."}, Sarcasm_Label={"0": "Sarcasm", "1": "?"})
    examples, tally = read(KoCoSa, {"KoCoSa_valid.json": content})
    assert [e.split for e in examples] == ["dev"]
    assert tally.places == {"bad_row": ["KoCoSa_valid.json row 1: no Context or no Response"]}


@pytest.mark.parametrize("content", [document()[:80], "[]", "{}", document(Context=[]), "{"])
def test_another_shape_is_refused(read, content: str) -> None:
    with pytest.raises(DataError, match=r"KoCoSa_dev\.json:1: no"):
        read(KoCoSa, {"KoCoSa_dev.json": content})


def test_a_dialogue_without_a_name_is_named_by_its_number(read) -> None:
    columns = json.loads(document())
    unnamed = {name: {"": column["0"]} for name, column in columns.items()}
    examples, _ = read(KoCoSa, {"KoCoSa_dev.json": json.dumps(unnamed)}, name="kocosa")
    assert [e.id for e in examples] == ["kocosa/dev-1"]


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
def test_another_shape_of_clips_is_refused(read, content: str) -> None:
    with pytest.raises(DataError, match=r"sarcasm_data\.json:1: no"):
        read(Mustard, {"sarcasm_data.json": content})
