"""Authors who asked to be forgotten: their names and texts are removed while dumps are read.

A corpus remembers them by tombstones, hashes of their names, so that no later build restores them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.checkpoints import Checkpoints, fingerprint, write_key
from deadpan.corpus.engines.engine import Engine, Watch, ignore
from deadpan.corpus.ingest.rules import TOMBSTONE, tombstone_sql
from deadpan.corpus.ingest.units import UNIT, row_files
from deadpan.corpus.sql import literals
from deadpan.errors import DataError
from deadpan.storage import read_json, write_json

TABLE = "forgotten_authors"
FILE = "forgotten.json"
_PREFIX = re.compile(r"^(https?://)?(www\.|old\.)?(reddit\.com)?/?(user|u)/", re.IGNORECASE)


def tombstone(name: str) -> str:
    """Return the hash under which an author is remembered; case does not matter."""
    return hashlib.sha256((TOMBSTONE + name.lower()).encode()).hexdigest()


class Forgotten:
    """Tombstones of authors: those a corpus has, and those of a new file of names."""

    def __init__(self, tombstones: Iterable[str] = (), names: Mapping[str, str] | None = None) -> None:
        self.names = dict(names or {})
        self.tombstones = frozenset({*tombstones, *self.names})

    @classmethod
    def read(cls, path: Path | None, out: Path | None = None, more: Iterable[str] = ()) -> Forgotten:
        """Read a file with one name per line (with or without u/), and the tombstones of a corpus."""
        file = out / FILE if out else None
        kept = read_json(file)["tombstones"] if file and file.is_file() else ()
        return cls([*kept, *more], _names(path))

    def __bool__(self) -> bool:
        return bool(self.tombstones)

    @property
    def key(self) -> str:
        """Hash of the tombstones for a step's key; empty if there are none."""
        return fingerprint(sorted(self.tombstones)) if self.tombstones else ""

    def load(self, connection: duckdb.DuckDBPyConnection) -> str:
        """Write the tombstones into a table; return its name, or an empty text if there are none."""
        if not self.tombstones:
            return ""
        connection.execute(f"CREATE OR REPLACE TABLE {TABLE} (name VARCHAR)")
        connection.executemany(f"INSERT INTO {TABLE} VALUES (?)", [[one] for one in sorted(self.tombstones)])
        return TABLE

    def unmatched(self, matched: Iterable[str]) -> list[str]:
        """Return the names of the file that no dump has."""
        found = set(matched)
        return sorted(name for stone, name in self.names.items() if stone not in found)

    def as_dict(self) -> dict[str, list[str]]:
        """Return the contents of the file that a corpus keeps."""
        return {"tombstones": sorted(self.tombstones)}

    def adopt(
        self, checkpoints: Checkpoints, engine: Engine, wanted: Iterable[tuple[str, dict[str, Any]]]
    ) -> None:
        """Reuse units read with other tombstones, if neither list has an author in them.

        A new name then costs a new reading only of the dumps that author is in. `wanted` are the kinds and
        keys of all units.
        """
        jobs: dict[tuple[Path, Path], str] = {}
        keys = {checkpoints.folder(kind, key): (kind, key) for kind, key in wanted}
        for target, (kind, key) in keys.items():
            old = None if target.exists() else self._untouched(checkpoints, kind, key)
            if old:
                jobs[old, target] = self._job(old, checkpoints.scratch.resolve())
        engine.run_jobs(look, list(jobs.values()))
        for (old, target), job in jobs.items():
            if not read_json(Path(json.loads(job)["target"])):
                write_key(old, keys[target][1])
                old.rename(target)

    def _untouched(self, checkpoints: Checkpoints, kind: str, key: dict[str, Any]) -> Path | None:
        """Return the unit of the same dump and rules that was read with other tombstones and has none."""
        for folder, old in checkpoints.finished(kind):
            same = {**old, "forget": key["forget"]} == json.loads(json.dumps(key, default=list))
            if same and not read_json(folder / UNIT)["forgotten"]:
                return folder
        return None

    def _job(self, folder: Path, scratch: Path) -> str:
        rows = [str(path.resolve()) for path in row_files(folder)]
        target = str(scratch / f"authors-{folder.name}.json")
        return json.dumps({"rows": rows, "tombstones": sorted(self.tombstones), "target": target})


def look(job: str, watch: Watch = ignore) -> None:
    """Write whether the rows of a unit have a forgotten author; a job of any worker."""
    task = json.loads(job)
    with closing(duckdb.connect()) as connection:
        table = Forgotten(task["tombstones"]).load(connection)
        condition = f"{tombstone_sql('author')} IN (SELECT name FROM {table})" if table else "false"
        rows = f"read_parquet({literals(map(Path, task['rows']))})"
        found = connection.execute(f"SELECT 1 FROM {rows} WHERE {condition} LIMIT 1").fetchall()
    write_json(Path(task["target"]), bool(found))
    watch(job, 0)


def _names(path: Path | None) -> dict[str, str]:
    """Return the names in a file by their tombstones."""
    if path is None:
        return {}
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: --forget needs a file with one author per line") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text: --forget needs one author per line") from None
    names = (_PREFIX.sub("", line.strip()).strip("/@") for line in lines)
    return {tombstone(name): name for name in names if name}
