"""Authors who asked to be forgotten: their words and names are left out while dumps are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.corpus.rules import literal
from deadpan.corpus.workshop import Workshop, fingerprint, write_key
from deadpan.errors import DataError
from deadpan.storage import read_json

if TYPE_CHECKING:
    import duckdb

TABLE = "forgotten_authors"


class Forgotten:
    """The names, lower case. Only a hash of them is kept in the output folder."""

    def __init__(self, names: frozenset[str] = frozenset()) -> None:
        self.names = names

    @classmethod
    def read(cls, path: Path | None) -> Forgotten:
        """One name a line; u/ before it does no harm."""
        if path is None:
            return cls()
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            raise DataError(f"{path}: no such file; --forget needs one author a line") from None
        except UnicodeDecodeError:
            raise DataError(f"{path}: not UTF-8 text; --forget needs one author a line") from None
        names = (line.strip().removeprefix("/").removeprefix("u/").lower() for line in lines)
        return cls(frozenset(name for name in names if name))

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def key(self) -> str:
        """Stands for the list in a step's key; empty for an empty list."""
        return fingerprint(sorted(self.names)) if self.names else ""

    @property
    def table(self) -> str:
        """The table `load` fills, or nothing where there is nobody to forget."""
        return TABLE if self.names else ""

    def load(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Put the names where SQL finds them."""
        if self.names:
            connection.execute(f"CREATE OR REPLACE TABLE {TABLE} (name VARCHAR)")
            connection.executemany(f"INSERT INTO {TABLE} VALUES (?)", [[name] for name in sorted(self.names)])

    def adopt(
        self, workshop: Workshop, kind: str, key: dict[str, Any], cursor: duckdb.DuckDBPyConnection
    ) -> None:
        """Take over a unit read under another list, if neither list names anybody in it: a new request
        then costs a new reading only of the dumps that person is in."""
        if workshop.folder(kind, key).exists():
            return
        for folder, old in workshop.earlier(kind):
            if {**old, "forget": key["forget"]} != json.loads(json.dumps(key, default=list)):
                continue
            if read_json(folder / "unit.json")["forgotten"] == 0 and not self._in(folder, cursor):
                write_key(folder, key)
                folder.rename(workshop.folder(kind, key))
                return

    def _in(self, folder: Path, cursor: duckdb.DuckDBPyConnection) -> bool:
        if not self.names:
            return False
        source = f"read_parquet({literal(str(folder / 'rows-*.parquet'))})"
        found = cursor.execute(
            f"SELECT count(*) FROM {source} WHERE lower(author) IN (SELECT name FROM {TABLE})"
        ).fetchone()
        return bool(found and found[0])
