"""ArSarcasm-v2: Arabic tweets people labelled for sarcasm, sentiment and dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row
from deadpan.datasets.tabular import TabularReader

_FOLDERS = ("ArSarcasm-v2",)


class ArSarcasm(TabularReader):
    """Reads a CSV of tweet, sarcasm, sentiment and dialect."""

    release: ClassVar[Release] = Release(
        title="ArSarcasm-v2",
        citation="Abu Farha, Zaghouani and Magdy (2021), Overview of the WANLP 2021 Shared Task on "
        "Sarcasm and Sentiment Detection in Arabic, WANLP",
        url="https://github.com/iabufarha/ArSarcasm-v2",
        licence="MIT",
        language="ar",
        platform="Twitter",
        label_kind="perceived",
        folder="arsarcasm_v2",
        files=(
            ReleaseFile(("training_data.csv",), "train", _FOLDERS),
            ReleaseFile(("testing_data.csv",), "test", _FOLDERS),
        ),
    )

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a tweet, its outer quotes off.

        They stand around most plain tweets and few sarcastic ones, an accident of how the parts were
        collected, so a detector would learn them instead of sarcasm.
        """
        for row in self.csv(file, {"text": ("tweet", "text"), "label": ("sarcasm",)}):
            text = row.text("text")
            if len(text) > 1 and text[0] == text[-1] == '"':
                self.tally.change("outer_quotes_stripped")
                row = Row({**row.fields, "text": text[1:-1]}, row.number, row.place)
            yield row

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The other two labels."""
        return {"meta": {name: row.text(name) for name in ("sentiment", "dialect") if row.text(name)}}
