"""The whole job, step by step: ingest, label, threads, benchmark. A run may stop and start at any."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import duckdb
import pyarrow as pa

from deadpan.corpus.awareness import author_parts, candidate_parts
from deadpan.corpus.card import corpus_card
from deadpan.corpus.census import Census, census_step, read_census
from deadpan.corpus.dumps import Dump, find_dumps
from deadpan.corpus.duplicates import Copies, drop_duplicates
from deadpan.corpus.engine import ENGINES, Engine, Frame, files_of
from deadpan.corpus.engine_duckdb import DuckDBEngine, connect, trouble
from deadpan.corpus.forget import Forgotten
from deadpan.corpus.ingest import Ingest, IngestOptions, Unit, Watch
from deadpan.corpus.months import month_name
from deadpan.corpus.outputs import Outputs
from deadpan.corpus.raw import Raw, RawWork
from deadpan.corpus.release import Drawing, publish
from deadpan.corpus.rows import rows_of
from deadpan.corpus.rules import literal
from deadpan.corpus.settings import Settings
from deadpan.corpus.similarity import check_vectors
from deadpan.corpus.statistics import statistics
from deadpan.corpus.threads import ThreadWork, thread_step
from deadpan.corpus.workshop import Workshop, fingerprint, full
from deadpan.errors import ConfigError, DataError
from deadpan.fields import encode
from deadpan.storage import Manifest, digest, manifest_path, read_manifest, write_json, write_text

Step = Literal["ingest", "label", "threads", "benchmark"]
STEPS: tuple[Step, ...] = get_args(Step)
NOTHING = "rows.parquet"
EMPTY_POSTS = (
    "SELECT '' AS id, '' AS author, '' AS subreddit, 0::BIGINT AS score, 0::BIGINT AS ups,"
    " 0::BIGINT AS downs, 0::BIGINT AS created_utc, 0::INTEGER AS month,"
    " 0::BIGINT AS rank, '' AS text LIMIT 0"
)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """How and where to build; none of it changes a byte of the result, but for `packed` and `forget`."""

    engine: str = "duckdb"
    spark_master: str = "local[*]"
    memory: str = "4GB"
    ingest: IngestOptions = field(default_factory=IngestOptions)
    packed: bool = False
    forget: Path | None = None


def quiet(step: str, done: int, total: int, comments: int) -> None:
    """Watch nothing."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """All dumps as unique rows."""

    comments: Copies
    posts: Copies
    units: list[Unit]

    @property
    def key(self) -> list[str]:
        return sorted(unit.key for unit in (*self.comments.units, *self.posts.units))


class Build:
    """One output folder in the making."""

    def __init__(
        self, out: Path, settings: Settings, options: BuildOptions | None = None, watch: Watch = quiet
    ) -> None:
        self.workshop = Workshop(out)
        self.settings = settings
        self.options = options or BuildOptions()
        self.watch = watch
        ENGINES.check(self.options.engine)

    def run(self, patterns: Sequence[str], until: Step = "benchmark") -> Manifest | None:
        """Do what is not done yet, up to a step; the manifest, once everything is."""
        dumps = find_dumps(patterns)
        forgotten = Forgotten.read(self.options.forget)
        if until == "benchmark":
            check_vectors(self.settings.benchmark.vectors)
        if self.workshop.out.exists() and not self.workshop.out.is_dir():
            raise DataError(f"{self.workshop.out}: a file of that name is in the way; choose another folder")
        with self.workshop.alone():
            connection = connect(self.options.memory, self.workshop.scratch)
            try:
                manifest = self._steps(connection, dumps, forgotten, until)
                self.workshop.settle()
                return manifest
            except (duckdb.Error, RuntimeError) as bad:
                raise trouble(bad, self.workshop.out) from None
            except OSError as bad:
                if bad.errno in (errno.ENOSPC, errno.EDQUOT):
                    raise full(self.workshop.out) from None
                raise
            finally:
                connection.close()

    def _steps(
        self, connection: duckdb.DuckDBPyConnection, dumps: list[Dump], forgotten: Forgotten, until: Step
    ) -> Manifest | None:
        ingested = self._ingest(connection, dumps, forgotten)
        if until == "ingest":
            return None
        whole = self._finished(ingested)
        if whole and until == "benchmark":
            return whole
        engine = self._engine(connection)
        try:
            return self._relations(engine, connection, ingested, until)
        finally:
            if engine.name != "duckdb":
                engine.close()

    def _relations(
        self, engine: Engine, connection: duckdb.DuckDBPyConnection, ingested: Ingested, until: Step
    ) -> Manifest | None:
        outputs = Outputs(connection, self.workshop.root / ".fresh", self.options.packed)
        beside = engine.aside()
        with ThreadPoolExecutor(1) as lane:
            try:
                lane.submit(pa.array, [])  # the first time Arrow looks for pandas, which takes a moment
                work = self._labels(engine, ingested.comments.units)
                return self._two_lanes(engine, beside, lane, ingested, work, outputs, until)
            except BaseException:  # Ctrl-C too: the other lane need not go on to its end
                beside.interrupt()
                outputs.interrupt()
                raise

    def _labels(self, engine: Engine, units: Sequence[Unit]) -> ThreadWork:
        """Who is aware, and which comments that leaves."""
        scope = self.settings.scope
        self.watch("label", 0, 0, 0)
        authors = author_parts(self.workshop, engine, units)
        candidates = candidate_parts(self.workshop, engine, units, authors, scope)
        return ThreadWork(units, candidates, authors, scope)

    def _two_lanes(
        self,
        engine: Engine,
        beside: Engine,
        lane: Executor,
        ingested: Ingested,
        work: ThreadWork,
        outputs: Outputs,
        until: Step,
    ) -> Manifest | None:
        """What Python does in one, trees and draws, leaves the engine free for the other."""
        key = {"comments": ingested.key, "scope": encode(work.scope)}

        @cache  # started once, by whoever comes first
        def counting() -> Future[Path]:
            everything = rows_of(beside, work.units)
            return lane.submit(
                census_step, self.workshop, beside, everything, work.candidates, work.scope, key
            )

        if until == "label":
            counting().result()
            return None
        self.watch("threads", 0, 0, 0)
        threads = thread_step(self.workshop, engine, work, when_dealt=counting)

        def raw(engine: Engine) -> Raw:
            posts = self._posts(engine, outputs.connection, ingested.posts.units)
            given = RawWork(work.units, posts, work.candidates, threads, key)
            return Raw(self.workshop, engine, given)

        texts = raw(engine).texts()
        counts = counting().result()
        if until == "threads":
            raw(engine).entries(texts)
            return None
        self.watch("benchmark", 0, 0, 0)
        writing = lane.submit(lambda: outputs.raw(raw(beside).rows(texts)))
        entries = raw(engine).entries(texts)
        census = read_census(engine, counts, threads, ingested.comments.dropped, work.scope)
        return self._release(outputs, ingested, threads, writing, entries, census)

    # ------------------------------------------------------------ the steps

    def _ingest(
        self, connection: duckdb.DuckDBPyConnection, dumps: list[Dump], forgotten: Forgotten
    ) -> Ingested:
        ingest = Ingest(
            self.workshop, connection, self.settings.text, self.options.ingest, forgotten, self.watch
        )
        units = ingest.run(dumps)
        self.watch("duplicates", 0, 0, 0)
        kinds = {}
        for kind in ("comments", "posts"):
            chosen = [(unit, dump) for unit, dump in zip(units, dumps, strict=True) if unit.kind == kind]
            kinds[kind] = drop_duplicates(
                self.workshop, connection, [unit for unit, _ in chosen], [dump for _, dump in chosen]
            )
        months = [month for unit in kinds["comments"].units for month in unit.months]
        if not any(self.settings.scope.first <= month <= self.settings.scope.last for month in months):
            span = f"{month_name(min(months))} to {month_name(max(months))}"
            raise ConfigError(f"no comment is in the months asked for: the dumps have {span}")
        return Ingested(kinds["comments"], kinds["posts"], units)

    def _posts(self, engine: Engine, connection: duckdb.DuckDBPyConnection, units: Sequence[Unit]) -> Frame:
        """The submissions; a table without rows, where no dumps of them were given."""
        if units:
            return rows_of(engine, units)

        def make(folder: Path) -> None:
            connection.execute(f"COPY ({EMPTY_POSTS}) TO {literal(str(folder / NOTHING))} (FORMAT parquet)")

        return engine.scan([self.workshop.step("no_posts", [], make) / NOTHING])

    def _engine(self, connection: duckdb.DuckDBPyConnection) -> Engine:
        kind = ENGINES.load(self.options.engine)
        if kind is DuckDBEngine:
            return DuckDBEngine(connection)
        engine: Engine = kind(self.options.spark_master, self.options.memory, self.workshop.scratch)
        return engine

    def _key(self, ingested: Ingested) -> str:
        return fingerprint([ingested.key, encode(self.settings), self.options.packed])

    def _finished(self, ingested: Ingested) -> Manifest | None:
        """The manifest of a build with just this input and these settings, if its files are as it says."""
        out = self.workshop.out
        if not manifest_path(out).is_file():
            return None
        manifest = read_manifest(out)
        same = manifest.config.get("key") == self._key(ingested) and all(
            (out / name).is_file() and digest(out / name) == facts["sha256"]
            for name, facts in manifest.files.items()
        )
        return manifest if same else None

    def _release(
        self,
        outputs: Outputs,
        ingested: Ingested,
        threads: Path,
        writing: Future[Path],
        entries: Path,
        census: Census,
    ) -> Manifest:
        """All other files, while the raw ones are being written; then all in place."""
        outputs.sequences(threads)
        outputs.comments("raw", entries)
        drawn = Drawing(outputs, self.settings, threads, entries, self.workshop.scratch).run()
        sarc, fresh = writing.result(), outputs.folder
        stats = statistics(outputs, sarc, threads, census, drawn.sizes)
        write_json(fresh / "stats.json", stats)
        months = sorted(m for m, reason in census.cells if reason == "kept")
        write_text(fresh / "README.md", corpus_card(stats, [month_name(month) for month in months]))
        broken = _broken(outputs.connection, threads)
        return publish(
            self.workshop,
            fresh,
            outputs.hashes,
            {**encode(self.settings), "bz2": self.options.packed, "key": self._key(ingested)},
            self.settings.seed,
            _inputs(ingested.units),
            _counts(stats, census, ingested),
            _drops(census, ingested, broken, drawn.drops),
        )


def _inputs(units: Sequence[Unit]) -> dict[str, str]:
    """Hashes of the dumps by name; files of one name from several folders are told apart by a number."""
    inputs: dict[str, str] = {}
    for unit in sorted(units, key=lambda unit: (unit.name, unit.sha256)):
        name, number = unit.name, 2
        while name in inputs:
            name, number = f"{unit.name} ({number})", number + 1
        inputs[name] = unit.sha256
    return inputs


def _broken(connection: duckdb.DuckDBPyConnection, threads: Path) -> int:
    found = connection.execute(f"SELECT count(*) FROM {files_of(threads / 'broken')}").fetchall()
    return int(found[0][0])


def _counts(stats: dict[str, Any], census: Census, ingested: Ingested) -> dict[str, int]:
    """Totals, then what became of every month's comments."""
    counts = {
        "lines": sum(unit.count + unit.unreadable for unit in ingested.units if unit.kind == "comments"),
        "comments": stats["totals"]["comments"],
        "sarcastic": stats["totals"]["sarcastic"],
        "sequences": stats["sequences"]["count"],
    }
    by_month = {f"{month_name(month)}/{what}": n for (month, what), n in sorted(census.cells.items())}
    return {**counts, **by_month}


def _drops(census: Census, ingested: Ingested, broken: int, drawn: Counter[str]) -> dict[str, int]:
    drops = Counter(census.reasons())
    drops["unreadable"] = sum(unit.unreadable for unit in ingested.units if unit.kind == "comments")
    drops["unreadable_posts"] = sum(unit.unreadable for unit in ingested.units if unit.kind == "posts")
    drops["duplicate_posts"] = sum(ingested.posts.dropped.values())
    drops["broken_chain"] = broken
    drops.update(drawn)
    return dict(sorted((+drops).items()))
