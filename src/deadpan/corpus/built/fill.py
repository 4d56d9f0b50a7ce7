"""Ids to texts: an index of SARC, or any list of comment ids, and the dumps give the comments again.

Texts may not be published everywhere, but ids may. Hashes of the published texts prove that a copy is the same.
"""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deadpan.archives import open_bytes
from deadpan.arguments import check_path
from deadpan.corpus.benchmark import INDEXES
from deadpan.corpus.build import Build, Dumps, Ingested
from deadpan.corpus.built.publish import HASHES, text_hash
from deadpan.corpus.engines.duckdb import literal, read_folder
from deadpan.corpus.engines.engine import Frame, parquet_files
from deadpan.corpus.release import check_names, switch_version
from deadpan.corpus.rows import rows_of
from deadpan.corpus.rules import SOUND_ID, WITHDRAWN_REASONS
from deadpan.corpus.settings import CorpusSettings, configure, month_name
from deadpan.corpus.write import ENTRY_COLUMNS, Outputs, entries_with_folders
from deadpan.errors import DataError
from deadpan.formats.sarc import read_comments, read_index
from deadpan.page import Summary, Table
from deadpan.progress import Progress, silent
from deadpan.results import Result
from deadpan.storage import OutputPage, write_manifest, write_text

COMMENTS, THREADS, NOT_FILLED = "comments.json", "threads.csv", "not-filled.csv"


@dataclass(frozen=True, slots=True)
class FilledIndex(Result):
    """A filled index: the number of ids, and of those with the published text, or without a text, by reason."""

    folder: Path
    ids: int
    filled: int
    verified: int | None
    reasons: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def summary(self) -> Summary:
        rows = (("filled", self.filled), *self.reasons.items())
        said = f"{self.folder}: {self.filled:,} of {self.ids:,} ids have a text; {NOT_FILLED} lists the others."
        proof = "No hashes, so nothing proves that the texts are the published ones."
        if self.verified is not None:
            proof = f"{self.verified:,} texts are the published ones, by their hashes."
            if self.verified == self.ids:
                proof = "Every text is the published one, by its hash."
        return Summary((Table(("ids", "n"), rows),), (*self.notes, said, proof))

    def as_dict(self) -> dict[str, object]:
        return {
            "out": str(self.folder), "ids": self.ids, "filled": self.filled, "verified": self.verified,
            "reasons": dict(self.reasons),
        }  # fmt: skip


@dataclass(slots=True)
class WantedIds:
    """The ids of index files, or of a list, whose ids may be of comments or posts."""

    comments: set[str] = field(default_factory=set)
    posts: set[str] = field(default_factory=set)
    folders: dict[str, set[str]] = field(default_factory=dict)
    first_replies: dict[str, set[str]] = field(default_factory=dict)
    """First replies by post: a post that no dump has gets their subreddit, as in a build."""

    @property
    def every(self) -> set[str]:
        return self.comments | self.posts


def fill_index(
    index: Path | str,
    dumps: Dumps,
    out: Path | str,
    settings: CorpusSettings | Path | str | None = None,
    *,
    hashes: Path | str | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> FilledIndex:
    """Write comments.json for the ids of an index from dumps, by the rules of a build.

    `index` is an index file of SARC, a folder of them (as `corpus publish` writes it), or a text file with one id per
    line, with or without t1_ and t3_. `hashes` is the file of hashes of the published texts; by default, hashes.csv in
    the folder of the index or above it.
    """
    path = check_path(index, "index")
    files = _index_files(path)
    names = [file.relative_to(path).as_posix() if path.is_dir() else file.name for file in files]
    wanted = _wanted(files, names)
    if not wanted.every:
        raise DataError(f"{path}: no ids in it: give an index file of SARC, or one id per line")
    known = _read_hashes(path, hashes)
    chosen, options = configure(settings, changes)
    build = Build(out, chosen, options, progress)
    planned = {COMMENTS, THREADS, NOT_FILLED, *(Path(one).parts[0] for one in names)}
    check_names(build.checkpoints, planned, "corpus fill")
    with build.opened(dumps):
        ingested = build.ingest(progress)
        result = _fill(build, ingested, wanted, known)
        fresh = build.checkpoints.fresh
        for file, name in zip(files, names, strict=True):
            (fresh / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, fresh / name)
        about = OutputPage("A filled index", f"{result.filled:,} of {result.ids:,} ids have a text.", (), file="")
        counts = {"ids": result.ids, "filled": result.filled, **result.reasons}
        write_manifest(fresh, command="corpus fill", inputs=files, counts=counts, about=about)
        switch_version(build.out, fresh)
    shutil.rmtree(build.checkpoints.root)  # it has the texts of all dumps
    return result


def _index_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(one for one in path.glob("**/*.csv*") if one.name.partition(".")[0] in (*INDEXES, "sequences"))
    if not files:
        raise DataError(f"{path}: no index, such as train-balanced.csv: give an index file, or a list of ids")
    return files


def _wanted(files: Sequence[Path], names: Sequence[str]) -> WantedIds:
    """Return the ids of index files, or of a text file with one id per line."""
    wanted = WantedIds()
    for file, name in zip(files, names, strict=True):
        folder = wanted.folders.setdefault(name.rpartition("/")[0], set())
        with open_bytes(file) as opened:
            first = opened.readline()
            if not first:
                continue  # a benchmark may have no test sequences
            if b"|" not in first:
                _add_list(wanted, chain([first], opened), file)
                folder |= wanted.every
                continue
        for line in read_index(file):
            post, *above = line.ancestors
            wanted.posts.add(post)
            wanted.comments.update(above, line.responses)
            wanted.first_replies.setdefault(post, set()).add(line.responses[0])
            folder.update(line.ids)
    return wanted


def _add_list(wanted: WantedIds, lines: Iterable[bytes], file: Path) -> None:
    for number, line in enumerate(lines, 1):
        word = line.decode("utf-8", "replace").partition(",")[0].strip().strip('"')
        bare = word.removeprefix("t1_").removeprefix("t3_")
        if not word or (number == 1 and word == "id"):
            continue
        if not re.match(SOUND_ID, bare):
            raise DataError(f"{file}:{number}: {word[:40]!r} is not an id: give an index of SARC, or one id per line")
        if not word.startswith("t3_"):
            wanted.comments.add(bare)
        if not word.startswith("t1_"):
            wanted.posts.add(bare)


def _read_hashes(index: Path, given: Path | str | None) -> dict[str, str]:
    folder = index if index.is_dir() else index.parent
    found = [path for path in (folder / HASHES, folder.parent / HASHES) if path.is_file()]
    path = Path(given) if given else found[0] if found else None
    if path is None:
        return {}
    if not path.is_file():
        raise DataError(f"{path}: no such file: give the hashes.csv that was published with the index")
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        if next(rows, []) != ["id", "sha256"]:
            raise DataError(f"{path}: not a file of hashes: its first line must be id,sha256")
        return {id: sha256 for id, sha256, *_ in rows}


# ---------------------------------------------------------------- from rows to files


def _fill(build: Build, ingested: Ingested, wanted: WantedIds, known: Mapping[str, str]) -> FilledIndex:
    """Write comments.json, threads.csv and the list of what could not be filled into the fresh folder."""
    engine, scratch, fresh = build.engine, build.checkpoints.scratch, build.checkpoints.fresh
    said, gone = _save_comments(build, ingested, wanted)
    posted = _save_posts(build, ingested, wanted, said)
    missing = wanted.every - {*said, *posted}
    if not said and not posted:
        months = [month for unit in ingested.units for month in unit.months]
        span = f"{month_name(min(months))} to {month_name(max(months))}"
        shutil.rmtree(build.checkpoints.root)  # nothing to resume, and it has the texts of all dumps
        raise DataError(f"none of the {len(missing):,} ids is in these dumps ({span}): give the dumps of their months")
    folders = [name for name in wanted.folders if name]
    pairs = [(folder, id) for folder in folders for id in sorted(wanted.folders[folder])]
    _write_table(scratch / "ids" / "ids.parquet", {"folder": [f for f, _ in pairs], "id": [id for _, id in pairs]})
    outputs = Outputs(engine, fresh, scratch, build.options.packed)
    outputs.write_comments(entries_with_folders(engine, scratch / "entries", scratch / "ids", folders), folders)
    outputs.finish()
    written = next((fresh / "raw").glob(f"{COMMENTS}*"))
    gone |= {id for id, text in posted.items() if text.lower() in build.settings.text.deleted}
    reasons = dict.fromkeys(missing, "missing") | dict.fromkeys(gone, "deleted")
    verified = 0
    for id, entry in read_comments(written) if known else ():
        if known.get(id) == text_hash(id, entry):
            verified += 1
        elif id not in reasons:
            reasons[id] = "changed" if id in known else "no_hash"
    if not folders:
        written.replace(fresh / written.name)
    if "raw" not in folders:
        shutil.rmtree(fresh / "raw")
    lines = [f"{id},{reason}\n" for id, reason in sorted(reasons.items())]
    write_text(fresh / NOT_FILLED, "".join(["id,reason\n", *lines]))
    rows = f"SELECT id, coalesce(up, top, '') AS parent_id, link AS link_id FROM {read_folder(scratch / 'threads')}"
    build.connection.execute(f"COPY ({rows} ORDER BY id) TO {literal(str(fresh / THREADS))} (FORMAT csv, HEADER)")
    counted = dict(sorted(Counter(reasons.values()).items()))
    filled = len(wanted.every) - counted.get("missing", 0) - counted.get("deleted", 0)
    checked = verified if known else None
    return FilledIndex(build.out, len(wanted.every), filled, checked, counted, tuple(build.notes))


def _save_comments(build: Build, ingested: Ingested, wanted: WantedIds) -> tuple[set[str], set[str]]:
    """Save the wanted comments; return the ids that the dumps have, and of those the ones whose text is gone."""
    engine, scratch = build.engine, build.checkpoints.scratch
    ids = _ids(build, "comments", wanted.comments)
    columns = (*ENTRY_COLUMNS, "up", "top", "link", "reason")
    rows = rows_of(engine, ingested.comments.units, lambda rows: rows.select(*columns).join(ids, on="id", how="semi"))
    engine.save(rows, scratch / "threads")
    found = engine.scan(parquet_files(scratch / "threads"))
    engine.save(found.select(*ENTRY_COLUMNS), scratch / "entries" / "said")
    table = engine.collect(found.select("id", "reason"))
    pairs = list(zip(table["id"].to_pylist(), table["reason"].to_pylist(), strict=True))
    return {id for id, _ in pairs}, {id for id, reason in pairs if reason in (*WITHDRAWN_REASONS, "forgotten")}


def _save_posts(build: Build, ingested: Ingested, wanted: WantedIds, said: set[str]) -> dict[str, str]:
    """Save the wanted posts; return their texts. A post that no dump has keeps its id, as in a build."""
    engine, folder = build.engine, build.checkpoints.scratch / "entries" / "posted"
    ids = _ids(build, "posts", wanted.posts - said)
    engine.save(build.posts(ingested).select(*ENTRY_COLUMNS).join(ids, on="id", how="semi"), folder)
    table = engine.collect(engine.scan(parquet_files(folder)).select("id", "text"))
    texts = dict(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
    absent = sorted((wanted.posts & wanted.first_replies.keys()) - said - texts.keys())
    if absent:
        replies = {id for post in absent for id in wanted.first_replies[post]} & said
        homes = engine.scan(parquet_files(folder.parent / "said")).select("id", "subreddit")
        where = engine.collect(homes.join(_ids(build, "replies", replies), on="id", how="semi"))
        home = dict(zip(where["id"].to_pylist(), where["subreddit"].to_pylist(), strict=True))
        at = [min((home[id] for id in wanted.first_replies[post] if id in home), default="") for post in absent]
        empty: dict[str, list[Any]] = {name: [""] * len(absent) for name in ("text", "author")}
        empty |= {name: [None] * len(absent) for name in ("score", "ups", "downs")}
        empty |= {name: [0] * len(absent) for name in ("month", "created_utc")}
        _write_table(folder / "absent.parquet", {"id": absent, **empty, "subreddit": at})
    return texts


def _ids(build: Build, name: str, ids: Iterable[str]) -> Frame:
    path = build.checkpoints.scratch / f"{name}.parquet"
    _write_table(path, {"id": sorted(ids)})
    return build.engine.scan([path])


_TYPES = {"month": pa.int32(), **dict.fromkeys(("score", "ups", "downs", "created_utc"), pa.int64())}


def _write_table(path: Path, columns: Mapping[str, list[Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([(name, _TYPES.get(name, pa.string())) for name in columns])
    pq.write_table(pa.table(list(columns.values()), schema=schema), path)
