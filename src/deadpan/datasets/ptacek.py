"""The English Ptáček tweets: #sarcasm or not. The release is ids; others passed on these texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row
from deadpan.datasets.tabular import TabularReader


class Ptacek(TabularReader):
    """Reads a CSV of text and sarcasm_label."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a tweet."""
        return self.csv(file, {"text": ("text", "tweet"), "label": ("sarcasm_label", "label")})
