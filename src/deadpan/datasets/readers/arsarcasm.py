"""ArSarcasm-v2: Arabic tweets with labels for sarcasm, sentiment and dialect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.rows import TableRow

_FOLDERS = ("ArSarcasm-v2",)


class ArSarcasm(TabularReader):
    """Reader of CSV files with tweet, sarcasm, sentiment and dialect."""

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

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet, without its outer quotes.

        Most sincere tweets have them and few sarcastic ones, an artefact of how the parts were collected:
        a detector would learn them instead of sarcasm.
        """
        for row in self.csv(file, {"text": ("tweet", "text"), "label": ("sarcasm",)}):
            text = row.text("text")
            if len(text) > 1 and text[0] == text[-1] == '"':
                self.tally.change("outer_quotes_stripped")
                row = TableRow({**row.fields, "text": text[1:-1]}, row.number, row.place)
            yield row

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the other two labels."""
        return {"meta": {name: row.text(name) for name in ("sentiment", "dialect") if row.text(name)}}
