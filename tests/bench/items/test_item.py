"""Reading items: what is not whole is refused with its place and the cure."""

from __future__ import annotations

import json

import pytest

from bench_items import make_item, small_set
from deadpan.bench.items.item import item_from, item_schema, read_items, write_items
from deadpan.bench.items.sets import limited, make_set, open_set, set_hash, shipped
from deadpan.errors import ConfigError, DataError
from deadpan.validation import encode


def test_items_come_back_from_json_lines(tmp_path):
    items = list(small_set().items)
    write_items(tmp_path / "s.jsonl", items)
    assert read_items(tmp_path / "s.jsonl") == items


def test_items_come_from_toml_too(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nvisibility = "public"\n[[item]]\nid = "a"\nversion = "1.0.0"\nutterance = "Great."\n'
        'question = "Meaning?"\noptions = ["a1","b2","c3","d4","e5","f6"]\nanswer = 2\n'
        'category = "sincere_control"\ncontext = [{speaker = "Narrator", text = "It rained."}]\n',
        encoding="utf-8",
    )
    found = open_set(str(tmp_path / "mine.toml"))
    assert (found.label, found.public, found.items[0].answer) == ("mine@1.0.0", True, 2)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"options": ["a"] * 7}, "7 options: give exactly 6"),
        ({"category": "sincere"}, "did you mean 'sincere_control'"),
        ({"answer": 6}, "answer 6"),
        ({"answer": "B"}, "answer needs a whole number"),
        ({"utterance": " "}, "utterance is empty"),
        ({"id": "../../elsewhere"}, "use letters, digits"),
        ({"language": "en/../x"}, "a code such as en"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"checks": {"safe": "yes"}}, "checks.safe needs true or false"),
        ({"checks": {"save": True}}, "did you mean 'safe'"),
    ],
)
def test_a_bad_item_is_named_with_its_line(tmp_path, change, said):
    good, bad = encode(make_item(0)), {**encode(make_item(1)), **change}
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(good) + "\n" + json.dumps(bad) + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"s\.jsonl:2") as raised:
        read_items(path)
    assert said in str(raised.value)


def test_a_line_nested_without_end_is_no_item(tmp_path):
    (tmp_path / "s.jsonl").write_text("[" * 100_000)
    with pytest.raises(DataError, match=r"s\.jsonl:1: not a JSON line"):
        read_items(tmp_path / "s.jsonl")


def test_a_cut_off_file_says_where(tmp_path):
    line = json.dumps(encode(make_item(0)))
    (tmp_path / "s.jsonl").write_text(f"{line}\n{line[:50]}", encoding="utf-8")
    with pytest.raises(DataError, match=r"s\.jsonl:2: not a JSON line"):
        read_items(tmp_path / "s.jsonl")


def test_the_schema_knows_every_field_of_an_item():
    assert set(item_schema()["properties"]) == set(encode(make_item(0)))
    assert item_from(encode(make_item(0))) == make_item(0)


def test_a_set_is_what_is_in_it_not_how_it_is_ordered():
    items = list(small_set().items)
    assert set_hash(items) == set_hash(items[::-1])
    assert set_hash(items) != set_hash(items[1:])


def test_a_file_that_does_not_say_public_is_private(tmp_path):
    write_items(tmp_path / "mine.jsonl", small_set().items)
    write_items(tmp_path / "public-mine.jsonl", small_set().items)
    assert not open_set(str(tmp_path / "mine.jsonl")).public
    assert open_set(str(tmp_path / "public-mine.jsonl")).public


def test_two_versions_or_two_equal_ids_are_no_set():
    with pytest.raises(DataError, match=r"versions 0\.1\.0, 0\.2\.0"):
        make_set("x", "public", [make_item(0), make_item(1, version="0.1.0")])
    with pytest.raises(DataError, match="two items have the id"):
        make_set("x", "public", [make_item(0), make_item(0)])


def test_an_unknown_set_lists_those_there_are():
    with pytest.raises(ConfigError, match=r"public@0.3.0"):
        open_set("publik@0.3.0")
    assert open_set("public").label in shipped()


def test_a_limit_keeps_pairs_whole():
    kept = limited(small_set(6).items, 5)
    assert [item.id for item in kept] == ["i0-0", "i0-1", "i1-0", "i1-1"]


def test_every_bad_line_is_named_at_once(tmp_path):
    lines = [
        {**encode(make_item(n)), **change}
        for n, change in enumerate(({"answer": 6}, {}, {"mistakes": ["litteral"] * 6}))
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(DataError, match=r"s\.jsonl:1.*answer 6") as raised:
        read_items(tmp_path / "s.jsonl")
    assert "s.jsonl:3: item 'i2-0': unknown mistake 'litteral'" in str(raised.value)
    assert "did you mean 'literal'" in str(raised.value)
