"""Statistics of the rows of any raw corpus: the numbers of Table 1 of the paper, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.corpus.built.raw_table import Source, open_raw
from deadpan.errors import DataError
from deadpan.results import Result
from deadpan.stats.interval import Interval, wilson

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True)
class RawStatistics(Result):
    """Sizes of a raw corpus, and the share of sarcasm in all of it and in its largest subreddits."""

    source: Path
    comments: int
    sarcastic: int
    authors: int
    months: tuple[str, str]
    subreddits: dict[str, tuple[int, int]]
    unreadable: int = 0
    top: int = 12

    @property
    def share(self) -> Interval:
        return wilson(self.sarcastic, self.comments)

    def as_dict(self) -> dict[str, object]:
        return {
            "source": str(self.source),
            "totals": {
                "comments": self.comments, "sarcastic": self.sarcastic, "authors": self.authors,
                "subreddits": len(self.subreddits), "share_sarcastic": self.share.value,
                "interval": [self.share.low, self.share.high],
            },
            "months": list(self.months),
            "unreadable": self.unreadable,
            "subreddits": {
                name: {"comments": count, "sarcastic": sarcastic}
                for name, (count, sarcastic) in self.subreddits.items()
            },
        }  # fmt: skip

    def summary(self) -> Summary:
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        sizes = (
            ("comments", f"{self.comments:,}"), ("sarcastic", f"{self.sarcastic:,}"),
            ("share sarcastic", _percent(self.share)), ("authors", f"{self.authors:,}"),
            ("subreddits", f"{len(self.subreddits):,}"), ("months", " to ".join(self.months)),
        )  # fmt: skip
        shown = list(self.subreddits.items())[: self.top]
        rows = tuple((name, count, s, _percent(wilson(s, count))) for name, (count, s) in shown)
        notes = [f"{self.unreadable:,} rows cannot be read."] if self.unreadable else []
        if len(shown) < len(self.subreddits):
            notes.append(f"{len(self.subreddits) - len(shown):,} smaller subreddits are not shown (--top).")
        tables = (
            Table(("Table 1 of the paper", "here"), sizes),
            Table(("subreddit", "comments", "sarcastic", "share [95 % CI]"), rows),
        )
        return Summary(tables, tuple(notes))


def _percent(share: Interval) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.2f} % [{100 * share.low:.2f}, {100 * share.high:.2f}]"


def raw_statistics(source: Source, *, top: int = 12) -> RawStatistics:
    """Return the statistics of the rows of a corpus, a released raw file or Parquet files."""
    with open_raw(source) as table:
        ((authors, first, last),) = table.rows("SELECT count(DISTINCT author), min(date), max(date) FROM raw")
        found = table.rows(
            "SELECT subreddit, count(*), count(*) FILTER (label = 1) FROM raw GROUP BY 1 ORDER BY 2 DESC, 1"
        )
        if not found:
            raise DataError(f"{table.name}: no rows")
        return RawStatistics(
            source=table.name,
            comments=sum(count for _, count, _ in found),
            sarcastic=sum(sarcastic for *_, sarcastic in found),
            authors=authors,
            months=(first, last),
            subreddits={name: (count, sarcastic) for name, count, sarcastic in found},
            unreadable=table.unreadable,
            top=top,
        )
