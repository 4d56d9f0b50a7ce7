"""SemEval-2018 Task 3: irony in English tweets, yes or no (A) and of which kind (B).

The tweets were found by #irony, #sarcasm and #not, which the organisers took out; people then labelled them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.labels import Words
from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row, lines, tab_rows
from deadpan.datasets.tabular import TabularReader
from deadpan.records import Split

KINDS = ("", "polarity_contrast", "situational_irony", "other_irony")

_COLUMNS = {"id": ("tweet index",), "text": ("tweet text",)}


def _file(task: str, split: Split, stems: tuple[str, ...], folders: tuple[str, ...]) -> ReleaseFile:
    """A file in its spellings: emoji as themselves first, then as :names:."""
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
    """Ironic or not."""

    release: ClassVar[Release] = _RELEASE
    words: ClassVar[Words] = {"0": False, "1": True}

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a tweet, by the header's order: files in the wild differ in it and in its capitals."""
        header = next((line for _, line in lines(file.path, self.cure)), "").lower()
        columns = _COLUMNS | {"label": ("label",)} if file.split != "test" or "label" in header else _COLUMNS
        return tab_rows(file.path, columns, self.tally, self.cure)

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The number of the tweet in the release."""
        return {"meta": {"tweet_index": row.text("id")}}


class TaskB(TaskA):
    """Ironic by a contrast of polarity, by situation, in another way, or not at all."""

    release: ClassVar[Release] = replace(
        _RELEASE, title="SemEval-2018 Task 3 B, four classes", files=_files("B")
    )
    words: ClassVar[Words] = {"0": False, "1": True, "2": True, "3": True}

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The kind of irony."""
        kind = KINDS[int(row.text("label")[:1] or 0)]  # "2" or "2.0"
        return {**super().extras(file, row), "categories": (kind,) if kind else ()}
