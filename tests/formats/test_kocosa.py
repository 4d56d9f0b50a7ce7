from __future__ import annotations

import json
from pathlib import Path

import pytest

from deadpan.errors import DataError
from deadpan.formats.kocosa import parse_turn, read_kocosa
from deadpan.records import Turn


def test_turns() -> None:
    assert parse_turn("A: 늦었어?") == Turn("A", "늦었어?")
    assert parse_turn(" B : 그래: 조금 ") == Turn("B", "그래: 조금")
    assert parse_turn("(잠시 후)") == Turn("", "(잠시 후)")


def test_a_stage_needs_only_the_columns_it_names(tmp_path: Path) -> None:
    path = tmp_path / "dialogues.json"
    path.write_text(json.dumps({"Context": {"0": "A: 비 온다.\nB: 응.", "1": None}, "Response": {"0": "A: 최고."}}))
    rows = list(read_kocosa(path, "cure", ("Context", "Response")))
    assert rows[0].turns == (Turn("A", "비 온다."), Turn("B", "응."))
    assert (rows[0].response, rows[0].label) == ("A: 최고.", None)
    assert (rows[1].id, rows[1].context, rows[1].response) == ("1", None, None)
    with pytest.raises(DataError, match="no columns Context, Response, Sarcasm_Label"):
        list(read_kocosa(path, "cure"))
