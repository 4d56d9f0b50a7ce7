"""A build: ingest, label, threads, benchmark. Every step resumes from the checkpoints of earlier runs."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb

from deadpan.arguments import check_list, check_path
from deadpan.corpus.account import Account, compute_statistics, ingest_notes, skipped_note, warnings_of
from deadpan.corpus.benchmark import check_vectors, draw_benchmarks
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import Checkpoints, disk_full, key_hash
from deadpan.corpus.dumps import any_synthetic, find_dumps
from deadpan.corpus.duplicates import UniqueUnits, deduplicate
from deadpan.corpus.engines.duckdb import literal, open_duckdb, readable_error
from deadpan.corpus.engines.engine import (
    ENGINES,
    Engine,
    EngineSettings,
    Frame,
    count_rows,
    parquet_files,
    size_in_bytes,
)
from deadpan.corpus.label import author_parts, candidate_parts, census_step, read_census
from deadpan.corpus.release import (
    check_output,
    check_url,
    output_places,
    publish,
    remove_old_versions,
    upload_corpus,
    uploaded_tombstones,
)
from deadpan.corpus.rows import Unit, read_dumps, rows_of
from deadpan.corpus.rules import Forgotten
from deadpan.corpus.settings import BUILD_STEPS, BuildOptions, CorpusSettings, configure, month_name
from deadpan.corpus.threads import ThreadInputs, thread_step
from deadpan.corpus.write import Outputs, RawInputs, RawRows, entries_with_folders
from deadpan.errors import ConfigError
from deadpan.page import Summary
from deadpan.progress import Progress, silent
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.storage import Manifest, digest, manifest_path, read_manifest
from deadpan.validation import encode

# Memory below which a step may fail after hours, so that a build is refused at the start, by the size of its dumps.
LEAST_MEMORY, LEAST_FOR_SMALL, SMALL_DUMPS = "200MB", "90MB", 64 << 20

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


def build_until(
    step: str,
    dumps: Dumps,
    out: Path | str,
    settings: CorpusSettings | Path | str | None = None,
    *,
    progress: Progress = silent,
    **changes: Any,
) -> PartialBuild | BuiltCorpus:
    """Run a build up to one of its steps; the other arguments are those of `build_corpus`."""
    chosen, options = configure(settings, changes)
    build = Build(out, chosen, options, progress)
    if build.run(dumps, step):
        return BuiltCorpus(build.out, build.notes)
    return PartialBuild(build.out, step, tuple(build.notes))


@dataclass(frozen=True, slots=True)
class PartialBuild(Result):
    """A build that was run up to one of its steps."""

    folder: Path
    step: str
    notes: tuple[str, ...] = ()

    def summary(self) -> Summary:
        return Summary(notes=(f"{self.folder}: finished up to the step {self.step}.", *self.notes))

    def as_dict(self) -> dict[str, object]:
        return {"out": str(self.folder), "done": self.step, "notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class Ingested:
    """All dumps as rows without duplicates."""

    comments: UniqueUnits
    posts: UniqueUnits
    units: list[Unit]

    @property
    def key(self) -> list[str]:
        return sorted(unit.key for unit in (*self.comments.units, *self.posts.units))


@dataclass(frozen=True, slots=True)
class Labelled:
    """Folders of the aware authors and of the candidates by unit, and of the counts by month."""

    authors: list[Path]
    candidates: list[Path]
    census: Path


@dataclass(frozen=True, slots=True)
class Threaded:
    """Folders of the sequences, of the texts of what is kept, and of the comments of the sequences."""

    threads: Path
    raw: RawRows
    texts: Path
    entries: Path


class Build:
    """One build of an output folder: each step takes what the earlier ones returned."""

    def __init__(
        self,
        out: Path | str,
        settings: CorpusSettings,
        options: BuildOptions | None = None,
        progress: Progress = silent,
        forgotten: Forgotten | None = None,
        synthetic: bool | None = None,
        finish: Callable[[Path], None] | None = None,
    ) -> None:
        """By default, tombstones come from the output folder, and the dumps tell if they are synthetic.

        `finish` adds to the folder of the files before they are published.
        """
        self.settings = settings
        self.options = options or BuildOptions()
        check_path(out, "out")
        self.out, self.url = output_places(out, self.options.work)
        self.checkpoints = Checkpoints(self.out)
        self.progress = progress
        self.forgotten = forgotten or Forgotten()
        self.given_forgotten, self.synthetic, self.finish = forgotten, synthetic, finish
        self.notes: list[str] = []
        self.resources = ExitStack()
        ENGINES.check(self.options.engine)

    def run(self, dumps: Dumps, until: str = BUILD_STEPS[-1]) -> Manifest | None:
        """Run the steps up to `until`; return the manifest after the last one."""
        if until not in BUILD_STEPS:
            raise ConfigError(unknown("step", until, BUILD_STEPS))
        check_output(self.checkpoints, self.settings, self.options)
        if self.url:
            check_url(self.url)
        if until == BUILD_STEPS[-1]:
            check_vectors(self.settings.benchmark.vectors)
        with self.opened(dumps):
            manifest = self._run_steps(until)
            if manifest and self.url:
                upload_corpus(self.engine, self.out, manifest, self.url)
                self.notes.append(f"Copied to {self.url}")
        return manifest if until == BUILD_STEPS[-1] else None

    @contextmanager
    def opened(self, dumps: Dumps) -> Iterator[None]:
        """Find the dumps, lock the output folder, and open a connection for the steps."""
        patterns = [dumps] if isinstance(dumps, str | Path) else check_list(dumps, "dumps")
        self.dumps, skipped = find_dumps([str(pattern) for pattern in patterns])
        self.notes = skipped_note(skipped)
        least = LEAST_MEMORY if sum(dump.size for dump in self.dumps) > SMALL_DUMPS else LEAST_FOR_SMALL
        if size_in_bytes(self.options.memory) < size_in_bytes(least):
            raise ConfigError(f"--memory {self.options.memory} is too little for these dumps: give {least} or more")
        if self.given_forgotten is None:
            more = uploaded_tombstones(self.url)
            self.forgotten = Forgotten.read(self.options.forget, self.out, more)
        with self.checkpoints.lock(), _readable_errors(self.out), self.resources:
            remove_old_versions(self.out)  # a killed run may have left them
            self.connection = open_duckdb(self.options.memory, self.checkpoints.scratch)
            self.resources.callback(self.connection.close)
            yield

    def _run_steps(self, until: str) -> Manifest | None:
        steps = _StepProgress(until, self.progress)
        ingested = self.ingest(steps.start("ingest"))
        manifest = self._finished(ingested) or self._run_later_steps(ingested, until, steps)
        if manifest:
            self.notes += warnings_of(manifest.counts, self.settings, ingested.units)
        return manifest

    def _run_later_steps(self, ingested: Ingested, until: str, steps: _StepProgress) -> Manifest | None:
        if until == "ingest":
            return None
        labelled = self.label(ingested, steps.start("label"))
        if until == "label":
            return None
        threaded = self.threads(ingested, labelled, steps.start("threads"))
        if until == "threads":
            return None
        return self.benchmark(ingested, labelled, threaded, steps.start("benchmark"))

    # ------------------------------------------------------------ the steps, in order

    def ingest(self, moved: Progress) -> Ingested:
        """Read the dumps into rows, apply the text rules, and remove duplicates."""
        units = read_dumps(
            self.checkpoints, self.engine, self.dumps, self.settings.text, self.options, self.forgotten, moved
        )
        self.notes += ingest_notes(units, self.forgotten)
        ingested = Ingested(self._deduplicated(units, "comments"), self._deduplicated(units, "posts"), units)
        months = [month for unit in ingested.comments.units for month in unit.months]
        scope = self.settings.scope
        if not any(scope.first <= month <= scope.last for month in months):
            span = f"{month_name(min(months))} to {month_name(max(months))}"
            raise ConfigError(f"no comment is in the months asked for: the dumps have {span}")
        return ingested

    def _deduplicated(self, units: Sequence[Unit], kind: str) -> UniqueUnits:
        pairs = [(unit, dump) for unit, dump in zip(units, self.dumps, strict=True) if unit.kind == kind]
        chosen, dumps = [unit for unit, _ in pairs], [dump for _, dump in pairs]
        return deduplicate(self.checkpoints, self.engine, chosen, dumps)

    def label(self, ingested: Ingested, moved: Progress) -> Labelled:
        """Find the authors who know the marker and the candidates that remain, and count by month."""
        checkpoints, engine, scope = self.checkpoints, self.engine, self.settings.scope
        units = ingested.comments.units
        authors = author_parts(checkpoints, engine, units, moved)
        candidates = candidate_parts(checkpoints, engine, units, authors, scope, moved)
        rows = rows_of(engine, units)
        census = census_step(checkpoints, engine, rows, candidates, scope, self._key(ingested))
        return Labelled(authors, candidates, census)

    def threads(self, ingested: Ingested, labelled: Labelled, moved: Progress) -> Threaded:
        """Find the comments under sarcasm and the sequences, and collect the texts of what is kept."""
        units, candidates = ingested.comments.units, labelled.candidates
        inputs = ThreadInputs(units, candidates, labelled.authors, self.settings.scope)
        threads = thread_step(self.checkpoints, self.engine, inputs, moved)
        flagged = self.settings.scope.siblings == "all"
        of_texts = RawInputs(units, self.posts(ingested), candidates, threads, self._key(ingested), flagged)
        raw = RawRows(self.checkpoints, self.engine, of_texts)
        moved("texts", 70, 100)
        texts = raw.texts()
        moved("comments of the sequences", 90, 100)
        return Threaded(threads, raw, texts, raw.entries(texts))

    def posts(self, ingested: Ingested) -> Frame:
        """Return the submissions; an empty table if no dumps of them were given."""
        if ingested.posts.units:
            return rows_of(self.engine, ingested.posts.units)

        def make(folder: Path) -> None:
            target = literal(str(folder / "rows.parquet"))
            self.connection.execute(f"COPY ({_NO_POSTS}) TO {target} (FORMAT parquet)")

        return self.engine.scan([self.checkpoints.step("no_posts", [], make) / "rows.parquet"])

    def benchmark(self, ingested: Ingested, labelled: Labelled, threaded: Threaded, moved: Progress) -> Manifest:
        """Draw the benchmarks, write every file, and publish them."""
        engine, settings = self.engine, self.settings
        folder, scratch = self.checkpoints.fresh, self.checkpoints.scratch
        outputs = Outputs(engine, folder, scratch, self.options.packed)
        moved("raw rows", 5, 100)
        rows = outputs.write_raw(threaded.raw.rows(threaded.texts))
        moved("benchmarks", 40, 100)
        drawn = draw_benchmarks(engine, settings, threaded.raw.replies(threaded.entries), scratch)
        outputs.write_lines(engine.scan(parquet_files(drawn.lines)), drawn.files)
        moved("conversations", 60, 100)
        entries = entries_with_folders(engine, threaded.entries, drawn.ids, drawn.folders)
        outputs.write_comments(entries, drawn.folders, flagged=settings.scope.siblings == "all")
        moved("files", 75, 100)
        facts = outputs.finish()
        moved("statistics", 95, 100)
        duplicates = ingested.comments.dropped
        census = read_census(engine, labelled.census, threaded.threads, duplicates, settings.scope)
        account = Account(
            stats=compute_statistics(engine, rows, threaded.threads, census, drawn.sizes),
            census=census,
            units=ingested.units,
            duplicate_posts=ingested.posts.dropped.total(),
            broken_chains=count_rows(engine, threaded.threads / "broken"),
            benchmark_drops=drawn.drops,
            settings=settings,
            options=self.options,
            forgotten=self.forgotten,
            synthetic=any_synthetic(self.dumps) if self.synthetic is None else self.synthetic,
        )
        account.write_files(folder)
        config = {**account.config(), "key": self._finished_key(ingested)}
        return publish(self.checkpoints, folder, facts, self.finish, **account.manifest_fields(config))

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

    def _close_engine(self) -> None:
        self.engine.close()
        del self.engine  # so that another run of this build starts one again

    def _key(self, ingested: Ingested) -> dict[str, Any]:
        """Return the key of the steps that read all dumps."""
        return {"comments": ingested.key, "scope": encode(self.settings.scope)}

    def _finished_key(self, ingested: Ingested) -> str:
        return key_hash([ingested.key, encode(self.settings), self.options.packed])

    def _finished(self, ingested: Ingested) -> Manifest | None:
        """Return the manifest of a finished build of the same inputs and settings if its files are intact."""
        if not manifest_path(self.out).is_file():
            return None
        manifest = read_manifest(self.out)
        same = manifest.config.get("key") == self._finished_key(ingested) and all(
            (self.out / name).is_file() and digest(self.out / name) == facts["sha256"]
            for name, facts in manifest.files.items()
        )
        return manifest if same else None


# An empty table of submissions, for dumps of comments only.
_NO_POSTS = (
    "SELECT '' AS id, '' AS author, '' AS subreddit, 0::BIGINT AS score, 0::BIGINT AS ups,"
    " 0::BIGINT AS downs, 0::BIGINT AS created_utc, 0::INTEGER AS month,"
    " 0::BIGINT AS rank, '' AS text LIMIT 0"
)


_SHARES = dict(zip(BUILD_STEPS, (60, 8, 17, 15), strict=True))  # of the time of a build, roughly
_PER_MILLE = 1_000


class _StepProgress:
    """Progress of single steps as parts of the whole build."""

    def __init__(self, until: str, progress: Progress) -> None:
        self.progress = progress
        self.whole = sum(_SHARES[name] for name in BUILD_STEPS[: BUILD_STEPS.index(until) + 1])
        self.before = 0

    def start(self, name: str) -> Progress:
        """Return the function that reports how far one step is."""
        begin, share = self.before, _SHARES[name]
        self.before += share
        self.progress(name, _PER_MILLE * begin // self.whole, _PER_MILLE)

        def report(detail: str, done: int, total: int) -> None:
            part = share * min(done, total) / total if total else 0
            shown = name if detail == name else f"{name}: {detail}"
            self.progress(shown, int(_PER_MILLE * (begin + part) / self.whole), _PER_MILLE)

        return report


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
