"""A corpus that grows: new months are added, the release is versioned, and withdrawals are accounted for."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.arguments import check_list
from deadpan.corpus.build import Dumps, build_corpus
from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.checkpoints import PREVIOUS, Checkpoints
from deadpan.corpus.dumps import DIGESTS
from deadpan.corpus.engines.duckdb import literal, literals, open_duckdb
from deadpan.corpus.engines.engine import parquet_files
from deadpan.corpus.lines import as_place
from deadpan.corpus.release import RELEASES, files_hash
from deadpan.corpus.settings import NOT_SETTINGS, CorpusSettings, month_number
from deadpan.drops import Tally
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine, format_index_line
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.storage import read_json, write_json, write_manifest, write_text
from deadpan.validation import config_from

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


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
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

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
    out = old.folder
    config = {name: value for name, value in old.manifest.config.items() if name not in NOT_SETTINGS}
    if after:
        month_number(after)  # now, not after the build
    releases = _releases(old)
    patterns = [dumps] if isinstance(dumps, str | Path) else check_list(dumps, "dumps")
    given = [str(pattern) for pattern in patterns]
    every = [*_earlier_dumps(old, given), *given]
    previous = out / ".work" / PREVIOUS
    if not previous.exists():  # else an update was interrupted, and this is the version before it
        try:
            os.link(old.parquet, previous)
        except OSError:  # not every file system has links
            shutil.copyfile(old.parquet, previous)
    settings = config_from(config, CorpusSettings)
    changes.setdefault("packed", bool(old.manifest.config.get("bz2")))
    changes.setdefault("allow_truncated", "allow_truncated" in old.manifest.config)
    new = build_corpus(every, out, settings, progress=progress, **changes)
    benchmark, failure = "", None
    try:
        benchmark = _write_benchmarks(new, releases, after)
    except DataError as bad:  # the dumps are added all the same, so the version is recorded first
        failure = bad
    release = _record(new, previous, releases, today or datetime.now(UTC).date(), benchmark)
    previous.unlink()
    if failure:
        raise failure
    return release


def _earlier_dumps(corpus: BuiltCorpus, given: Sequence[str]) -> list[str]:
    known = corpus.folder / ".work" / DIGESTS
    if not known.is_file():
        raise DataError(f"{corpus.folder}: its .work folder is missing: run corpus build with all dumps first")
    marks: dict[str, Sequence[Any]] = read_json(known)
    used = set(corpus.manifest.inputs.values())
    places = [place for place, (*_, sha256) in marks.items() if sha256 in used]
    again = {as_place(name).name for name in given}
    lost = [place for place in places if not as_place(place).is_file() and as_place(place).name not in again]
    if lost:
        raise DataError(
            f"{lost[0]}: not where the last build read it: name it too, since its comments stay in the corpus"
        )
    return [place for place in places if as_place(place).is_file()]


def _releases(corpus: BuiltCorpus) -> list[dict[str, Any]]:
    path = corpus.folder / RELEASES
    if path.is_file():
        return list(read_json(path))
    manifest = corpus.manifest
    first = CorpusRelease(corpus.folder, 1, "", files_hash(manifest), manifest.counts["comments"])
    write_json(path, [first.as_dict()])  # now, since the update replaces the files of this version
    return [first.as_dict()]


def _write_benchmarks(corpus: BuiltCorpus, releases: Sequence[Mapping[str, Any]], after: str) -> str:
    """Write the benchmarks of earlier versions again, since texts may be withdrawn, and a new one."""
    for name in sorted({one["benchmark"] for one in releases if one["benchmark"]} - {f"after-{after}"}):
        with suppress(DataError):  # none of its conversations is left
            write_after(corpus, name.removeprefix("after-"))
    return write_after(corpus, after).name if after else ""


def _record(
    corpus: BuiltCorpus, previous: Path, releases: list[dict[str, Any]], today: date, benchmark: str
) -> CorpusRelease:
    """Write the new version and the list of withdrawn comments; the same files are no new version."""
    added, withdrawn = _difference(corpus, previous)
    last, hash = releases[-1], files_hash(corpus.manifest)
    if hash == last["hash"] and benchmark in ("", last["benchmark"]):
        return CorpusRelease(corpus.folder, notes=(*corpus.notes, "Nothing changed."), **last)
    version = last["version"] + 1
    release = CorpusRelease(
        corpus.folder, version, today.isoformat(), hash, corpus.manifest.counts["comments"], added,
        dict(sorted(Counter(withdrawn.values()).items())), benchmark, corpus.notes,
    )  # fmt: skip
    lines = [f"{id},{reason}\n" for id, reason in sorted(withdrawn.items())]
    write_text(corpus.folder / "withdrawn" / f"{version:04}.csv", "".join(["id,reason\n", *lines]))
    write_json(corpus.folder / RELEASES, [*releases, release.as_dict()])
    return release


def _difference(corpus: BuiltCorpus, previous: Path) -> tuple[int, dict[str, str]]:
    """Return the number of added comments, and the withdrawn ones with the reason they now have."""
    old, new = literal(str(previous)), literal(str(corpus.parquet))
    connection = open_duckdb("2GB", Checkpoints(corpus.folder).scratch)
    ((added,),) = connection.execute(
        f"SELECT count(*) FROM (SELECT id FROM {new} EXCEPT SELECT id FROM {old})"
    ).fetchall()
    connection.execute(f"CREATE TABLE lost AS SELECT id FROM {old} EXCEPT SELECT id FROM {new}")
    work = corpus.folder / ".work"
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
        out, command="corpus update", config={"after": month}, inputs=[corpus.folder / "manifest.json"],
        counts=counts, tally=tally,
    )  # fmt: skip
    return out
