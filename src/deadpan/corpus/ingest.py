"""Dumps to Parquet, once: decoder -> memory -> DuckDB, which reads the JSON and runs the text rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import duckdb

from deadpan.corpus.decoders import Decoders
from deadpan.corpus.digests import Digests
from deadpan.corpus.dumps import Dump, Kind
from deadpan.corpus.forget import Forgotten
from deadpan.corpus.lines import LONGEST_LINE, Lines, open_lines, raw_lines
from deadpan.corpus.months import month_name
from deadpan.corpus.rules import comments_query, literal, literals, posts_query
from deadpan.corpus.settings import TextRules
from deadpan.corpus.spool import Spool
from deadpan.corpus.workshop import KEY, Workshop, full
from deadpan.errors import DataError
from deadpan.fields import encode
from deadpan.storage import read_json, write_json

FORMAT = 5  # of the rows below; a change makes every dump be read again
ROWS, UNIT = "rows-*.parquet", "unit.json"
REPEATED, BEST = "repeated.parquet", "best.parquet"
PLACES = 100  # line numbers kept of unreadable lines; all are counted
TICK_SECONDS = 0.2
PART = 64 << 20  # bytes of a dump that are parsed together
FIRST_PART = PART // 16  # and twice as many each time, so that all cores are busy soon
AT_ONCE = 3  # parts under way: the decoder fills one while two are parsed and written

# Short dictionaries: ids and texts hardly repeat, and looking for repeats was a third of the writing. Small
# row groups: their memory is used again and again while it is warm. Not compressed: with snappy
# a build takes 3 to 9 % longer, for a little over half of the room.
PARQUET = (
    "FORMAT parquet, PARQUET_VERSION V2, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1000,"
    " WRITE_BLOOM_FILTER false, ROW_GROUP_SIZE 20480"
)

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
        self.decoders = Decoders(options.workers)
        self.stopped = threading.Event()
        self.adopting = threading.Lock()  # two must not take over the same unit
        self.spools: SimpleQueue[Spool] = SimpleQueue()
        self.done_bytes = self.done_lines = self.total = 0

    @property
    def _writers(self) -> int:
        return self.options.workers * (AT_ONCE - 1)

    def run(self, dumps: Sequence[Dump]) -> list[Unit]:
        """Every dump as a unit, in the order given. One that fails stops the rest; what is done stays."""
        self.total = sum(dump.size for dump in dumps)
        self.forgotten.load(self.connection)
        # One reader more than decoders: while the last of a dump is written, the next can start.
        readers = ThreadPoolExecutor(self.options.workers + 1)
        writers = ThreadPoolExecutor(self._writers)
        hasher = ThreadPoolExecutor(1)
        with self._ticking(), self._spooling(), self._sharing_cores(), hasher, writers, readers:
            digests = Digests(self.workshop.root, dumps, hasher)
            futures = [readers.submit(self._unit, n, dump, digests, writers) for n, dump in enumerate(dumps)]
            try:
                digests.save()
                return [future.result() for future in futures]
            except BaseException:
                self.stopped.set()
                raise
            finally:
                for future in futures:
                    future.cancel()
                self.decoders.forget()

    def _key(self, dump: Dump, sha256: str, copy: int) -> dict[str, Any]:
        """The same file given twice is two units, whose comments are each other's duplicates."""
        return {
            "format": FORMAT,
            "kind": dump.kind,
            "sha256": sha256,
            "copy": copy,
            "rules": encode(self.rules),
            "truncated": self.options.allow_truncated,
            "forget": self.forgotten.key,
        }

    def _unit(self, number: int, dump: Dump, digests: Digests, writers: Executor) -> Unit:
        key = self._key(dump, *digests.of(number))
        with self.adopting:
            self.forgotten.adopt(self.workshop, dump.kind, key, self.connection.cursor())
        folder = self.workshop.step(dump.kind, key, lambda folder: self._read(dump, folder, writers))
        unit = _load(folder, dump, key)
        self.done_bytes += dump.size
        self.done_lines += unit.count + unit.unreadable
        _check(dump, unit, self.options)
        return unit

    def _read(self, dump: Dump, folder: Path, writers: Executor) -> None:
        try:
            with open_lines(dump.path, self.decoders) as lines:
                self._refuse(dump, "premature end" if lines.decoder.early else "")
                self.reading[dump.path] = lines
                parts = self._hand_out(dump, lines, folder, writers)
                damage = lines.decoder.damage()
            counts = [part.result() for part in parts]
        finally:
            self.reading.pop(dump.path, None)
        self._refuse(dump, damage)
        write_json(folder / UNIT, self._seen(dump, lines, row_files(folder), counts))

    def _refuse(self, dump: Dump, damage: str) -> None:
        if damage and not self.options.allow_truncated:
            raise DataError(
                f"{dump.path}: ends early or is damaged ({damage}): fetch it again, or use the whole lines "
                f"before the damage with --allow-truncated"
            )

    def _hand_out(self, dump: Dump, lines: Lines, folder: Path, writers: Executor) -> list[Future[int]]:
        """Decoder -> spool -> DuckDB -> Parquet, part by part: how many rows each will have."""
        parts: list[Future[int]] = []
        while not lines.ended:
            if self.stopped.is_set():
                raise DataError(f"{dump.path}: not read to its end, since another could not be read")
            spool = self.spools.get()
            try:
                lines.pour(spool, min(PART, FIRST_PART << len(parts)))
            except BaseException:
                self.spools.put(spool)
                raise
            target = folder / ROWS.replace("*", f"{len(parts):05}")
            parts.append(writers.submit(self._copy, dump, spool, target))
            for part in parts:
                if part.done():
                    part.result()  # one that failed says so here
        return parts

    def _copy(self, dump: Dump, spool: Spool, target: Path) -> int:
        query = comments_query if dump.kind == "comments" else posts_query
        try:
            select = query(spool.path, self.rules, self.forgotten.table)
            copy = f"COPY ({select}) TO {literal(str(target))} ({PARQUET})"
            return int(self.connection.cursor().execute(copy).fetchall()[0][0])
        except duckdb.Error as bad:
            raise _trouble(dump, bad, self.workshop.out) from None
        finally:
            self.spools.put(spool)

    def _seen(self, dump: Dump, lines: Lines, files: Sequence[Path], parts: Sequence[int]) -> dict[str, Any]:
        """What the manifest needs to know, and where the unreadable lines are."""
        cursor = self.connection.cursor()
        source = f"read_parquet({literals(files)}, file_row_number=true, filename=true)"
        months = cursor.execute(
            f"SELECT month, count(*) FROM {source} WHERE id IS NOT NULL GROUP BY month ORDER BY month"
        ).fetchall()
        starts = dict(zip(map(str, files), accumulate(parts, initial=0), strict=False))
        bad = cursor.execute(f"SELECT filename, file_row_number FROM {source} WHERE id IS NULL").fetchall()
        good, unreadable = sum(n for _, n in months), sorted(starts[file] + row for file, row in bad)
        whole = dump.packed or lines.last == ord("\n")
        cut = not whole and unreadable and unreadable[-1] == good + len(unreadable) - 1
        if cut and not self.options.allow_truncated:
            raise DataError(
                f"{dump.path}: ends in the middle of a line: fetch it again, or leave that line "
                f"out with --allow-truncated"
            )
        first = unreadable[:PLACES]
        numbers = [row + 1 for row in first]
        if first and lines.count != sum(parts):  # some are blank: rows and line numbers are not the same
            numbers = [number for number, _ in raw_lines(dump.path, first, self.decoders).values()]
        forgotten = 0
        if self.forgotten and dump.kind == "comments":
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
            "parts": list(parts),
        }

    @contextmanager
    def _spooling(self) -> Iterator[None]:
        """Room for all parts that may be under way."""
        room = PART + 2 * LONGEST_LINE
        spools = [Spool(self.workshop.scratch, room) for _ in range(self.options.workers * AT_ONCE)]
        for spool in spools:
            self.spools.put(spool)
        try:
            yield
        finally:
            for spool in spools:
                spool.close()

    @contextmanager
    def _sharing_cores(self) -> Iterator[None]:
        """Every writer is a thread of DuckDB's too; with one thread each, rows need no putting in order."""
        ((cores,),) = self.connection.execute("SELECT current_setting('threads')").fetchall()
        self.connection.execute(f"SET threads = {max(1, cores - self._writers + 1)}")
        try:
            yield
        finally:
            self.connection.execute(f"SET threads = {cores}")

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
