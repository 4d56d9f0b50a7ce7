"""A corpus that grows: new months are added, the release is versioned, and withdrawals are accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from deadpan.arguments import check_list
from deadpan.corpus.build import Build, Dumps
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.dumps import file_names, known_dumps
from deadpan.corpus.engines.duckdb import literal, literals, open_duckdb
from deadpan.corpus.engines.engine import parquet_files
from deadpan.corpus.release import (
    RELEASES,
    WITHDRAWN,
    copy_version,
    files_hash,
    is_foreign,
    switch_version,
    write_release_card,
)
from deadpan.corpus.settings import configure, month_number
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine, format_index_line
from deadpan.page import Summary, Table
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.storage import read_json, write_json, write_manifest, write_text


@dataclass(frozen=True, slots=True)
class CorpusRelease(Result):
    """One version of a corpus: its date, a hash of its files, and the difference to the version before."""

    folder: Path
    version: int
    date: str
    hash: str
    comments: int
    added: int = 0
    withdrawn: Mapping[str, int] = field(default_factory=dict)
    benchmark: str = ""
    notes: tuple[str, ...] = ()

    def summary(self) -> Summary:
        rows = tuple(self.withdrawn.items()) or (("(none)", 0),)
        version = f"Version {self.version} of {self.date} ({self.hash})"
        said = f"{version}: {self.comments:,} comments, {self.added:,} added."
        more = (f"After-cutoff benchmark: {self.benchmark}",) if self.benchmark else ()
        return Summary((Table(("withdrawn because", "n"), rows),), (*self.notes, said, *more))

    def as_dict(self) -> dict[str, object]:
        return {
            "version": self.version, "date": self.date, "hash": self.hash, "comments": self.comments,
            "added": self.added, "withdrawn": dict(self.withdrawn), "benchmark": self.benchmark,
        }  # fmt: skip


def update_corpus(
    dumps: Dumps,
    corpus: BuiltCorpus | Path | str,
    *,
    after: str = "",
    today: date | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> CorpusRelease:
    """Add dumps to a finished corpus, and record what that changed as a new version.

    The corpus keeps its settings. The dumps of earlier versions must still be where they were read, or be
    named again. `after` (such as "2025-06") also writes a benchmark of conversations from that month on.
    """
    old = BuiltCorpus.of(corpus)
    out, releases = old.folder, _releases(old)
    if after:
        month_number(after)  # now, not after the build
        if is_foreign(out, f"after-{after}"):
            raise DataError(f"{out}/after-{after}: not written by deadpan, so not overwritten: move it away")
    patterns = [dumps] if isinstance(dumps, str | Path) else check_list(dumps, "dumps")
    given = [str(pattern) for pattern in patterns]
    every = [*_earlier_dumps(old, given), *given]
    changes.setdefault("packed", bool(old.manifest.config.get("bz2")))
    changes.setdefault("allow_truncated", "allow_truncated" in old.manifest.config)
    settings, options = configure(old.settings, changes)
    update = _Update(old, releases, after, today or datetime.now(UTC).date())
    build = Build(out, settings, options, progress, finish=update.finish)
    build.run(every)
    checkpoints = build.checkpoints
    if not update.release and after and releases[-1]["benchmark"] != f"after-{after}":
        with checkpoints.lock():  # the dumps are those of the last version, but the benchmark is new
            fresh = copy_version(checkpoints)
            update.finish(fresh)
            if not update.failure:
                write_release_card(fresh)
                switch_version(out, fresh)
    if update.failure:
        raise update.failure
    if update.release:
        return replace(update.release, notes=tuple(build.notes))
    return CorpusRelease(out, notes=(*build.notes, "Nothing changed."), **releases[-1])


def _earlier_dumps(corpus: BuiltCorpus, given: Sequence[str]) -> list[str]:
    if not (corpus.folder / ".work").is_dir():
        raise DataError(f"{corpus.folder}: its .work folder is missing: run corpus build with all dumps first")
    places, gone, unknown = known_dumps(corpus.folder / ".work", corpus.manifest.inputs)
    again = file_names(given)
    for name in (*gone, *unknown):
        if name.partition(" (")[0] not in again:
            raise DataError(
                f"{name}: not where the last build read it: name it too, since its comments stay in the corpus"
            )
    return places


def _releases(corpus: BuiltCorpus) -> list[dict[str, Any]]:
    """Return the versions so far; a corpus that was never updated is the first."""
    path = corpus.folder / RELEASES
    if path.is_file():
        return list(read_json(path))
    manifest = corpus.manifest
    return [CorpusRelease(corpus.folder, 1, "", files_hash(manifest), manifest.counts["comments"]).as_dict()]


class _Update:
    """Additions of an update to the files of a build before they are published."""

    def __init__(self, old: BuiltCorpus, releases: list[dict[str, Any]], after: str, today: date) -> None:
        self.old, self.releases, self.after, self.today = old, releases, after, today
        self.release: CorpusRelease | None = None
        self.failure: DataError | None = None

    def finish(self, fresh: Path) -> None:
        """Write the benchmarks after a month, the new version and the list of withdrawn comments into a folder."""
        corpus, benchmark = BuiltCorpus(fresh), ""
        try:
            benchmark = self._write_benchmarks(corpus)
        except DataError as bad:  # the dumps are added all the same, so the version is recorded
            self.failure = bad
        last, hash = self.releases[-1], files_hash(corpus.manifest)
        if hash == last["hash"] and benchmark in ("", last["benchmark"]):
            return  # the same files are no new version
        added, withdrawn = _difference(corpus, self.old)
        version = last["version"] + 1
        counted = dict(sorted(Counter(withdrawn.values()).items()))
        comments, out = corpus.manifest.counts["comments"], self.old.folder
        day = max(self.today.isoformat(), last["date"])  # a clock that was set back makes no older version
        self.release = CorpusRelease(out, version, day, hash, comments, added, counted, benchmark)
        lines = [f"{id},{reason}\n" for id, reason in sorted(withdrawn.items())]
        write_text(fresh / WITHDRAWN / f"{version:04}.csv", "".join(["id,reason\n", *lines]))
        write_json(fresh / RELEASES, [*self.releases, self.release.as_dict()])

    def _write_benchmarks(self, corpus: BuiltCorpus) -> str:
        """Write the benchmarks of earlier versions again, since texts may be withdrawn, and a new one."""
        names = {one["benchmark"] for one in self.releases if one["benchmark"]} - {f"after-{self.after}"}
        for name in sorted(names):
            with suppress(DataError):  # none of its conversations is left
                write_after(corpus, name.removeprefix("after-"))
        return write_after(corpus, self.after).name if self.after else ""


def _difference(corpus: BuiltCorpus, before: BuiltCorpus) -> tuple[int, dict[str, str]]:
    """Return the number of added comments, and the withdrawn ones with the reason they now have."""
    old, new = literal(str(before.parquet)), literal(str(corpus.parquet))
    work = before.folder / ".work"
    connection = open_duckdb("2GB", Checkpoints(before.folder).scratch)
    ((added,),) = connection.execute(
        f"SELECT count(*) FROM (SELECT id FROM {new} EXCEPT SELECT id FROM {old})"
    ).fetchall()
    connection.execute(f"CREATE TABLE lost AS SELECT id FROM {old} EXCEPT SELECT id FROM {new}")
    reasons = dict(connection.execute("SELECT id, 'not_in_dumps' FROM lost").fetchall())
    said = "CASE reason WHEN '' THEN 'author_unaware' ELSE reason END"
    under = [file for folder in work.glob("threads-*/under") for file in parquet_files(folder)]
    sources = [
        (sorted(work.glob("comments-*/rows-*.parquet")), said),
        (sorted(work.glob("copies_comments-*/*/best.parquet")), said),
        (under, "'under_sarcasm'"),
    ]
    for files, reason in sources:
        if files:
            query = f"SELECT id, {reason} FROM read_parquet({literals(files)}) WHERE id IN (FROM lost)"
            reasons.update(connection.execute(query).fetchall())
    return int(added), reasons


def write_after(corpus: BuiltCorpus | Path | str, month: str) -> Path:
    """Write the sequences of `main` whose post, ancestors and replies are all from `month` or later.

    Train and test of `main` both go into test-balanced.csv and test-unbalanced.csv of the folder after-MONTH:
    this benchmark is for testing only. A post that no dump has is not known to be new, so it is left out.
    """
    corpus = BuiltCorpus.of(corpus)
    month_number(month)
    out = corpus.folder / f"after-{month}"
    entries = dict(corpus.entries("main"))
    tally = Tally()
    chosen: dict[str, list[IndexLine]] = {}
    for balance in ("balanced", "unbalanced"):
        chosen[balance] = []
        for side in ("train", "test"):
            for line in corpus.index(f"main/{side}-{balance}.csv"):
                if all(str(entries[id]["date"] or "") >= month for id in line.ids):
                    chosen[balance].append(line)
                else:
                    tally.drop("older_text", line.last)
    if not chosen["unbalanced"]:
        raise DataError(f"{corpus.folder}: no whole conversation from {month} on: add the dumps of later months")
    for balance, lines in chosen.items():
        write_text(out / f"test-{balance}.csv", "".join(format_index_line(*line) for line in lines))
    used = {id for lines in chosen.values() for line in lines for id in line.ids}
    counts = {balance: len(lines) for balance, lines in chosen.items()}
    write_json(out / "comments.json", {id: entries[id] for id in sorted(used)})
    write_manifest(
        out, command="corpus update", config={"after": month}, inputs=[corpus.path("main/comments.json")],
        counts=counts, tally=tally,
    )  # fmt: skip
    return out
