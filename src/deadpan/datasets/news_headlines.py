"""News headlines: The Onion's are sarcastic, HuffPost's are not, and nobody read them one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row, json_lines
from deadpan.datasets.tabular import TabularReader

_STEMS = ("Sarcasm_Headlines_Dataset_v2", "Sarcasm_Headlines_Dataset")
_NAMES = tuple(f"{stem}{end}" for stem in _STEMS for end in (".json", ".json.zip"))


class NewsHeadlines(TabularReader):
    """Reads JSON lines, plain or zipped. The second version holds the first, so it is read instead."""

    release: ClassVar[Release] = Release(
        title="News Headlines",
        citation="Misra and Arora (2023), Sarcasm Detection using News Headlines Dataset, AI Open 4",
        url="https://github.com/rishabhmisra/News-Headlines-Dataset-For-Sarcasm-Detection",
        licence="not stated",
        language="en",
        platform="news sites",
        label_kind="marker",
        folder="news_headlines",
        files=(ReleaseFile(_NAMES),),
    )

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a headline."""
        keys = {"text": ("headline",), "label": ("is_sarcastic",)}
        return json_lines(file.path, keys, self.tally, self.cure)

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The article, which a split may not cross: some stand twice."""
        link = row.text("article_link")
        return {"group": link, "meta": {"article_link": link} if link else {}}
