from __future__ import annotations

import json

import pytest

from deadpan.datasets.readers.kocosa import KoCoSa
from deadpan.errors import DataError
from deadpan.records import Turn


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
