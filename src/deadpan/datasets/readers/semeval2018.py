"""SemEval-2018 Task 3: irony in English tweets, ironic or not (A) and its category (B).

The tweets were found by #irony, #sarcasm and #not, which the organisers removed; people then labelled them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow, lines, tab_rows
from deadpan.records import Split

KINDS = ("", "polarity_contrast", "situational_irony", "other_irony")

_COLUMNS = {"id": ("tweet index",), "text": ("tweet text",)}


def _file(task: str, split: Split, stems: tuple[str, ...], folders: tuple[str, ...]) -> ReleaseFile:
    """Return a file with its possible names: emoji as characters first, then as :names:."""
    names = tuple(f"{stem}{task}{ending}.txt" for stem in stems for ending in ("_emoji", ""))
    return ReleaseFile(names, split, tuple(f"{top}{f}" for f in folders for top in ("", "datasets/")))


def _files(task: str) -> tuple[ReleaseFile, ...]:
    stems = ("SemEval2018-T3_gold_test_task", "SemEval2018-T3_input_test_task")  # the input has no labels
    return (
        _file(task, "train", ("SemEval2018-T3-train-task",), ("train",)),
        _file(task, "test", stems, (f"goldtest_Task{task}", f"test_Task{task}")),
    )


_RELEASE = Release(
    title="SemEval-2018 Task 3 A, ironic or not",
    citation="Van Hee, Lefever and Hoste (2018), SemEval-2018 Task 3: Irony Detection in English "
    "Tweets, SemEval",
    url="https://github.com/Cyvhee/SemEval2018-Task3",
    licence="not stated",
    language="en",
    platform="Twitter",
    label_kind="perceived",
    folder="semeval2018_task3",
    files=_files("A"),
)


class TaskA(TabularReader):
    """Task A: ironic or not."""

    release: ClassVar[Release] = _RELEASE
    words: ClassVar[Words] = {"0": False, "1": True}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per tweet; the order and case of the header differ between copies."""
        header = next((line for _, line in lines(file.path, self.cure)), "").lower()
        columns = _COLUMNS | {"label": ("label",)} if file.split != "test" or "label" in header else _COLUMNS
        return tab_rows(file.path, columns, self.tally, self.cure)

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the number of the tweet in the release."""
        return {"meta": {"tweet_index": row.text("id")}}


class TaskB(TaskA):
    """Task B: irony by polarity contrast, situational irony, other irony, or none."""

    release: ClassVar[Release] = replace(
        _RELEASE, title="SemEval-2018 Task 3 B, four classes", files=_files("B")
    )
    words: ClassVar[Words] = {"0": False, "1": True, "2": True, "3": True}

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the category of irony."""
        kind = KINDS[int(row.text("label")[:1] or 0)]  # "2" or "2.0"
        return {**super().extras(file, row), "categories": (kind,) if kind else ()}
