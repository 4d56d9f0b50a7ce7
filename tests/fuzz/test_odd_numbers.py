"""Thousands of digits or brackets: int() and json refuse them with errors of their own, which must not escape."""

from __future__ import annotations

import pytest

from deadpan.bench.items.item import read_items
from deadpan.bench.items.sets import open_set
from deadpan.detect.system import parse_settings
from deadpan.errors import DeadpanError
from deadpan.formats.study import Study
from deadpan.generate.language import load_language
from deadpan.generate.questions import lines_of_json
from deadpan.generate.source import read_jsonl
from deadpan.llm.messages import unwrap
from deadpan.llm.retries import Failed
from deadpan.llm.transport import read_answer
from deadpan.storage import read_json
from deadpan.validation import read_config

odd = pytest.mark.parametrize("odd", ["9" * 5000, "[" * 5000], ids=["digits", "brackets"])


@odd
@pytest.mark.parametrize(
    ("name", "before", "read"),
    [
        ("a.json", '{"a": ', read_json),
        ("study.toml", "seed = ", lambda path: read_config(path, Study)),
        ("items.toml", "item = ", read_items),
        ("set.toml", "name = ", lambda path: open_set(str(path))),
    ],
    ids=["json", "config", "items", "set"],
)
def test_a_file_with_them_is_refused_in_one_line(tmp_path, name, before, read, odd):
    after = "}" if name.endswith(".json") else "\n"
    (tmp_path / name).write_text(before + odd + after)
    with pytest.raises(DeadpanError, match=name):
        read(tmp_path / name)


@odd
def test_words_and_answers_with_them_stay_as_they_are(odd):
    assert parse_settings([f"strength={odd}"], ["linear"]) == {"linear": {"strength": odd}}
    assert unwrap(odd, ("A", "B")) == odd
    answer = f'{{"turns": {odd}}}'
    assert lines_of_json(answer, load_language("en")) == answer
    with pytest.raises(Failed, match="not JSON"):
        read_answer(answer, "model")


@odd
def test_a_line_of_dialogues_with_them_is_counted(tmp_path, odd):
    path = tmp_path / "d.jsonl"
    path.write_text(f'{{"turns": {odd}}}\n{{"utterances": ["hi", "ho"]}}\n')
    assert [row.wrong for row in read_jsonl(path, {})] == ["bad_line", ""]
