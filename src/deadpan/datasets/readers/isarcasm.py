"""iSarcasm: tweets labelled by their own authors. The release has tweet ids only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.reading import Reading
from deadpan.datasets.tabular import TabularReader, key
from deadpan.errors import DataError
from deadpan.formats.labels import BINARY, Words, label_of
from deadpan.formats.rows import TableRow, column_names, csv_rows, json_lines
from deadpan.records import Example

_IDS = {"id": ("tweet_id",), "label": ("sarcasm_label",), "type": ("sarcasm_type",)}
_TEXT = {"text": ("text", "tweet"), "label": ("sarcasm_label",)}
_JOINED = {"id": ("tweet_id", "id"), "text": ("text", "tweet")}


class ISarcasm(TabularReader):
    """Reader of files with texts, or of the official ids joined with `text_file` (tweet_id and text).

    `ids_only` reads labels and types without texts: the examples are empty but can be counted.
    """

    release: ClassVar[Release] = Release(
        title="iSarcasm",
        citation="Oprea and Magdy (2020), iSarcasm: A Dataset of Intended Sarcasm, ACL",
        url="https://github.com/silviu-oprea/iSarcasm",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="author",
        folder="isarcasm",
        files=(
            ReleaseFile(("isarcasm_train.csv",), "train"),
            ReleaseFile(("isarcasm_test.csv",), "test"),
            ReleaseFile(("train_text.csv",), "train"),
            ReleaseFile(("test_text.csv",), "test"),
        ),
    )
    # The README says non_sarcastic, the files say not_sarcastic.
    words: ClassVar[Words] = {
        **BINARY,
        "sarcastic": True,
        "not_sarcastic": False,
        "non_sarcastic": False,
    }

    takes: ClassVar[frozenset[str]] = frozenset({"text_file", "ids_only"})

    def __init__(self, name: str, data: Path | None = None, reading: Reading | None = None) -> None:
        super().__init__(name, data, reading)
        self.text_file = self.reading.text_file
        self.ids_only = self.reading.ids_only

    def files(self) -> list[CorpusFile]:
        """Return the files of ids if these are asked for, otherwise the files of texts."""
        files = super().files()
        ids = [file for file in files if "tweet_id" in column_names(file.path, self.cure)]
        if self.text_file is not None or self.ids_only:
            if not ids:
                raise DataError(f"{self.name}: no file of ids in {self.data}; {self.cure}")
            return ids
        texts = [file for file in files if file not in ids]
        if not texts:
            raise DataError(
                f"{ids[0].path}:1: tweet ids only, so there is no text to read; bring the texts with "
                "--text-file FILE (CSV or JSON lines of tweet_id and text), or count labels with --ids-only"
            )
        covered = {file.split for file in texts}
        return [file for file in files if file not in ids or file.split not in covered]

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the rows with their texts."""
        if "tweet_id" not in column_names(file.path, self.cure):
            yield from self.csv(file, _TEXT)
            return
        texts = self._texts() if self.text_file else {}
        joined = 0
        for row in self.csv(file, _IDS):
            text = texts.get(row.text("id"), "")
            joined += bool(text)
            yield TableRow({**row.fields, "text": text}, row.number, row.place)
        if self.text_file and not joined:
            raise DataError(f"{self.text_file}: has none of the tweet ids of {file.path}; were they rounded?")

    def _texts(self) -> dict[str, str]:
        """Return tweet id -> text, from `text_file`."""
        path = Path(self.text_file or "")
        read = json_lines if path.suffix in (".jsonl", ".ndjson", ".json") else csv_rows
        cure = "it should have the columns tweet_id and text"
        return {key(row): row.text("text") for row in read(path, _JOINED, self.tally, cure)}

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the type of sarcasm and, where the file has them, explanation and rephrase."""
        kind = row.text("type") or row.text("sarcasm_type")
        id = row.text("id")
        return {
            "categories": (kind.replace(" ", "_"),) if kind else (),
            "explanation": row.text("explanation"),
            "rephrase": row.text("rephrase"),
            "meta": {"tweet_id": id} if id else {},
        }

    def examples(self) -> Iterator[Example]:
        """Yield every tweet with a text, or every tweet if only ids are asked for."""
        if not self.ids_only:
            yield from super().examples()
            return
        for file in self.files():
            for row in self.rows(file):
                label = label_of(row, self.words, self.tally)
                if label is not None:
                    yield self.example(file, key(row), "", label=label, **self.extras(file, row))

    def clean_text(self, id: str, text: str) -> str | None:
        """Keep examples without text if `ids_only`; otherwise they are dropped."""
        return text if self.ids_only else super().clean_text(id, text)
