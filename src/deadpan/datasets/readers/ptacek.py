"""The English tweets of Ptáček et al. (2014), with #sarcasm or without, as a table of texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.rows import TableRow


class Ptacek(TabularReader):
    """Reader of CSV files with text and sarcasm_label."""

    release: ClassVar[Release] = Release(
        title="the Ptáček tweets",
        citation="Ptáček, Habernal and Hong (2014), Sarcasm Detection on Czech and English Twitter, COLING",
        url="http://liks.fav.zcu.cz/sarcasm/",
        licence="CC BY-NC-SA 3.0",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="ptacek",
        files=(ReleaseFile(("ptacek_text.csv",)),),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet."""
        return self.csv(file, {"text": ("text", "tweet"), "label": ("sarcasm_label", "label")})
