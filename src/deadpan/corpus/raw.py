"""The raw corpus, relationally: kept comments beside what they answer, and every comment of the sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import narwhals as nw

from deadpan.corpus.engine import Engine, Frame, parquet_files
from deadpan.corpus.ingest import Unit
from deadpan.corpus.rows import rows_of
from deadpan.corpus.workshop import Workshop

ENTRY_COLUMNS = ("id", "text", "author", "score", "ups", "downs", "month", "created_utc", "subreddit")


@dataclass(frozen=True, slots=True)
class RawWork:
    """What the steps here read."""

    units: Sequence[Unit]
    posts: Frame
    candidates: Sequence[Path]
    threads: Path
    key: object


class Raw:
    """The words that are needed, the rows of sarc.csv, the entries of comments.json."""

    def __init__(self, workshop: Workshop, engine: Engine, work: RawWork) -> None:
        self.workshop = workshop
        self.engine = engine
        self.work = work

    def texts(self) -> Path:
        """All comments whose words are needed: kept, answered by one that is kept, or in a sequence. One
        pass over the words of all comments, since that is most of what there is to read."""
        answered = self._kept.filter(~nw.col("up").is_null()).select(id="up")
        wanted = nw.concat([self._kept.select("id"), answered, self._spoken()], how="vertical")
        found = rows_of(
            self.engine,
            self.work.units,
            lambda rows: rows.select(*ENTRY_COLUMNS, "original").join(wanted, on="id", how="semi"),
        )
        return self._step("texts", lambda folder: self.engine.save(found, folder))

    def rows(self, texts: Path) -> str:
        """The rows of sarc.csv, in no order, as SQL."""
        frame = self._rows(self.engine.scan(parquet_files(texts)))
        return self.engine.query(
            frame, lambda: self._step("raw", lambda folder: self.engine.save(frame, folder))
        )

    def entries(self, texts: Path) -> Path:
        """Those of comments.json, in no order: `said` by comments, `posted` by submissions."""
        found = self.engine.scan(parquet_files(texts))
        said = found.select(*ENTRY_COLUMNS).join(self._spoken(), on="id", how="semi")

        def make(folder: Path) -> None:
            self.engine.save(said, folder / "said")
            self.engine.save(self._posted(), folder / "posted")

        return self._step("entries", make)

    def _step(self, name: str, make: Callable[[Path], None]) -> Path:
        return self.workshop.step(name, self.work.key, make)

    @property
    def _kept(self) -> Frame:
        under = self.engine.scan(parquet_files(self.work.threads / "under")).select("id")
        found = self.engine.scan([file for part in self.work.candidates for file in parquet_files(part)])
        return found.join(under, on="id", how="anti")

    @property
    def _members(self) -> Frame:
        return self.engine.scan(parquet_files(self.work.threads / "members"))

    def _spoken(self) -> Frame:
        return self._members.filter(~nw.col("is_post")).select("id")

    def _rows(self, texts: Frame) -> Frame:
        """The columns of sarc.csv, months as numbers."""
        asked = self._kept.filter(~nw.col("top").is_null()).select("top")
        titles = self.work.posts.select(top="id", title="text").join(asked, on="top", how="semi")
        return (
            texts.select("id", comment="text")
            .join(self._kept, on="id", how="inner")
            .join(texts.select(up="id", above="text"), on="up", how="left")
            .join(titles, on="top", how="left")
            .select(
                "marked",
                "comment",
                "author",
                "subreddit",
                "score",
                "ups",
                "downs",
                "month",
                "created_utc",
                "id",
                parent_comment=nw.coalesce(nw.col("above"), nw.col("title"), nw.lit("")),
                parent_id=nw.coalesce(nw.col("up"), nw.col("top"), nw.lit("")),
                link_id=nw.col("link"),
            )
        )

    def _posted(self) -> Frame:
        """Posts of the sequences; one that no dump has keeps its id and subreddit, without text."""
        homes = self._members.filter(nw.col("is_post")).group_by("id").agg(home=nw.col("subreddit").min())
        nothing: dict[str, str | int] = {"text": "", "author": "", "score": 0, "ups": -1, "downs": -1}
        nothing |= {"month": 0, "created_utc": 0}
        filled = {name: nw.coalesce(nw.col(name), nw.lit(value)) for name, value in nothing.items()}
        found = homes.join(self.work.posts.select(*ENTRY_COLUMNS), on="id", how="left")
        subreddit = nw.coalesce(nw.col("subreddit"), nw.col("home"))
        return found.with_columns(**filled, subreddit=subreddit).select(*ENTRY_COLUMNS)
