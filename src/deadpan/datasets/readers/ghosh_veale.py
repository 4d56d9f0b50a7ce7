"""Ghosh and Veale's tweets, labelled by their hashtags; many of these are still in the texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow, tab_rows


class GhoshVeale(TabularReader):
    """Reader of lines with set, label and text."""

    release: ClassVar[Release] = Release(
        title="Ghosh and Veale's tweets",
        citation="Ghosh and Veale (2016), Fracking Sarcasm using Neural Network, WASSA",
        url="https://github.com/AniSkywalker/SarcasmDetection",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="ghosh_veale",
        files=(
            ReleaseFile(("Train_v1.txt",), "train", ("train", "resource/train")),
            ReleaseFile(("Dev_v1.txt",), "dev", ("dev", "resource/dev")),
            ReleaseFile(("Test_v1.txt",), "test", ("test", "resource/test")),
        ),
    )
    words: ClassVar[Words] = {"0": False, "1": True}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet; the files have no header."""
        return tab_rows(file.path, {}, self.tally, self.cure, header=("set", "label", "text"))
