"""Trees across months: what is under sarcasm, and the sequences that lead to it.

Only threads with a marked comment matter, and work on one stays within it, so they are dealt into batches of
bounded size. `parent_id` alone decides: threads that dumps wrongly keep apart
(a reply whose link_id is not its parent's) are found and joined first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from deadpan.corpus import batches
from deadpan.corpus.awareness import author_state, in_scope
from deadpan.corpus.engine import Engine, Frame, parquet_files
from deadpan.corpus.ingest import Unit
from deadpan.corpus.rows import Choose, rows_of
from deadpan.corpus.settings import Scope
from deadpan.corpus.workshop import Workshop
from deadpan.storage import read_json, write_json

BATCH_ROWS = 1_000_000
MOST_BATCHES = 512
INFO = "info.json"
KEPT = ("under", "sequences", "members", "broken")


@dataclass(frozen=True, slots=True)
class ThreadWork:
    """What the step reads: the units with their candidates, who is aware, and the rules."""

    units: Sequence[Unit]
    candidates: Sequence[Path]
    authors: Sequence[Path]
    scope: Scope

    @property
    def key(self) -> dict[str, Any]:
        names = {unit.key: part.name for unit, part in zip(self.units, self.candidates, strict=True)}
        return {"units": names, "drop_under": self.scope.drop_under_sarcasm}


def thread_step(
    workshop: Workshop, engine: Engine, work: ThreadWork, when_dealt: Callable[[], object] = lambda: None
) -> Path:
    """A folder with what is under sarcasm, the sequences, their members, and the broken chains.

    `when_dealt` is called when the engine has little to do for a while, maybe never, maybe more than once.
    """
    base = _reusable(workshop, work)
    return workshop.step(
        "threads", work.key, lambda folder: _Threads(engine, work, folder, when_dealt).run(base)
    )


def _reusable(workshop: Workshop, work: ThreadWork) -> tuple[Path, Mapping[str, str]] | None:
    """An earlier result all of whose units are still here, unchanged: only threads in new units differ."""
    key = work.key
    fitting = [
        (folder, old["units"])
        for folder, old in workshop.earlier("threads")
        if old["drop_under"] == key["drop_under"]
        and old["units"].items() <= key["units"].items()
        and not read_json(folder / INFO)["joined"]
    ]
    return max(fitting, key=lambda found: len(found[1]), default=None)


class _Threads:
    def __init__(
        self, engine: Engine, work: ThreadWork, folder: Path, when_dealt: Callable[[], object]
    ) -> None:
        self.engine = engine
        self.work = work
        self.folder = folder
        self.when_dealt = when_dealt

    def run(self, base: tuple[Path, Mapping[str, str]] | None) -> None:
        """New threads only, if they turn out to have nothing to do with the old; else all of them."""
        if base and self._attempt(base):
            joined = False
        else:
            base, joined = None, not self._attempt(None)
            if joined:
                self._attempt(None, self._homes())
        reused = sorted(base[1]) if base else []
        write_json(self.folder / INFO, {"joined": joined, "reused": reused})

    def _attempt(self, base: tuple[Path, Mapping[str, str]] | None, homes: Frame | None = None) -> bool:
        """Fill the folder; False if a thread turned out to be cut apart, and the result worthless."""
        for name in batches.SCHEMAS:
            _clear(self.folder / name)
        changed = self._changed(base)
        hot = self._comments(homes, lambda rows: rows.filter(nw.col("marked")).select("id", "thread"))
        if changed is not None:
            hot = hot.join(changed, on="thread", how="semi")
        hot = self._saved(hot.select("thread"), "hot")
        self._deal(self._comments(homes, lambda rows: rows.join(hot, on="thread", how="semi")))
        if homes is None and self._cut_apart():
            return False
        if base and changed is not None:
            for name in KEPT:
                old = self.engine.scan(parquet_files(base[0] / name)).join(changed, on="thread", how="anti")
                self.engine.save(old, self.folder / name / "reused")
        for name in ("missing", "reach", "rows", "changed", "hot"):
            _clear(self.folder / name)
        return True

    def _comments(self, homes: Frame | None, choose: Choose) -> Frame:
        """Some of the comments, their threads joined where it is known which belong together."""
        return rows_of(
            self.engine,
            self.work.units,
            lambda rows: choose(rows if homes is None else _at_home(rows, homes)),
        )

    def _changed(self, base: tuple[Path, Mapping[str, str]] | None) -> Frame | None:
        """The threads the new units have a comment in."""
        if base is None:
            return None
        new = [unit for unit in self.work.units if unit.key not in base[1]]
        if not new:
            return None
        return self._saved(rows_of(self.engine, new).select("thread").unique(), "changed")

    def _saved(self, frame: Frame, name: str) -> Frame:
        """Computed once, for what reads it more than once."""
        folder = self.folder / name
        _clear(folder)
        self.engine.save(frame, folder)
        return self.engine.scan(parquet_files(folder))

    def _deal(self, rows: Frame) -> None:
        """Into batches, and each batch worked on."""
        total = sum(unit.count for unit in self.work.units)
        count = min(MOST_BATCHES, -(-total // BATCH_ROWS))
        chosen = self._with_candidates(rows).select(*batches.TREE_COLUMNS)
        folder = self.folder / "rows"
        _clear(folder)
        self.engine.save(self.engine.dealt(chosen, "thread", count), folder, by="pile")
        dealt = sorted(path for path in folder.glob("pile=*") if path.is_dir())
        jobs = [
            batches.job(path, self.folder, number, self.work.scope.drop_under_sarcasm)
            for number, path in enumerate(dealt)
        ]
        self.when_dealt()
        self.engine.each(batches.work, jobs)
        if not jobs:
            batches.write_empty(self.folder)
        _clear(folder)

    def _with_candidates(self, rows: Frame) -> Frame:
        """Rows with a flag: nothing but `under_sarcasm` speaks against it."""
        fits = (nw.col("reason") == "") & in_scope(self.work.scope)
        if self.work.scope.aware_authors:
            rows = rows.join(author_state(self.engine, self.work.authors), on="author", how="left")
            fits = fits & (nw.col("since") <= nw.col("month"))
        return rows.with_columns(candidate=nw.when(fits).then(nw.lit(True)).otherwise(nw.lit(False)))

    def _cut_apart(self) -> bool:
        """Whether a parent or a child that matters is in another thread than it should be."""
        missing = self.engine.scan(parquet_files(self.folder / "missing"))
        reach = self.engine.scan(parquet_files(self.folder / "reach")).select(up="id", home="thread")

        def parents(rows: Frame) -> Frame:
            return rows.select("id").join(missing, on="id", how="semi")

        def children(rows: Frame) -> Frame:
            found = rows.select("id", "up", "thread").join(reach, on="up", how="inner")
            return found.filter(nw.col("thread") != nw.col("home"))

        strays = (rows_of(self.engine, self.work.units, choose).head(1) for choose in (parents, children))
        return any(len(self.engine.table(frame)) for frame in strays)

    def _homes(self) -> Frame:
        """(thread, the thread it belongs to): all that hang together by parent ids are one."""
        comments = rows_of(self.engine, self.work.units)
        parents = comments.select(up="id", home="thread")
        edges = comments.select("up", "thread").join(parents, on="up", how="inner")
        edges = edges.filter(nw.col("thread") != nw.col("home")).select("thread", "home").unique()
        table = self.engine.table(edges)
        homes = _components(zip(table["thread"].to_pylist(), table["home"].to_pylist(), strict=True))
        columns = {"thread": list(homes), "home": list(homes.values())}
        schema = pa.schema([("thread", pa.string()), ("home", pa.string())])
        batches.write(self.folder, "homes", 0, pa.table(columns, schema=schema))
        return self.engine.scan(parquet_files(self.folder / "homes"))


def _at_home(comments: Frame, homes: Frame) -> Frame:
    return comments.join(homes, on="thread", how="left").with_columns(
        thread=nw.coalesce(nw.col("home"), nw.col("thread"))
    )


def _components(edges: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Every name in an edge with the first name of those it hangs together with."""
    root: dict[str, str] = {}

    def find(name: str) -> str:
        while root.setdefault(name, name) != name:
            root[name] = root[root[name]]
            name = root[name]
        return name

    for one, other in edges:
        first, second = sorted((find(one), find(other)))
        root[second] = first
    return {name: find(name) for name in list(root)}


def _clear(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
