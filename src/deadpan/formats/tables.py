"""Tables by their extension: CSV, TSV, JSON lines, JSON arrays, Parquet and Excel."""

from __future__ import annotations

import csv
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, need, reason_of
from deadpan.formats.rows import TableRow, csv_rows, find_encoding, json_document, json_lines, lines, unique_names
from deadpan.storage import BATCH, atomic
from deadpan.text import printable

SUFFIXES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")
# Rows of a further sheet that are looked at to see whether it is empty.
_LOOKED_AT = 100
KEPT_ROWS = 20_000
"""Rows of JSON lines that are kept in memory until the columns of all are known."""


def read_table(path: Path, tally: Tally, hint: str, *, exact: bool = False) -> Iterator[TableRow]:
    """Yield the rows of a table; those that cannot be read are counted. `hint` ends error messages.

    Every row has every column: in JSON, where a row may lack keys of others, a missing one is None. Text that
    is not UTF-8 is read as Korean or Western Windows text, and the tally says so. `exact` keeps the names of
    the columns of a CSV as the file spells them.
    """
    kind = path.suffix.lower()
    if kind == ".parquet":
        return _parquet_rows(path)
    if kind == ".xlsx":
        return _excel_rows(path, tally)
    encoding = find_encoding(path)
    if encoding != "utf-8":
        tally.change(f"read_as_{encoding}")
    if kind in (".csv", ".tsv", ".tab"):
        delimiter = _delimiter(path, hint, encoding)
        return csv_rows(path, {}, tally, hint, delimiter=delimiter, encoding=encoding, exact=exact)
    return _json_rows(path, tally, hint, encoding)


def header_of(path: Path, hint: str) -> list[str]:
    """Return the names of the columns of a table without rows, as the file spells them; JSON has none."""
    kind = path.suffix.lower()
    if kind == ".parquet":
        with _parquet(path) as file:
            return list(file.schema_arrow.names)
    if kind == ".xlsx":
        header = _sheet(path)[0][0][1]
        return _excel_names(header, _filled(header))
    if kind not in (".csv", ".tsv", ".tab"):
        return []
    encoding = find_encoding(path)
    delimiter = _delimiter(path, hint, encoding)
    return next(csv.reader([_first_line(path, hint, encoding)], delimiter=delimiter), [])


def is_table(source: str | Path) -> bool:
    """Return True for a file with the extension of a table that deadpan did not write as Examples."""
    path = Path(source)
    return path.is_file() and path.suffix.lower() in SUFFIXES and not holds_examples(path)


def holds_examples(path: Path) -> bool:
    """Return True if a file holds Examples that deadpan wrote."""
    if path.suffix == ".parquet":
        with _parquet(path) as file:
            return {"response", "label_kind", "sequence"} <= set(file.schema_arrow.names)
    if path.suffix != ".jsonl":
        return False
    try:
        first = json.loads(_first_line(path, "it should be JSON lines"))
    except (ValueError, RecursionError):
        return False
    response = first.get("response") if isinstance(first, dict) else None
    return isinstance(response, dict) and "text" in response


def _first_line(path: Path, hint: str, encoding: str = "utf-8") -> str:
    return next((line.strip() for _, line in lines(path, hint, encoding) if line.strip()), "")


def _delimiter(path: Path, hint: str, encoding: str) -> str:
    """Return the delimiter the header has most of: some programs write CSV with semicolons or tabs."""
    header = _first_line(path, hint, encoding)
    return max(",", "\t", ";", key=header.count)


def _json_rows(path: Path, tally: Tally, hint: str, encoding: str) -> Iterator[TableRow]:
    """Yield the objects of a JSON array or of JSON lines, each with the keys of all.

    Were the columns those of the first row, labels that it lacks would never be read: so all rows are read
    before the first is yielded. Those of a long file are not kept meanwhile, but read again.
    """
    if _first_line(path, hint, encoding).startswith("["):
        rows: Iterable[TableRow] = list(_array_rows(path, hint))
        keys = _keys(rows)
    else:
        found = Tally()
        unread = json_lines(path, {}, found, hint, encoding=encoding)
        rows = kept = list(islice(unread, KEPT_ROWS))
        keys = _keys(kept) | _keys(unread)
        if len(kept) == KEPT_ROWS:
            rows = json_lines(path, {}, tally, hint, encoding=encoding)
        else:
            tally.merge(found)
    yield from (replace(row, fields={**keys, **row.fields}) for row in rows)


def _keys(rows: Iterable[TableRow]) -> dict[str, None]:
    return {key: None for row in rows for key in row.fields}


def _array_rows(path: Path, hint: str) -> Iterator[TableRow]:
    """Yield the objects of a JSON array."""
    for number, fields in enumerate(json_document(path, hint), 1):
        if not isinstance(fields, dict):
            raise DataError(f"{path}:1: item {number} of the array is not an object; {hint}")
        yield TableRow(fields, number, f"{path.name} item {number}")


@contextmanager
def _parquet(path: Path) -> Iterator[Any]:
    pa, pq = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, UnicodeDecodeError, OSError) as bad:
        reason = str(bad).partition("\n")[0]
        raise DataError(f"{path}: not a Parquet file, or cut short ({reason}): write it again") from None


def _parquet_rows(path: Path) -> Iterator[TableRow]:
    number = 0
    with _parquet(path) as file:
        for batch in file.iter_batches():
            for fields in batch.to_pylist():
                number += 1
                yield TableRow(fields, number, f"{path.name} row {number}")


DAMAGED_BOOK = (
    zipfile.BadZipFile, zlib.error, SyntaxError, OSError, EOFError, RuntimeError, LookupError, ValueError,
    TypeError, AttributeError,
)  # fmt: skip
"""Errors that openpyxl and the archive under it raise for a damaged workbook, by where the damage is."""


def _excel_names(header: Sequence[object], width: int) -> list[str]:
    given = ["" if name is None else str(name).strip() for name in header]
    return unique_names([*given, *[""] * width][:width])


def _filled(cells: Sequence[object]) -> int:
    """Return the number of cells up to the last that is not empty."""
    return next((n for n in range(len(cells), 0, -1) if cells[n - 1] not in (None, "")), 0)


def _sheet(path: Path) -> tuple[list[tuple[int, Sequence[object]]], list[str]]:
    """Return the rows of the first sheet that are not empty, with their numbers, and the other sheets' names.

    Sheets that begin with many empty rows are taken for empty.
    """
    openpyxl = need("openpyxl", "excel")
    try:
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        rows = enumerate(book.worksheets[0].iter_rows(values_only=True), 1)
        found = [(line, cells) for line, cells in rows if _filled(cells)]
        others = [
            sheet.title for sheet in book.worksheets[1:]
            if any(map(_filled, islice(sheet.iter_rows(values_only=True), _LOOKED_AT)))
        ]  # fmt: skip
        book.close()
    except DAMAGED_BOOK as bad:
        raise DataError(f"{path}: not an Excel workbook, or damaged ({bad}): save it again as .xlsx") from None
    if not found:
        hint = f"move the table there from one of the others ({', '.join(others)}); only the first is read"
        raise DataError(f"{path}: its first sheet is empty: {hint if others else 'give a table with a header'}")
    return found, others


def _excel_rows(path: Path, tally: Tally) -> Iterator[TableRow]:
    """Yield the rows of the first sheet; the first that is not empty is the header.

    A column without a name is kept if it has a value: sheets often have empty ones behind the last. Other
    sheets that are not empty are counted by their names.
    """
    ((start, header), *rows), others = _sheet(path)
    for name in others:
        tally.change(f"sheet_not_read.{name}")
    names = _excel_names(header, max(_filled(cells) for cells in (header, *(cells for _, cells in rows))))
    for line, cells in rows:
        fields = dict(zip_longest(names, cells[: len(names)]))
        yield TableRow(fields, line - start, f"{path.name}:{line}")


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
    pa, pq = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    count, writer = 0, None
    try:
        left = iter(rows)
        while batch := list(islice(left, BATCH)):
            cells = [{name: row.get(name) for name in columns} for row in batch]
            try:
                table = pa.Table.from_pylist(cells, schema=schema)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as bad:
                raise DataError(
                    f"{path}: a column holds values of several types ({reason_of(bad)}): write .jsonl"
                ) from None
            if writer is None:
                # A column whose first values are all missing holds text.
                kinds = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in table.schema]
                schema = pa.schema(kinds)
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


def check_not_source(source: Path | str, out: Path) -> None:
    """Refuse to replace the table that is being read."""
    if out.exists() and Path(source).exists() and out.samefile(source):
        raise ConfigError(f"{out}: is the input table: choose another name for --out")
