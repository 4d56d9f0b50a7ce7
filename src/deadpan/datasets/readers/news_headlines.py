"""News headlines, labelled by their source: The Onion is sarcastic, HuffPost is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.rows import TableRow, json_lines

_STEMS = ("Sarcasm_Headlines_Dataset_v2", "Sarcasm_Headlines_Dataset")
_NAMES = tuple(f"{stem}{end}" for stem in _STEMS for end in (".json", ".json.zip"))


class NewsHeadlines(TabularReader):
    """Reader of JSON lines, zipped or not. The second version includes the first, so it is preferred."""

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

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per headline."""
        keys = {"text": ("headline",), "label": ("is_sarcastic",)}
        return json_lines(file.path, keys, self.tally, self.cure)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the article as the group: some headlines occur twice."""
        link = row.text("article_link")
        return {"group": link, "meta": {"article_link": link} if link else {}}
