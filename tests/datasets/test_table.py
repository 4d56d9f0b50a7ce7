from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.datasets.reading import Reading
from deadpan.datasets.table import TableReader, parse_context
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Turn
from deadpan.storage import write_records

ROWS = [
    {"tweet": "Oh great", "sarcastic": "yes", "lang": "en", "user": "u1", "likes": 3},
    {"tweet": "Ok", "sarcastic": "no", "lang": "en", "user": "u2", "likes": 0},
    {"tweet": "Hm", "sarcastic": "", "lang": "en", "user": "u2", "likes": 1},
]
CSV = "tweet,sarcastic,lang,user,likes\nOh great,yes,en,u1,3\nOk,no,en,u2,0\nHm,,en,u2,1\n"


def parquet(rows: list[dict[str, object]]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", CSV),
        ("mine.tsv", CSV.replace(",", "\t")),
        ("semicolons.csv", CSV.replace(",", ";")),
        ("mine.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
        ("mine.json", json.dumps(ROWS)),
        ("mine.parquet", parquet(ROWS)),
    ],
)
def test_usual_names_are_found(read, name: str, content: str | bytes) -> None:
    examples, _ = read(TableReader, {name: content}, name="table")
    stem = Path(name).stem
    assert [(e.id, e.response.text, e.label, e.group) for e in examples] == [
        (f"table/{stem}-1", "Oh great", True, "u1"),
        (f"table/{stem}-2", "Ok", False, "u2"),
        (f"table/{stem}-3", "Hm", None, "u2"),
    ]
    assert {e.language for e in examples} == {"en"}
    assert str(examples[0].meta["likes"]) == "3"


def test_columns_can_be_named(read) -> None:
    content = "A,B,C,D\nwell done,bad,before,k1\nfine,good,,k1\n"
    examples, tally = read(
        TableReader, {"x.csv": content}, text="A", label="B", context="C", id="D", positive=["Bad"], language="en"
    )
    assert [(e.id, e.label) for e in examples] == [("k1", True), ("k1#2", False)]
    assert examples[0].context == (Turn("", "before"),)
    assert {e.language for e in examples} == {"en"}
    assert tally.changes == {"repeated_ids": 1}


def test_a_folder_is_one_table_in_parts(read) -> None:
    files = {"train.csv": "text,label\na,1\n", "valid.csv": "text,label\nb,0\n", "notes.txt": "not read"}
    examples, _ = read(TableReader, files)
    assert [(e.id, e.split) for e in examples] == [("corpus/train-1", "train"), ("corpus/valid-1", "dev")]


def test_a_split_column_wins(read) -> None:
    examples, tally = read(TableReader, {"x.csv": "text,label,split\na,1,Test\nb,0,fold7\n"})
    assert [e.split for e in examples] == ["test", ""]
    assert tally.changes == {"unknown_split": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one\n\ntwo", (Turn("", "one"), Turn("", "two"))),
        (["one", {"speaker": "A", "text": "two"}, ""], (Turn("", "one"), Turn("A", "two"))),
        ('["one", "two"]', (Turn("", "one"), Turn("", "two"))),
        ("[sic] well", (Turn("", "[sic] well"),)),
        (None, ()),
        (7, ()),
    ],
)
def test_contexts(value: object, expected: tuple[Turn, ...]) -> None:
    assert parse_context(value) == expected


def test_a_strange_label_names_its_line_and_what_is_understood(read) -> None:
    with pytest.raises(DataError, match=r"x\.csv:3: label 'perhaps' is not understood.*not_sarcastic"):
        read(TableReader, {"x.csv": "text,label\na,1\nb,perhaps\n"})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "a,b\n1,2\n"),
        ("x.csv", b"\xff\xfe\x00"),
        ("x.jsonl", "{broken\n"),
        ("x.json", "[1, 2]"),
        ("x.json", "[{"),
        ("x.parquet", b"PAR1 cut"),
        ("x.parquet", parquet(ROWS)[:200]),
    ],
)
def test_other_files_are_refused(read, name: str, content: str | bytes) -> None:
    with pytest.raises(DataError, match=rf"{name}") as error:
        read(TableReader, {name: content})
    assert "\n" not in str(error.value)


def test_nothing_to_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    for data, said in ((None, "no file to read"), (absent, "absent: no such file"), (tmp_path, "no table there")):
        with pytest.raises(DataError, match=rf"{said}: .*\.csv"):
            list(TableReader("table", data))


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean 'label'"):
        Reading.of(labl="x")
    with pytest.raises(ConfigError, match="did you mean 'author'"):
        Reading.of(label_kind="autor")


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_what_deadpan_wrote_comes_back_whole(tmp_path: Path, suffix: str) -> None:
    written = [
        Example(
            "a", Turn("A", "Oh great"), (Turn("B", "Rain"),), True, ("irony",), "author", "g", "s", "dev", "x", "en"
        ),
        Example("b", Turn("", "Ok"), label=None, meta={"votes": 3}),
    ]
    path = tmp_path / f"mine{suffix}"
    write_records(path, written, Example)
    assert list(TableReader("table", path)) == written
    with pytest.raises(ConfigError, match="need no names"):
        list(TableReader("table", path, Reading.of(text="response")))


def test_rows_without_text_are_counted(read) -> None:
    examples, tally = read(TableReader, {"x.csv": "text,label\n,1\nfine,0\n"})
    assert [e.response.text for e in examples] == ["fine"]
    assert tally.places == {"no_text": ["x.csv:2"]}
