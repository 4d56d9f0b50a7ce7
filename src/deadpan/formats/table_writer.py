"""Tables written by their extension: CSV, TSV, JSON lines, Parquet and Excel, row by row."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError, DataError, need, reason_of
from deadpan.storage import BATCH, atomic
from deadpan.text import printable

WRITTEN = (".csv", ".tsv", ".jsonl", ".parquet", ".xlsx")
"""Extensions that can be written."""
EXCEL_ROWS = 1_048_575
EXCEL_LETTERS = 32_767
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")

Row = Mapping[str, Any]


def check_writable(path: Path | str) -> Path:
    """Return the path of a table to write, or raise an error that lists the extensions."""
    path = Path(path)
    if path.suffix.lower() not in WRITTEN:
        raise ConfigError(f"{path}: a table is written as {', '.join(WRITTEN)}: use one of these endings")
    return path


def write_table(path: Path | str, columns: Sequence[str], rows: Iterable[Row], schema: Any = None) -> int:
    """Write rows atomically in the format of the file's extension; return how many.

    Lists and objects in a cell become JSON where the format has no such cells. `schema` is the Arrow schema
    of a Parquet file, where it is known; otherwise the first rows tell it.
    """
    path = check_writable(path)
    with atomic(path) as temporary:
        kind = path.suffix.lower()
        if kind == ".jsonl":
            return _write_json(temporary, rows)
        if kind == ".parquet":
            return _write_parquet(temporary, path, columns, rows, schema)
        if kind == ".xlsx":
            return _write_excel(temporary, path, columns, rows)
        return _write_csv(temporary, columns, rows, "\t" if kind == ".tsv" else ",")


def _write_csv(target: Path, columns: Sequence[str], rows: Iterable[Row], delimiter: str) -> int:
    count = 0
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            count += 1
            writer.writerow([cell_text(row.get(name)) for name in columns])
    return count


def _write_json(target: Path, rows: Iterable[Row]) -> int:
    count = 0
    with target.open("w", encoding="utf-8", errors="replace", newline="") as file:
        for row in rows:
            count += 1
            plain = {name: None if value != value else value for name, value in row.items()}
            file.write(json.dumps(plain, ensure_ascii=False, default=str) + "\n")
    return count


def _write_parquet(target: Path, path: Path, columns: Sequence[str], rows: Iterable[Row], schema: Any) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    count, writer = 0, None
    try:
        for batch in _batches(rows):
            cells = [{name: row.get(name) for name in columns} for row in batch]
            try:
                table = pa.Table.from_pylist(cells, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as bad:
                raise DataError(
                    f"{path}: a column holds values of several types ({reason_of(bad)}): write .jsonl"
                ) from None
            if writer is None:
                schema = _without_null_columns(table.schema)
                table = table.cast(schema)
                writer = pq.ParquetWriter(target, schema)
            writer.write_table(table)
            count += len(batch)
        if writer is None:
            empty = schema or pa.schema([(name, pa.string()) for name in columns])
            writer = pq.ParquetWriter(target, empty)
    finally:
        if writer is not None:
            writer.close()
    return count


def _without_null_columns(schema: Any) -> Any:
    """Return a schema in which a column whose first values are all missing holds text."""
    import pyarrow as pa

    return pa.schema(
        [field.with_type(pa.string()) if pa.types.is_null(field.type) else field for field in schema]
    )


def _write_excel(target: Path, path: Path, columns: Sequence[str], rows: Iterable[Row]) -> int:
    openpyxl, cells = need("openpyxl", "excel"), need("openpyxl.cell", "excel")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("scored")

    def cell(value: Any) -> Any:
        if isinstance(value, bool | int | float) or value is None:
            return value if value == value else None
        made = cells.WriteOnlyCell(sheet, _CONTROL.sub("", cell_text(value))[:EXCEL_LETTERS])
        made.data_type = "s"  # a text that begins with = is not a formula
        return made

    sheet.append([cell(name) for name in columns])
    count = 0
    try:
        for row in rows:
            count += 1
            if count > EXCEL_ROWS:
                raise DataError(f"{path}: Excel holds {EXCEL_ROWS:,} rows: write .csv or .parquet")
            sheet.append([cell(row.get(name)) for name in columns])
    finally:  # closes the writer's own temporary file, whatever happened
        with target.open("wb") as file:
            book.save(file)
    return count


def cell_text(value: Any) -> str:
    """Return a cell as text: nothing for a missing value, JSON for a list or an object."""
    if value is None or value != value:
        return ""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return printable(str(value))


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while batch := list(islice(left, BATCH)):
        yield batch


def check_not_source(source: Path | str, out: Path) -> None:
    """Refuse to replace the table that is being read."""
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise ConfigError(f"{out}: is the input table: choose another name for --out")
