"""Kocasm: Korean tweets, labelled by hashtags that were then removed from the texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.rows import TableRow

_FOLDERS = ("data/jiwon",)


class Kocasm(TabularReader):
    """Reader of CSV files with index, tokens and label."""

    release: ClassVar[Release] = Release(
        title="Kocasm",
        citation="Kim and Cho (2019), Kocasm: Korean Automatic Sarcasm Detection, GitHub",
        url="https://github.com/SpellOnYou/korean-sarcasm",
        licence="MIT",
        language="ko",
        platform="Twitter",
        label_kind="marker",
        folder="kocasm",
        files=(
            ReleaseFile(("train.csv",), "train", _FOLDERS),
            ReleaseFile(("test.csv",), "test", _FOLDERS),
        ),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet."""
        return self.csv(file, {"text": ("tokens",), "label": ("label",)})
