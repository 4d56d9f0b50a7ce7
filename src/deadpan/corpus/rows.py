"""Dumps -> rows: each dump is read once, by a job on any worker, into Parquet files with their counts.

The result is a unit. Decoder -> temporary file -> DuckDB, which parses JSON and applies the text rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints, disk_full, finish_step, start_step, write_key
from deadpan.corpus.dumps import Dump, Kind, hash_dumps
from deadpan.corpus.engines.duckdb import PARQUET_OPTIONS, is_disk_full, job_connection, literal, literals
from deadpan.corpus.engines.engine import Engine, Frame, Report, Share, ignore
from deadpan.corpus.lines import BLOCK_BYTES, OBJECT_SIZE, WINDOW, Lines, Spool, as_place, open_lines, raw_lines
from deadpan.corpus.rules import Forgotten, comments_query, posts_query, tombstone_sql
from deadpan.corpus.settings import FIRST_MONTH, LAST_MONTH, BuildOptions, TextRules, month_name
from deadpan.errors import DataError
from deadpan.progress import Progress
from deadpan.storage import read_json, write_json
from deadpan.validation import decode, encode

ROWS_FORMAT = 9  # of the rows; after a change every dump is read again
REPEATED_IDS, BEST_COPIES = "repeated.parquet", "best.parquet"
PART_BYTES = 64 << 20  # bytes of a dump that are parsed at once
LISTED_LINES = 100  # line numbers of unreadable lines that are kept; all lines are counted
_UNIT = "unit.json"


@dataclass(frozen=True, slots=True)
class Unit:
    """One dump after ingest: its rows and their counts.

    `places` are the first unreadable lines, `forgotten` counts the comments of each tombstone, and `damage`
    says why a truncated dump is not whole. `copies`, if any, is a folder with the ids to exclude from the
    rows, since they occur more than once, and with the rows of the best copies, to use instead.
    """

    folder: Path
    key: str
    kind: Kind
    name: str
    sha256: str
    months: dict[int, int]
    unreadable: int
    places: tuple[str, ...]
    forgotten: dict[str, int]
    damage: str
    parts: tuple[int, ...]
    copies: Path | None = None

    @property
    def rows(self) -> list[Path]:
        """Files of the rows, in the order of the dump."""
        return _row_files(self.folder)

    @property
    def starts(self) -> dict[Path, int]:
        """Number of rows before each file of rows."""
        return dict(zip(self.rows, accumulate(self.parts, initial=0), strict=False))

    @property
    def count(self) -> int:
        return sum(self.months.values())

    @property
    def first_month(self) -> int:
        """First month of its rows; after every month if all its rows are duplicates of others."""
        return min(self.months, default=LAST_MONTH)

    @property
    def last_month(self) -> int:
        """Last month of its rows; before every month if all its rows are duplicates of others."""
        return max(self.months, default=FIRST_MONTH)


def _row_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("rows-*.parquet"))


# ---------------------------------------------------------------- the rows of all dumps

Choose: TypeAlias = Callable[[Frame], Frame]


def rows_of(engine: Engine, units: Sequence[Unit], choose: Choose = lambda rows: rows) -> Frame:
    """Return the rows of some units, each id once, without the rows of unreadable lines.

    `choose` filters or selects rows one by one and keeps their id. It runs before duplicates are removed:
    most rows are not chosen, and need no lookup then.
    """

    def read(paths: Sequence[Path]) -> Frame:
        return choose(_with_names(engine.scan(paths).filter(~nw.col("id").is_null()), units[0].kind))

    rows = read([file for unit in units for file in unit.rows])
    copies = [unit.copies for unit in units if unit.copies]
    if not copies:
        return rows
    repeated = engine.scan([folder / REPEATED_IDS for folder in copies])
    best = read([folder / BEST_COPIES for folder in copies])
    return nw.concat([rows.join(repeated, on="id", how="anti"), best], how="vertical")


def _with_names(rows: Frame, kind: Kind) -> Frame:
    """Add `top` and `link`, which the files leave out where they equal `thread`."""
    if kind == "posts":
        return rows
    return rows.with_columns(
        top=nw.when(nw.col("on_post")).then(nw.col("thread")), link=nw.coalesce(nw.col("link"), nw.col("thread"))
    )


def read_dumps(
    checkpoints: Checkpoints,
    engine: Engine,
    dumps: Sequence[Dump],
    rules: TextRules,
    options: BuildOptions,
    forgotten: Forgotten,
    progress: Progress,
) -> list[Unit]:
    """Return every dump as a unit, in order. If one fails, the others stop; finished units stay."""
    hashes = hash_dumps(engine, checkpoints.root, checkpoints.scratch, dumps)
    # A file given twice is two units, whose comments are duplicates.
    keys: list[dict[str, Any]] = [
        {
            "format": ROWS_FORMAT, "kind": dump.kind, "sha256": sha256, "copy": copy, "rules": encode(rules),
            "truncated": options.allow_truncated, "forget": forgotten.key,
        }
        for dump, (sha256, copy) in zip(dumps, hashes, strict=True)
    ]  # fmt: skip
    folders = [checkpoints.folder(dump.kind, key) for dump, key in zip(dumps, keys, strict=True)]
    _reuse_units(checkpoints, engine, dict(zip(folders, keys, strict=True)), forgotten)
    new = [(dump, key) for dump, key in zip(dumps, keys, strict=True) if not checkpoints.has(dump.kind, key)]
    new.sort(key=lambda pair: -pair[0].size)  # the largest first, so that no core waits for it at the end
    share = engine.share(len(new), extra=WINDOW, at_once=options.workers)
    jobs = [
        ReadJob(
            path=str(dump.path.resolve()),
            folder=str(checkpoints.folder(dump.kind, key).resolve()),
            key=key,
            tombstones=tuple(sorted(forgotten.tombstones)),
            share=share,
            scratch=str(checkpoints.scratch.resolve()),
        )
        for dump, key in new
    ]
    total = sum(dump.size for dump in dumps)
    done = total - sum(dump.size for dump, _ in new)
    positions = [0] * len(jobs)

    def watch(number: int, position: int) -> None:
        positions[number] = position
        progress("ingest", done + sum(positions), total)

    progress("ingest", done, total)
    engine.run_jobs(read_dump, jobs, watch, share.at_once)
    units = [_load_unit(folder, dump, key["sha256"]) for folder, dump, key in zip(folders, dumps, keys, strict=True)]
    for dump, unit in zip(dumps, units, strict=True):
        _check_unit(dump, unit, options)
    return units


def _load_unit(folder: Path, dump: Dump, sha256: str) -> Unit:
    counts = read_json(folder / _UNIT)
    return Unit(
        folder=folder,
        key=folder.name,
        kind=dump.kind,
        name=dump.path.name,
        sha256=sha256,
        months={int(month): count for month, count in counts["months"].items()},
        unreadable=counts["unreadable"],
        places=tuple(f"{dump.path.name}:{line}" for line in counts["lines"]),
        forgotten=counts["forgotten"],
        damage=counts["damage"],
        parts=tuple(counts["parts"]),
    )


def _check_unit(dump: Dump, unit: Unit, options: BuildOptions) -> None:
    """Raise an error if a dump has no comments, or not those of the month in its name."""
    noun = "comment" if dump.kind == "comments" else "submission"
    if not unit.count:
        reason = f"none of its {unit.unreadable:,} lines is a {noun}" if unit.unreadable else "it is empty"
        raise DataError(f"{dump.path}: not a dump of {noun}s: {reason}")
    if dump.named_month and len(unit.months) > 1 and not options.mixed_months:
        shown = ", ".join(f"{month_name(month)} {count:,}" for month, count in list(unit.months.items())[:4])
        raise DataError(
            f"{dump.path}: its name says one month, but its {noun}s are from {len(unit.months)} ({shown}): "
            f"divide it, or take months from created_utc with --mixed-months"
        )


# ---------------------------------------------------------------- units read with other forgotten authors


@dataclass(frozen=True, slots=True)
class ForgottenJob:
    """The rows of a unit, the tombstones to look for, and the small file for the result."""

    rows: tuple[str, ...]
    tombstones: tuple[str, ...]
    target: str


def _reuse_units(
    checkpoints: Checkpoints, engine: Engine, wanted: dict[Path, dict[str, Any]], forgotten: Forgotten
) -> None:
    """Reuse units read with other tombstones, if neither list has an author in them.

    A new name then costs a new reading only of the dumps that author is in.
    """
    jobs: dict[tuple[Path, Path], ForgottenJob] = {}
    for folder, key in wanted.items():
        for old, old_key in () if folder.exists() else checkpoints.finished(key["kind"]):
            same = {**old_key, "forget": key["forget"]} == json.loads(json.dumps(key, default=list))
            if same and not read_json(old / _UNIT)["forgotten"]:
                target = checkpoints.scratch.resolve() / f"authors-{old.name}.json"
                rows = tuple(str(path.resolve()) for path in _row_files(old))
                jobs[old, folder] = ForgottenJob(rows, tuple(sorted(forgotten.tombstones)), str(target))
                break
    engine.run_jobs(find_forgotten, list(jobs.values()))
    for (old, folder), job in jobs.items():
        if not read_json(Path(job.target)):
            write_key(old, wanted[folder])
            old.rename(folder)


def find_forgotten(job: ForgottenJob, report: Report = ignore) -> None:
    """Write whether the rows of a unit have a forgotten author."""
    with closing(duckdb.connect()) as connection:
        table = Forgotten(job.tombstones).load(connection)
        condition = f"{tombstone_sql('author')} IN (SELECT name FROM {table})" if table else "false"
        rows = f"read_parquet({literals(map(Path, job.rows))})"
        found = connection.execute(f"SELECT 1 FROM {rows} WHERE {condition} LIMIT 1").fetchall()
    write_json(Path(job.target), bool(found))
    report(0)


# ---------------------------------------------------------------- one dump


@dataclass(frozen=True, slots=True)
class ReadJob:
    """A dump to read, the folder of its unit, and everything the unit depends on (`key`)."""

    path: str
    folder: str
    key: dict[str, Any]
    tombstones: tuple[str, ...]
    share: Share
    scratch: str


def read_dump(job: ReadJob, report: Report = ignore) -> None:
    """Read one dump into its unit, which gets its name when everything is on disk."""
    temporary = start_step(Path(job.folder))
    with job_connection(job.share, job.scratch, in_order=True) as connection:
        _DumpReader(job, connection).read(temporary, report)
    finish_step(temporary, Path(job.folder), job.key)


class _DumpReader:
    def __init__(self, job: ReadJob, connection: duckdb.DuckDBPyConnection) -> None:
        self.job = job
        self.dump = Dump(as_place(job.path), job.key["kind"])
        self.rules = decode(job.key["rules"], TextRules)
        self.connection = connection
        self.forgotten = Forgotten(job.tombstones)
        self.table = self.forgotten.load(connection)

    def read(self, folder: Path, report: Report) -> None:
        parts: list[int] = []
        room = PART_BYTES + 2 * OBJECT_SIZE + BLOCK_BYTES
        with open_lines(self.dump.path) as lines, closing(Spool(Path(self.job.scratch), room)) as spool:
            while not lines.ended:
                lines.fill(spool, PART_BYTES)
                parts.append(self._write(spool, folder / f"rows-{len(parts):05}.parquet"))
                report(lines.position)
            damage = lines.decoder.damage
        if damage and not self.job.key["truncated"]:
            raise DataError(
                f"{self.dump.path}: truncated or damaged ({damage}): download it again, or use the whole "
                f"lines before the damage with --allow-truncated"
            )
        write_json(folder / _UNIT, self._counts(lines, _row_files(folder), parts, damage))

    def _write(self, spool: Spool, target: Path) -> int:
        query = comments_query if self.dump.kind == "comments" else posts_query
        copy = f"COPY ({query(spool.path, self.rules, self.table)}) TO {literal(str(target))}"
        try:
            return int(self.connection.execute(f"{copy} ({PARQUET_OPTIONS})").fetchall()[0][0])
        except duckdb.InterruptException:
            raise
        except duckdb.Error as bad:
            text = " ".join(str(bad).split())
            if is_disk_full(text):
                raise disk_full(Path(self.job.folder).parent.parent) from None
            if isinstance(bad, duckdb.OutOfMemoryException):
                reason = "not enough memory to read it: allow more with --memory"
                raise DataError(f"{self.dump.path}: {reason}") from None
            raise DataError(f"{self.dump.path}: cannot be read ({text[:200]})") from None

    def _counts(self, lines: Lines, files: Sequence[Path], parts: Sequence[int], damage: str) -> dict[str, Any]:
        """Return the counts of a unit, and the line numbers of the first unreadable lines."""
        source = f"read_parquet({literals(files)}, file_row_number=true, filename=true)"
        months = self.connection.execute(
            f"SELECT month, count(*) FROM {source} WHERE id IS NOT NULL GROUP BY month ORDER BY month"
        ).fetchall()
        unreadable = sum(parts) - sum(count for _, count in months)
        first: list[int] = []
        if unreadable:
            starts = dict(zip(map(str, files), accumulate(parts, initial=0), strict=False))
            found = self.connection.execute(
                f"SELECT filename, file_row_number FROM {source} WHERE id IS NULL ORDER BY ALL LIMIT {LISTED_LINES}"
            ).fetchall()
            first = sorted(starts[file] + row for file, row in found)
        cut = self._is_cut(lines, files)
        numbers = [row + 1 for row in first]
        if first and lines.count != sum(parts):  # with blank or long lines, rows and line numbers differ
            numbers = [number for _, number, _ in raw_lines(self.dump.path, first)]
        stones = f"SELECT tombstone, count(*) FROM {source} WHERE tombstone IS NOT NULL GROUP BY 1 ORDER BY 1"
        return {
            "months": {str(month): count for month, count in months},
            "unreadable": unreadable + len(lines.too_long),
            "lines": sorted([*numbers, *lines.too_long])[:LISTED_LINES],
            "forgotten": dict(self.connection.execute(stones).fetchall()) if self.forgotten else {},
            "damage": damage or ("ends in the middle of a line" if cut else ""),
            "parts": list(parts),
        }

    def _is_cut(self, lines: Lines, files: Sequence[Path]) -> bool:
        """Return whether a plain file ends in the middle of a line; an error unless that is allowed."""
        if self.dump.packed or lines.last == ord("\n") or not files:
            return False
        last = f"FROM read_parquet({literals(files[-1:])}, file_row_number=true)"
        ends = self.connection.execute(f"SELECT id {last} ORDER BY file_row_number DESC LIMIT 1").fetchall()
        cut = bool(ends and ends[0][0] is None)
        if cut and not self.job.key["truncated"]:
            raise DataError(
                f"{self.dump.path}: ends in the middle of a line: download it again, or skip that line "
                f"with --allow-truncated"
            )
        return cut
