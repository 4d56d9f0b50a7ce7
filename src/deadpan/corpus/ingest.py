"""Dumps to Parquet, once: decoder -> pipe -> DuckDB, which reads the JSON and runs the text rules at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import duckdb

from deadpan.corpus.dumps import Dump, Kind, Lines, open_lines, raw_lines, widen
from deadpan.corpus.forget import Forgotten
from deadpan.corpus.months import month_name
from deadpan.corpus.rules import LONGEST_LINE, comments_query, literal, literals, posts_query
from deadpan.corpus.settings import TextRules
from deadpan.corpus.workshop import KEY, Workshop, full
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.storage import digest, read_json, write_json

FORMAT = 2  # of the rows below; a change makes every dump be read again
ROWS, UNIT, DIGESTS = "rows-*.parquet", "unit.json", "digests.json"
REPEATED, BEST = "repeated.parquet", "best.parquet"
PLACES = 100  # line numbers kept of unreadable lines; all are counted
TICK_SECONDS = 0.2
PART = 384 << 20
"""Bytes of a dump that are read at once: DuckDB keeps what it has read of a pipe until the query ends."""

# Short dictionaries: ids and texts hardly repeat, and looking for repeats was a third of the writing.
PARQUET = "FORMAT parquet, COMPRESSION snappy, DICTIONARY_SIZE_LIMIT 1000"

Watch = Callable[[str, int, int, int], None]
"""Told the step, bytes done, bytes in all, and comments read so far."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One dump after ingest: its rows, and what was seen on the way.

    `copies`, if any, has the ids to leave out of the rows, since they occur more than once, and the rows
    of the best copies, to be taken instead.
    """

    folder: Path
    key: str
    kind: Kind
    name: str
    sha256: str
    months: dict[int, int]
    unreadable: int
    places: tuple[str, ...]
    forgotten: int
    parts: tuple[int, ...]
    copies: Path | None = None

    @property
    def rows(self) -> list[Path]:
        """The files of its rows, in the order of the dump."""
        return row_files(self.folder)

    @property
    def starts(self) -> dict[Path, int]:
        """For each file of rows, how many rows are in those before it."""
        return dict(zip(self.rows, accumulate(self.parts, initial=0), strict=False))

    @property
    def count(self) -> int:
        return sum(self.months.values())


@dataclass(frozen=True, slots=True)
class IngestOptions:
    """How dumps are read; none of it changes what a whole, sound dump gives."""

    allow_truncated: bool = False
    mixed_months: bool = False
    workers: int = 1


class Ingest:
    """Reads dumps into a workshop, several at a time."""

    def __init__(
        self,
        workshop: Workshop,
        connection: duckdb.DuckDBPyConnection,
        rules: TextRules,
        options: IngestOptions,
        forgotten: Forgotten,
        watch: Watch,
    ) -> None:
        self.workshop = workshop
        self.connection = connection
        self.rules = rules
        self.options = options
        self.forgotten = forgotten
        self.watch = watch
        self.reading: dict[Path, Lines] = {}
        self.done_bytes = self.done_lines = self.total = 0

    def run(self, dumps: Sequence[Dump]) -> list[Unit]:
        """Every dump as a unit, in the order given. One that fails stops the rest; what is done stays."""
        self.total = sum(dump.size for dump in dumps)
        self.forgotten.load(self.connection)
        digests = self._digests(dumps)
        seen: dict[str, int] = {}
        jobs: list[tuple[Dump, dict[str, Any]]] = []
        for dump, sha256 in zip(dumps, digests, strict=True):
            # The same file given twice is two units, whose comments are each other's duplicates.
            copy = seen[sha256] = seen.get(sha256, 0) + 1
            jobs.append((dump, self._key(dump, sha256, copy)))
        with self._ticking(), ThreadPoolExecutor(max(1, self.options.workers)) as pool:
            futures = [pool.submit(self._unit, dump, key) for dump, key in jobs]
            try:
                return [future.result() for future in futures]
            finally:
                for future in futures:
                    future.cancel()

    def _key(self, dump: Dump, sha256: str, copy: int) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": dump.kind,
            "sha256": sha256,
            "copy": copy,
            "rules": encode(self.rules),
            "truncated": self.options.allow_truncated,
            "forget": self.forgotten.key,
        }

    def _digests(self, dumps: Sequence[Dump]) -> list[str]:
        """Hashes of the dumps; a file whose size and time did not change is not read again for it."""
        path = self.workshop.root / DIGESTS
        known: dict[str, list[Any]] = read_json(path) if path.is_file() else {}
        fresh: dict[str, list[Any]] = {}

        def look(dump: Dump) -> None:
            place, state = str(dump.path.resolve()), dump.path.stat()
            mark = [state.st_size, state.st_mtime_ns]
            old = known.get(place)
            fresh[place] = old if old and old[:2] == mark else [*mark, digest(dump.path)]

        with ThreadPoolExecutor() as pool:
            list(pool.map(look, dumps))
        if fresh != known:
            write_json(path, fresh)
        return [fresh[str(dump.path.resolve())][2] for dump in dumps]

    def _unit(self, dump: Dump, key: dict[str, Any]) -> Unit:
        self.forgotten.adopt(self.workshop, dump.kind, key, self.connection.cursor())
        folder = self.workshop.step(dump.kind, key, lambda folder: self._read(dump, folder))
        unit = _load(folder, dump, key)
        self.done_bytes += dump.size
        self.done_lines += unit.count + unit.unreadable
        _check(dump, unit, self.options)
        return unit

    def _read(self, dump: Dump, folder: Path) -> None:
        cursor = self.connection.cursor()
        with open_lines(dump) as lines:
            self.reading[dump.path] = lines
            try:
                while not lines.ended:
                    number = len(row_files(folder))
                    self._copy(cursor, lines, folder / ROWS.replace("*", f"{number:05}"))
            finally:
                del self.reading[dump.path]
            damage = lines.damage()
        if damage and not self.options.allow_truncated:
            raise DataError(
                f"{dump.path}: ends early or is damaged ({damage}): fetch it again, or use the whole lines "
                f"before the damage with --allow-truncated"
            )
        write_json(folder / UNIT, self._seen(cursor, lines, row_files(folder)))

    def _copy(self, cursor: duckdb.DuckDBPyConnection, lines: Lines, target: Path) -> None:
        """Decoder -> pump -> pipe -> DuckDB -> Parquet."""
        query = comments_query if lines.dump.kind == "comments" else posts_query
        reader, writer = os.pipe()
        widen(writer)
        pump = threading.Thread(target=lines.pump, args=(writer, PART), daemon=True)
        pump.start()
        try:
            select = query(f"/dev/fd/{reader}", self.rules, self.forgotten.table)
            cursor.execute(f"COPY ({select}) TO {literal(str(target))} ({PARQUET})")
        except duckdb.Error as bad:
            raise _trouble(lines.dump, bad, self.workshop.out) from None
        finally:
            os.close(reader)  # a pump that still writes is told so
            pump.join()

    def _seen(self, cursor: duckdb.DuckDBPyConnection, lines: Lines, files: Sequence[Path]) -> dict[str, Any]:
        """What the manifest needs to know, and where the unreadable lines are."""
        source = f"read_parquet({literals(files)}, file_row_number=true, filename=true)"
        months = cursor.execute(
            f"SELECT month, count(*) FROM {source} WHERE id IS NOT NULL GROUP BY month ORDER BY month"
        ).fetchall()
        counts = dict(cursor.execute(f"SELECT filename, count(*) FROM {source} GROUP BY filename").fetchall())
        parts = [counts.get(str(file), 0) for file in files]
        starts = dict(zip(map(str, files), accumulate(parts, initial=0), strict=False))
        bad = cursor.execute(f"SELECT filename, file_row_number FROM {source} WHERE id IS NULL").fetchall()
        good, unreadable = sum(n for _, n in months), sorted(starts[file] + row for file, row in bad)
        whole = lines.process is not None or lines.last in b"\0\n"
        cut = not whole and unreadable and unreadable[-1] == good + len(unreadable) - 1
        if cut and not self.options.allow_truncated:
            raise DataError(
                f"{lines.dump.path}: ends in the middle of a line: fetch it again, or leave that line "
                f"out with --allow-truncated"
            )
        first = unreadable[:PLACES]
        numbers = [row + 1 for row in first]
        if first and lines.blank:  # rows and line numbers are not the same
            numbers = [number for number, _ in raw_lines(lines.dump, first).values()]
        forgotten = 0
        if self.forgotten and lines.dump.kind == "comments":
            found = cursor.execute(f"SELECT count(*) FROM {source} WHERE reason = 'forgotten'").fetchone()
            forgotten = found[0] if found else 0
        elif self.forgotten:
            found = cursor.execute(f"SELECT count(*) FROM {source} WHERE author = ''").fetchone()
            forgotten = found[0] if found else 0
        return {
            "months": {str(month): count for month, count in months},
            "unreadable": len(unreadable),
            "lines": numbers,
            "forgotten": forgotten,
            "parts": parts,
        }

    @contextmanager
    def _ticking(self) -> Iterator[None]:
        """Say how far we are, a few times a second."""
        stop = threading.Event()

        def tick() -> None:
            while not stop.wait(TICK_SECONDS):
                self._tell()

        ticker = threading.Thread(target=tick, daemon=True)
        ticker.start()
        try:
            yield
        finally:
            stop.set()
            ticker.join()
            self._tell()

    def _tell(self) -> None:
        now = list(self.reading.values())
        done = self.done_bytes + sum(lines.position for lines in now)
        self.watch("ingest", done, self.total, self.done_lines + sum(lines.count for lines in now))


def row_files(folder: Path) -> list[Path]:
    """The files of rows a step wrote."""
    return sorted(folder.glob(ROWS))


def _load(folder: Path, dump: Dump, key: dict[str, Any]) -> Unit:
    seen = read_json(folder / UNIT)
    return Unit(
        folder=folder,
        key=folder.name,
        kind=dump.kind,
        name=dump.path.name,
        sha256=key["sha256"],
        months={int(month): count for month, count in seen["months"].items()},
        unreadable=seen["unreadable"],
        places=tuple(f"{dump.path.name}:{line}" for line in seen["lines"]),
        forgotten=seen["forgotten"],
        parts=tuple(seen["parts"]),
    )


def _check(dump: Dump, unit: Unit, options: IngestOptions) -> None:
    """What is whole but still not what it says."""
    noun = "comment" if dump.kind == "comments" else "submission"
    if not unit.count:
        found = f"none of its {unit.unreadable:,} lines is a {noun}" if unit.unreadable else "it is empty"
        raise DataError(f"{dump.path}: not a dump of {noun}s: {found}")
    if dump.named_month and len(unit.months) > 1 and not options.mixed_months:
        shown = ", ".join(f"{month_name(month)} {count:,}" for month, count in list(unit.months.items())[:4])
        raise DataError(
            f"{dump.path}: its name says one month, its {noun}s are of {len(unit.months)} ({shown}): "
            f"divide it, or take months from created_utc with --mixed-months"
        )


def _trouble(dump: Dump, bad: duckdb.Error, out: Path) -> DataError:
    text = " ".join(str(bad).split())
    if "No space left" in text or "Disk quota" in text or "max_temp_directory_size" in text:
        return full(out)
    if "maximum_object_size" in text:
        return DataError(f"{dump.path}: not a dump: a line of more than {LONGEST_LINE >> 20} MB in it")
    if isinstance(bad, duckdb.OutOfMemoryException):
        return DataError(f"{dump.path}: not enough memory to read it: give more with --memory")
    return DataError(f"{dump.path}: cannot be read ({text[:200]})")


__all__ = ["KEY", "PARQUET", "ROWS", "Ingest", "IngestOptions", "Unit", "Watch"]
