"""SQL for DuckDB: literals, conditions, and the Parquet files of a step."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from deadpan.errors import ConfigError

# A small limit for dictionaries: ids and texts hardly repeat, and looking for repeats took a third of the
# writing time. Small row groups reuse their memory. No compression: snappy makes a build 3 to 9 % slower and
# halves the size of the working folder.
PARQUET_OPTIONS = (
    "FORMAT parquet, PARQUET_VERSION V2, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1000,"
    " WRITE_BLOOM_FILTER false, ROW_GROUP_SIZE 20480"
)


_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)


def size_in_bytes(memory: str) -> int:
    """Return a size such as 4GB or 800 MiB in bytes."""
    match = _SIZE.fullmatch(memory)
    try:
        number = float(match[1] if match else "")
    except ValueError:
        raise ConfigError(f"--memory {memory!r} is not a size: write it like 4GB or 800MB") from None
    assert match
    unit = 1024 if match[3] else 1000
    return int(number * unit ** " kmgt".index(match[2].lower() or " "))


def divided_size(memory: str, parts: int) -> str:
    """Return one of several equal parts of a size."""
    return memory if parts == 1 else f"{size_in_bytes(memory) // parts // 1_000_000}MB"


def literal(text: str) -> str:
    """Return text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def literals(paths: Iterable[Path]) -> str:
    """Return paths as an SQL list."""
    return f"[{', '.join(literal(str(path)) for path in paths)}]"


def any_of(column: str, words: Iterable[str]) -> str:
    """Return the condition that a column is one of these words."""
    listed = ", ".join(map(literal, words))
    return f"{column} IN ({listed})" if listed else "false"


def parquet_files(folder: Path) -> list[Path]:
    """Return the Parquet files below a folder, sorted."""
    return sorted(path for path in folder.rglob("*.parquet") if path.is_file())


def read_folder(folder: Path) -> str:
    """Return the table function that reads all Parquet files below a folder."""
    return f"read_parquet({literals(parquet_files(folder))}, hive_partitioning=false)"


def numbered(folder: Path, column: str = "part") -> list[Path]:
    """Return the folders of a partitioned table by their number."""
    return sorted(folder.glob(f"{column}=*"), key=lambda path: int(path.name.partition("=")[2]))


def parts_of(folder: Path) -> list[Path]:
    """Return the folders that `Engine.split` or `Engine.scatter` wrote, in order."""
    return numbered(folder) or [folder / "whole"]


def size_of(folder: Path) -> int:
    """Return the bytes of all Parquet files below a folder."""
    return sum(path.stat().st_size for path in parquet_files(folder))
