"""KoCoSa: Korean dialogues a language model continued, the last line judged by people, with reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

from deadpan.datasets.labels import Words
from deadpan.datasets.reader import Found, Release, ReleaseFile, fingerprint
from deadpan.datasets.rows import Row, json_document
from deadpan.datasets.tabular import TabularReader
from deadpan.errors import DataError
from deadpan.records import Turn

_COLUMNS = ("Context", "Response", "Sarcasm_Label", "Sarcasm_Explanation")
_SPOKEN = re.compile(r"\s*([A-Z])\s*:\s*(.*)", re.DOTALL)
_FOLDERS = ("KoCoSa", "KoCoSa_dataset")


class KoCoSa(TabularReader):
    """Reads JSON in columns: one object a column, keyed by row."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a dialogue; one that lacks a column is counted."""
        document = json_document(file.path, self.cure)
        found = [document.get(name) for name in _COLUMNS] if isinstance(document, dict) else []
        columns = [column for column in found if isinstance(column, dict)]
        if len(columns) != len(_COLUMNS):
            raise DataError(f"{file.path}:1: no columns {', '.join(_COLUMNS)} in it; {self.cure}")
        context, response, label, explanation = columns
        for number, id in enumerate(dict.fromkeys(key for column in columns for key in column), 1):
            place = f"{file.path.name} row {id}"
            if not (isinstance(context.get(id), str) and isinstance(response.get(id), str)):
                self.tally.drop("bad_row", place, "no Context or no Response")
                continue
            spoken = turn(response[id])
            fields = {
                "id": id,
                "context": context[id],
                "text": spoken.text,
                "speaker": spoken.speaker,
                "label": label.get(id),
                "explanation": explanation.get(id),
            }
            yield Row(fields, number, place)

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The dialogue before the response, and why it is sarcastic."""
        said = [line for line in row.text("context").split("\n") if line.strip()]
        dialogue = f"{self.name}/{fingerprint(*said)}"
        return {
            "speaker": row.text("speaker"),
            "context": tuple(turn(line) for line in said),
            "explanation": row.text("explanation"),
            "group": dialogue,
            "sequence": dialogue,
        }


def turn(line: str) -> Turn:
    """`A: words` as a turn; a stage direction is nobody's."""
    spoken = _SPOKEN.fullmatch(line)
    return Turn(spoken[1], spoken[2].strip()) if spoken else Turn("", line.strip())
