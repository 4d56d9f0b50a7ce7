"""The texts of what is kept: rows of sarc.csv with what they answer, and every comment of the sequences."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import narwhals as nw

from deadpan.corpus.checkpoints import Checkpoints
from deadpan.corpus.engines.engine import Engine, Frame, parquet_files
from deadpan.corpus.rows import Unit, rows_of

TEXTS_FORMAT = 3  # of the tables; after a change they are computed again
ENTRY_COLUMNS = ("id", "text", "author", "score", "ups", "downs", "month", "created_utc", "subreddit")


@dataclass(frozen=True, slots=True)
class RawInputs:
    """Inputs of the steps below: units, submissions, candidates and the folder of the thread step.

    If `flagged`, entries say whether their comment was kept.
    """

    units: Sequence[Unit]
    posts: Frame
    candidates: Sequence[Path]
    threads: Path
    key: object
    flagged: bool = False


class RawRows:
    """The texts that are needed, the rows of sarc.csv, and the entries of comments.json."""

    def __init__(self, checkpoints: Checkpoints, engine: Engine, inputs: RawInputs) -> None:
        self.checkpoints = checkpoints
        self.engine = engine
        self.inputs = inputs

    def texts(self) -> Path:
        """Compute the texts of all comments that are kept, answered by a kept one, or in a sequence.

        This is the only pass over the texts of all comments, which are most of the data.
        """
        answered = self._kept.filter(~nw.col("up").is_null()).select(id="up")
        wanted = nw.concat([self._kept.select("id"), answered, self._comment_ids()], how="vertical")
        texts = rows_of(
            self.engine,
            self.inputs.units,
            lambda rows: rows.select(*ENTRY_COLUMNS, "original").join(wanted, on="id", how="semi"),
        )
        return self._step("texts", lambda folder: self.engine.save(texts, folder))

    def rows(self, texts: Path) -> Path:
        """Compute the rows of sarc.csv, in ranges of (created_utc, id), each small enough to be sorted.

        One join at a time, and none together with the sort: DuckDB can spill a join, but not several at once.
        """

        def make(folder: Path) -> None:
            found = self.engine.scan(parquet_files(texts))
            said = found.select("id", comment="text").join(self._kept, on="id", how="inner")
            above = found.select(up="id", above="text")
            answers = self._saved(said, folder / "said").join(above, on="up", how="left")
            titles = self.inputs.posts.select(top="id", title="text")
            rows = self._saved(answers, folder / "answers").join(titles, on="top", how="left").select(
                "marked", "comment", "author", "subreddit", "score", "ups", "downs", "month", "created_utc",
                "id",
                parent_comment=nw.coalesce(nw.col("above"), nw.col("title"), nw.lit("")),
                parent_id=nw.coalesce(nw.col("up"), nw.col("top"), nw.lit("")),
                link_id=nw.col("link"),
            )  # fmt: skip
            self.engine.split(rows, folder, ("created_utc", "id"), self.engine.job_bytes)
            for name in ("said", "answers"):
                shutil.rmtree(folder / name)

        return self._step("raw", make)

    def _saved(self, frame: Frame, folder: Path) -> Frame:
        self.engine.save(frame, folder)
        return self.engine.scan(parquet_files(folder))

    def entries(self, texts: Path) -> Path:
        """Compute the entries of comments.json, unordered: `said` by comments, `posted` by submissions."""
        frame = self.engine.scan(parquet_files(texts))
        said = frame.select(*ENTRY_COLUMNS).join(self._comment_ids(), on="id", how="semi")

        def make(folder: Path) -> None:
            comments, posts = said, self._posted()
            if self.inputs.flagged:
                flags = comments.join(self._kept.select("id", kept=nw.lit(True)), on="id", how="left")
                comments = flags.with_columns(kept=nw.coalesce(nw.col("kept"), nw.lit(False)))
                posts = posts.with_columns(kept=nw.lit(None, nw.Boolean))
            self.engine.save(comments, folder / "said")
            self.engine.save(posts, folder / "posted")

        return self._step("entries", make)

    def replies(self, entries: Path) -> Frame:
        """Return the replies of all sequences with their texts, and a row at place 0 for each sequence.

        Only that row has `ancestors` and `subreddit`: in every row they would be most of the table.
        """
        columns = ("post", "last", "place", "id", "label", "text", "ancestors", "subreddit")
        replies = self.engine.scan(parquet_files(self.inputs.threads / "replies"))
        said = self.engine.scan(parquet_files(entries / "said")).select("id", "text")
        with_text = said.join(replies, on="id", how="inner").with_columns(ancestors=nw.lit(""), subreddit=nw.lit(""))
        sequences = self.engine.scan(parquet_files(self.inputs.threads / "sequences"))
        heads = sequences.with_columns(place=nw.lit(0, nw.Int32), label=nw.lit(False), id=nw.lit(""), text=nw.lit(""))
        return nw.concat([with_text.select(*columns), heads.select(*columns)], how="vertical")

    def _step(self, name: str, make: Callable[[Path], None]) -> Path:
        return self.checkpoints.step(name, {"format": TEXTS_FORMAT, "inputs": self.inputs.key}, make)

    @property
    def _kept(self) -> Frame:
        under = self.engine.scan(parquet_files(self.inputs.threads / "under")).select("id")
        files = [file for part in self.inputs.candidates for file in parquet_files(part)]
        return self.engine.scan(files).join(under, on="id", how="anti")

    @property
    def _members(self) -> Frame:
        return self.engine.scan(parquet_files(self.inputs.threads / "members"))

    def _comment_ids(self) -> Frame:
        """Return the ids of the comments, not submissions, in the sequences."""
        return self._members.filter(~nw.col("is_post")).select("id")

    def _posted(self) -> Frame:
        """Return the submissions of the sequences; one that no dump has keeps its id and subreddit only."""
        homes = self._members.filter(nw.col("is_post")).group_by("id").agg(home=nw.col("subreddit").min())
        absent: dict[str, str | int] = {"text": "", "author": "", "month": 0, "created_utc": 0}
        filled = {name: nw.coalesce(nw.col(name), nw.lit(value)) for name, value in absent.items()}
        posts = homes.join(self.inputs.posts.select(*ENTRY_COLUMNS), on="id", how="left")
        subreddit = nw.coalesce(nw.col("subreddit"), nw.col("home"))
        return posts.with_columns(**filled, subreddit=subreddit).select(*ENTRY_COLUMNS)
