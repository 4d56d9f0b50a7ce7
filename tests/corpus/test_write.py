"""Released files put together from parts: the same bytes, however the rows were divided."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deadpan.corpus import write
from deadpan.corpus.write import RAW_SCHEMA, AssemblyJob, assemble_file

COUNT = 2_500
LONG = " and so on" * 200  # a column is divided into pages only if it is long


def put_together(folder: Path, sizes: list[int], month: str = "") -> bytes:
    """Write a table as parts of these sizes, and put them together."""
    columns = [
        pa.array([f"{field.name} {row}" + LONG for row in range(COUNT)])
        if pa.types.is_string(field.type)
        else pa.array(range(COUNT), pa.int64()).cast(field.type, safe=False)
        for field in RAW_SCHEMA
    ]
    table = pa.table(columns, RAW_SCHEMA)
    dates = pa.array(["2010-01" if row < 1_700 else "2010-02" for row in range(COUNT)])
    table = table.set_column(RAW_SCHEMA.get_field_index("date"), "date", dates)
    parts, start = [], 0
    folder.mkdir()
    for number, size in enumerate(sizes):
        parts.append(str(folder / f"{number}.parquet"))
        pq.write_table(table.slice(start, size), parts[-1])
        start += size
    assert start == COUNT
    job = AssemblyJob(tuple(parts), str(folder / "rows"), str(folder / "facts.json"), rows=True, month=month)
    assemble_file(job)
    made = (folder / "rows").read_bytes()
    facts = json.loads((folder / "facts.json").read_text())
    assert facts == {"bytes": len(made), "sha256": hashlib.sha256(made).hexdigest()}
    return made


@pytest.mark.parametrize("month", ["", "2010-02"])
def test_a_table_does_not_depend_on_its_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, month: str) -> None:
    monkeypatch.setattr(write, "ROW_GROUP", 1_000)
    monkeypatch.setattr(write, "READ_ROWS", 300)
    whole = put_together(tmp_path / "whole", [COUNT], month)
    assert put_together(tmp_path / "parts", [1, 1_100, 399, 1_000], month) == whole
    assert pq.ParquetFile(tmp_path / "parts" / "rows").metadata.num_rows == (800 if month else COUNT)


def test_texts_follow_each_other(tmp_path: Path) -> None:
    for number, text in enumerate((",a", ",b", "")):
        (tmp_path / str(number)).write_text(text)
    parts = [str(tmp_path / str(number)) for number in range(3)]
    job = AssemblyJob(tuple(parts), str(tmp_path / "made"), str(tmp_path / "facts"), first="{", last="}", skip=1)
    assemble_file(job)
    assert (tmp_path / "made").read_text() == "{a,b}"
