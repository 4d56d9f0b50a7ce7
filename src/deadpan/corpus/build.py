"""A build: ingest, label, threads, benchmark. Every step resumes from the checkpoints of earlier runs."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from deadpan.arguments import check_list, check_path
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import Checkpoints, disk_full, fingerprint
from deadpan.corpus.engines.duckdb import connect, readable_error
from deadpan.corpus.engines.engine import ENGINES, Engine, EngineSettings, Frame
from deadpan.corpus.ingest.dumps import any_synthetic, find_dumps
from deadpan.corpus.ingest.duplicates import UniqueUnits, deduplicate
from deadpan.corpus.ingest.forget import Forgotten
from deadpan.corpus.ingest.ingest import Ingest
from deadpan.corpus.ingest.units import Unit
from deadpan.corpus.months import month_name
from deadpan.corpus.publish.accounts import Account, ingest_notes, skipped_note
from deadpan.corpus.publish.foreign import check_output
from deadpan.corpus.publish.indexes import draw_benchmarks
from deadpan.corpus.publish.outputs import Outputs, entries_with_folders
from deadpan.corpus.publish.release import publish
from deadpan.corpus.publish.similarity import check_vectors
from deadpan.corpus.publish.statistics import compute_statistics
from deadpan.corpus.publish.upload import check_url, output_places, upload_corpus, uploaded_tombstones
from deadpan.corpus.relate.awareness import author_parts, candidate_parts
from deadpan.corpus.relate.census import census_step, read_census
from deadpan.corpus.relate.raw import RawInputs, RawRows
from deadpan.corpus.relate.rows import rows_of
from deadpan.corpus.relate.threads import ThreadInputs, thread_step
from deadpan.corpus.settings import BuildOptions, CorpusSettings, configure
from deadpan.corpus.sql import literal, parquet_files, read_folder
from deadpan.corpus.steps import LAST_STEP, BuildSteps, PartialBuild
from deadpan.errors import ConfigError
from deadpan.progress import Progress, silent
from deadpan.storage import Manifest, digest, manifest_path, read_manifest
from deadpan.validation import encode

NO_POSTS = (
    "SELECT '' AS id, '' AS author, '' AS subreddit, 0::BIGINT AS score, 0::BIGINT AS ups,"
    " 0::BIGINT AS downs, 0::BIGINT AS created_utc, 0::INTEGER AS month,"
    " 0::BIGINT AS rank, '' AS text LIMIT 0"
)

Dumps = str | Path | Sequence[str | Path]


def build_corpus(
    dumps: Dumps,
    out: Path | str,
    settings: CorpusSettings | Path | str | None = None,
    *,
    progress: Progress = silent,
    **changes: Any,
) -> BuiltCorpus:
    """Build a SARC corpus from Reddit dumps: files, folders of them, globs or URLs.

    If `out` is a URL, the corpus is built in the folder `work` (an option) and copied to the URL.

    `settings` is a `CorpusSettings` or the path of a corpus.toml. `changes` are single settings or options,
    such as first_month="2016-01", seed=1, memory="8GB" or engine="spark". A build that was interrupted
    resumes where it stopped.
    """
    chosen, options = configure(settings, changes)
    build = Build(out, chosen, options, progress)
    build.run(dumps)
    return BuiltCorpus(build.out, build.notes)


def run_step(
    step: str,
    dumps: Dumps,
    out: Path | str,
    settings: CorpusSettings | Path | str | None = None,
    *,
    progress: Progress = silent,
    **changes: Any,
) -> PartialBuild | BuiltCorpus:
    """Run a build up to one of its steps; the arguments are those of `build_corpus`."""
    chosen, options = configure(settings, changes)
    build = Build(out, chosen, options, progress)
    finished = build.run(dumps, step)
    if finished:
        return BuiltCorpus(build.out, build.notes)
    return PartialBuild(build.out, step, tuple(build.notes))


@dataclass(frozen=True, slots=True)
class Ingested:
    """All dumps as rows without duplicates."""

    comments: UniqueUnits
    posts: UniqueUnits
    units: list[Unit]

    @property
    def key(self) -> list[str]:
        return sorted(unit.key for unit in (*self.comments.units, *self.posts.units))


class Build:
    """One build of an output folder. Each step is a method that stores its result for the next ones."""

    ingested: Ingested
    labelled: ThreadInputs
    census_folder: Path
    thread_folder: Path
    raw: RawRows
    texts: Path
    entries: Path
    manifest: Manifest | None

    def __init__(
        self,
        out: Path | str,
        settings: CorpusSettings,
        options: BuildOptions | None = None,
        progress: Progress = silent,
    ) -> None:
        self.settings = settings
        self.options = options or BuildOptions()
        check_path(out, "out")
        self.out, self.url = output_places(out, self.options.work)
        self.checkpoints = Checkpoints(self.out)
        self.progress = progress
        self.notes: list[str] = []
        self.resources = ExitStack()
        ENGINES.check(self.options.engine)

    def run(self, dumps: Dumps, until: str = LAST_STEP) -> Manifest | None:
        """Run the steps up to `until`; return the manifest after the last one."""
        steps = BuildSteps(until, self.progress)
        self.manifest = None
        out = self.checkpoints.out
        check_output(self.checkpoints, self.settings, self.options)
        if self.url:
            check_url(self.url)
        patterns = [dumps] if isinstance(dumps, str | Path) else check_list(dumps, "dumps")
        self.dumps, skipped = find_dumps([str(pattern) for pattern in patterns])
        self.notes = skipped_note(skipped)
        self.forgotten = Forgotten.read(self.options.forget, out, uploaded_tombstones(self.url))
        if until == LAST_STEP:
            check_vectors(self.settings.benchmark.vectors)
        with self.checkpoints.lock(), _readable_errors(out), self.resources:
            self.connection = connect(self.options.memory, self.checkpoints.scratch)
            self.resources.callback(self.connection.close)
            for step in steps.names:
                if self.manifest is None:  # else `ingest` found that the whole build is finished
                    self.moved = steps.start(step)
                    getattr(self, step)()
            self._upload()
        return self.manifest if until == LAST_STEP else None

    # ------------------------------------------------------------ steps, in the order of STEPS

    def ingest(self) -> None:
        """Read the dumps into rows, apply the text rules, and remove duplicates."""
        rules, options = self.settings.text, self.options
        reader = Ingest(self.checkpoints, self.engine, rules, options, self.forgotten)
        units = reader.run(self.dumps, self.moved)
        self.notes += ingest_notes(units, self.forgotten)
        self.ingested = Ingested(
            self._deduplicated(units, "comments"), self._deduplicated(units, "posts"), units
        )
        self._check_months()
        self.manifest = self._finished()

    def label(self) -> None:
        """Find the authors who know the marker and the candidates that remain, and count by month."""
        units, scope = self.ingested.comments.units, self.settings.scope
        authors = author_parts(self.checkpoints, self.engine, units, self.moved)
        candidates = candidate_parts(self.checkpoints, self.engine, units, authors, scope, self.moved)
        self.labelled = ThreadInputs(units, candidates, authors, scope)
        self.census_folder = census_step(
            self.checkpoints, self.engine, rows_of(self.engine, units), candidates, scope, self._key
        )

    def threads(self) -> None:
        """Find the comments under sarcasm and the sequences, and collect the texts of what is kept."""
        self.thread_folder = thread_step(self.checkpoints, self.engine, self.labelled, self.moved)
        inputs = RawInputs(
            self.labelled.units, self._posts(), self.labelled.candidates, self.thread_folder, self._key
        )
        self.raw = RawRows(self.checkpoints, self.engine, inputs)
        self.moved("texts", 70, 100)
        self.texts = self.raw.texts()
        self.moved("comments of the sequences", 90, 100)
        self.entries = self.raw.entries(self.texts)

    def benchmark(self) -> None:
        """Draw the benchmarks, write every file, and publish them."""
        folder, scratch = self.checkpoints.fresh, self.checkpoints.scratch
        outputs = Outputs(self.engine, folder, scratch, self.options.packed)
        self.moved("raw rows", 5, 100)
        rows = outputs.write_raw(self.raw.rows(self.texts))
        self.moved("benchmarks", 40, 100)
        replies = self.raw.replies(self.entries)
        drawn = draw_benchmarks(self.engine, self.settings, replies, scratch)
        outputs.write_lines(self.engine.scan(parquet_files(drawn.lines)), drawn.files)
        self.moved("conversations", 60, 100)
        entries = entries_with_folders(self.engine, self.entries, drawn.ids, drawn.folders)
        outputs.write_comments(entries, drawn.folders)
        self.moved("files", 75, 100)
        facts = outputs.finish()
        self.moved("statistics", 95, 100)
        duplicates, scope = self.ingested.comments.dropped, self.settings.scope
        census = read_census(self.engine, self.census_folder, self.thread_folder, duplicates, scope)
        stats = compute_statistics(self.engine, rows, self.thread_folder, census, drawn.sizes)
        units, duplicate_posts = self.ingested.units, self.ingested.posts.dropped.total()
        account = Account(
            stats, census, units, duplicate_posts, self._broken_chains(), drawn.drops,
            self.settings, self.options, self.forgotten, any_synthetic(self.dumps),
        )  # fmt: skip
        account.write_files(folder)
        self.notes += account.notes()
        config = {**account.config(), "key": self._finished_key()}
        self.manifest = publish(self.checkpoints, folder, facts, **account.manifest_fields(config))

    # ------------------------------------------------------------ what the steps use

    @cached_property
    def engine(self) -> Engine:
        """Engine of the relational steps, started when the first of them runs."""
        scratch, master = self.checkpoints.scratch, self.options.spark_master
        size = sum(dump.size for dump in self.dumps)
        settings = EngineSettings(self.connection, self.options.memory, scratch, master, size)
        engine: Engine = ENGINES.load(self.options.engine)(settings)
        self.resources.callback(self._close_engine)
        return engine

    def _upload(self) -> None:
        """Copy a finished corpus to the URL that was asked for."""
        if self.manifest and self.url:
            upload_corpus(self.engine, self.out, self.manifest, self.url)
            self.notes.append(f"Copied to {self.url}")

    def _close_engine(self) -> None:
        self.engine.close()
        del self.engine

    @property
    def _key(self) -> dict[str, Any]:
        """Key of the steps that read all dumps."""
        return {"comments": self.ingested.key, "scope": encode(self.settings.scope)}

    def _deduplicated(self, units: Sequence[Unit], kind: str) -> UniqueUnits:
        pairs = [(unit, dump) for unit, dump in zip(units, self.dumps, strict=True) if unit.kind == kind]
        chosen, dumps = [unit for unit, _ in pairs], [dump for _, dump in pairs]
        return deduplicate(self.checkpoints, self.engine, chosen, dumps)

    def _check_months(self) -> None:
        months = [month for unit in self.ingested.comments.units for month in unit.months]
        scope = self.settings.scope
        if not any(scope.first <= month <= scope.last for month in months):
            span = f"{month_name(min(months))} to {month_name(max(months))}"
            raise ConfigError(f"no comment is in the months asked for: the dumps have {span}")

    def _posts(self) -> Frame:
        """Return the submissions; an empty table if no dumps of them were given."""
        units = self.ingested.posts.units
        if units:
            return rows_of(self.engine, units)

        def make(folder: Path) -> None:
            target = literal(str(folder / "rows.parquet"))
            self.connection.execute(f"COPY ({NO_POSTS}) TO {target} (FORMAT parquet)")

        return self.engine.scan([self.checkpoints.step("no_posts", [], make) / "rows.parquet"])

    def _broken_chains(self) -> int:
        query = f"SELECT count(*) FROM {read_folder(self.thread_folder / 'broken')}"
        return int(self.connection.execute(query).fetchall()[0][0])

    def _finished_key(self) -> str:
        return fingerprint([self.ingested.key, encode(self.settings), self.options.packed])

    def _finished(self) -> Manifest | None:
        """Return the manifest of a finished build of the same inputs and settings if its files are intact."""
        out = self.checkpoints.out
        if not manifest_path(out).is_file():
            return None
        manifest = read_manifest(out)
        same = manifest.config.get("key") == self._finished_key() and all(
            (out / name).is_file() and digest(out / name) == facts["sha256"]
            for name, facts in manifest.files.items()
        )
        return manifest if same else None


@contextmanager
def _readable_errors(out: Path) -> Iterator[None]:
    """Turn errors of DuckDB and the disk into ones that say what to do."""
    try:
        yield
    except (duckdb.Error, RuntimeError, ImportError, SystemError) as bad:
        raise readable_error(bad, out) from None
    except OSError as bad:
        # shutil.rmtree closes a folder twice if Ctrl-C comes while it closes it.
        if isinstance(bad.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        if bad.errno in (errno.ENOSPC, errno.EDQUOT):
            raise disk_full(out) from None
        raise
