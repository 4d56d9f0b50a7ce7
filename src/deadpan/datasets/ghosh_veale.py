"""Ghosh and Veale's tweets, labelled by their hashtags, many of which are still in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.labels import Words
from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row, tab_rows
from deadpan.datasets.tabular import TabularReader


class GhoshVeale(TabularReader):
    """Reads lines of set, label and text."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a tweet; the files have no header."""
        return tab_rows(file.path, {}, self.tally, self.cure, header=("set", "label", "text"))
