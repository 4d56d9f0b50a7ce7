"""Kocasm: Korean tweets, labelled by the hashtags they were found with, which were then taken out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row
from deadpan.datasets.tabular import TabularReader

_FOLDERS = ("data/jiwon",)


class Kocasm(TabularReader):
    """Reads a CSV of index, tokens and label."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a tweet."""
        return self.csv(file, {"text": ("tokens",), "label": ("label",)})
