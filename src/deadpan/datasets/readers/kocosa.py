"""KoCoSa: Korean dialogues written by a language model; people judged and explained the last response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, fingerprint
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.kocosa import parse_turn, read_kocosa
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow

_FOLDERS = ("KoCoSa", "KoCoSa_dataset")


class KoCoSa(TabularReader):
    """Reader of KoCoSa's three splits."""

    release: ClassVar[Release] = Release(
        title="KoCoSa",
        citation="Kim et al. (2024), KoCoSa: Korean Context-aware Sarcasm Detection Dataset, LREC-COLING",
        url="https://github.com/Yu-billie/KoCoSa_sarcasm_detection",
        licence="not stated",
        language="ko",
        platform="generated dialogues",
        label_kind="perceived",
        folder="kocosa",
        files=(
            ReleaseFile(("KoCoSa_train.json",), "train", _FOLDERS),
            ReleaseFile(("KoCoSa_dev.json", "KoCoSa_valid.json"), "dev", _FOLDERS),
            ReleaseFile(("KoCoSa_test.json",), "test", _FOLDERS),
        ),
        context=True,
        explanation=True,
    )
    words: ClassVar[Words] = {"sarcasm": True, "non_sarcasm": False}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per dialogue; one without a context or response is counted."""
        for number, row in enumerate(read_kocosa(file.path, self.cure), 1):
            place = f"{file.path.name} row {row.id}"
            if row.context is None or row.response is None:
                self.tally.drop("bad_row", place, "no Context or no Response")
                continue
            response = parse_turn(row.response)
            fields = {
                "id": row.id,
                "turns": row.turns,
                "context": row.context,
                "text": response.text,
                "speaker": response.speaker,
                "label": row.label,
                "explanation": row.explanation,
            }
            yield TableRow(fields, number, place)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the dialogue before the response, and why it is sarcastic."""
        lines = [line for line in row.text("context").split("\n") if line.strip()]
        dialogue = f"{self.name}/{fingerprint(*lines)}"
        return {
            "speaker": row.text("speaker"),
            "context": row.fields["turns"],
            "explanation": row.text("explanation"),
            "group": dialogue,
            "sequence": dialogue,
        }
