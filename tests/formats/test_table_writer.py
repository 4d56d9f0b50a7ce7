"""Tables are written whole or not at all, and read back as the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.table_writer import WRITTEN, write_table
from deadpan.formats.tables import read_table

COLUMNS = ("text", "n", "turns")
ROWS = [
    {"text": '월요일, "최고"\nzwei', "n": 1, "turns": ["a", "b"]},
    {"text": "=1+1", "n": None, "turns": ["c"]},
]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_written_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    assert write_table(path, COLUMNS, ROWS) == 2
    rows = [row.fields for row in read_table(path, Tally(), "")]
    assert [row["text"] for row in rows] == [row["text"] for row in ROWS]
    assert [str(row.get("n") or "") for row in rows] == ["1", ""]
    assert '"a"' in str(rows[0]["turns"]).replace("'", '"')
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", WRITTEN)
def test_no_rows_are_a_table_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    assert write_table(path, COLUMNS, []) == 0
    assert path.exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def rows():
        yield ROWS[0]
        raise DataError("cut off")

    for suffix in WRITTEN:
        with pytest.raises(DataError, match="cut off"):
            write_table(tmp_path / f"t{suffix}", COLUMNS, rows())
    assert list(tmp_path.iterdir()) == []


def test_mixed_types_in_parquet_are_one_line_with_the_cure(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"write \.jsonl"):
        write_table(tmp_path / "t.parquet", ("a",), [{"a": 1}, {"a": "x"}])


def test_a_text_is_never_a_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write_table(tmp_path / "t.xlsx", COLUMNS, ROWS)
    sheet = openpyxl.load_workbook(tmp_path / "t.xlsx").worksheets[0]
    assert sheet["A3"].data_type == "s"


def test_other_extensions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.csv, \.tsv"):
        write_table(tmp_path / "t.doc", COLUMNS, ROWS)
