"""Statistics of a finished corpus (stats.json): sizes, benchmarks, months and subreddits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deadpan.corpus.built.folder import BuiltCorpus
from deadpan.corpus.built.raw_statistics import RawStatistics, raw_statistics
from deadpan.corpus.built.raw_table import Source, as_corpus
from deadpan.results import Result
from deadpan.storage import read_json

if TYPE_CHECKING:
    from deadpan.page.summary import Summary
    from deadpan.page.table import Table

MONTHS = 24


@dataclass(frozen=True, slots=True)
class CorpusStatistics(Result):
    """Contents of stats.json; the summary shows the last months and the largest `top` subreddits."""

    folder: Path
    values: Mapping[str, Any] = field(repr=False)
    top: int = 12

    def as_dict(self) -> dict[str, object]:
        return dict(self.values)

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary

        totals, sequences = self.values["totals"], self.values["sequences"]
        notes = (
            f"{totals['comments']:,} comments by {totals['authors']:,} authors in {totals['subreddits']:,} "
            f"subreddits; {totals['sarcastic']:,} are sarcastic ({100 * totals['share_sarcastic']:.2f} %).",
            f"{sequences['count']:,} sequences; on average {100 * sequences['mean_share_sarcastic']:.1f} % "
            f"of the replies are sarcastic.",
            f"All statistics: {self.folder / 'stats.json'}",
        )
        return Summary((self._benchmarks(), self._months(), self._subreddits()), notes)

    def _benchmarks(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, part, one["count"], one["replies"], _percent(one["mean_share_sarcastic"]))
            for name, parts in self.values["benchmarks"].items()
            for part, one in parts.items()
        )
        return Table(("benchmark", "file", "sequences", "replies", "sarcastic"), rows)

    def _months(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, one.get("kept", 0), one["authors"], one["authors_marking"],
             _percent(one["share_authors_marking"]))
            for name, one in list(self.values["months"].items())[-MONTHS:]
        )  # fmt: skip
        return Table(("month", "kept", "authors", "use the marker", "share"), rows)

    def _subreddits(self) -> Table:
        from deadpan.page.table import Table

        rows = tuple(
            (name, one["comments"], one["sarcastic"], _percent(one["share_sarcastic"]))
            for name, one in list(self.values["subreddits"].items())[: self.top]
        )
        return Table(("subreddit", "comments", "sarcastic", "share"), rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def read_statistics(source: Source, *, top: int = 12) -> CorpusStatistics | RawStatistics:
    """Return the statistics of a finished corpus, or of the rows of a released raw file or Parquet files."""
    path = source.folder if isinstance(source, BuiltCorpus) else Path(source)
    corpus = as_corpus(source)
    if corpus is None and (path.is_file() or any(path.glob("**/*.parquet"))):
        return raw_statistics(path, top=top)
    corpus = corpus or BuiltCorpus(path)
    return CorpusStatistics(corpus.folder, read_json(corpus.folder / "stats.json"), top)
