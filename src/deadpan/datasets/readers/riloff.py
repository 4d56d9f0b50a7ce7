"""The Riloff set: tweets labelled by people, with texts and labels in two parallel files.

The official release (sarcasm-annos-emnlp13.tsv) has ids only; these are the copies in circulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.errors import DataError
from deadpan.formats.rows import TableRow, lines, place


class Riloff(TabularReader):
    """Reader of train.txt with labels_train.txt, test.txt with labels_test.txt."""

    release: ClassVar[Release] = Release(
        title="the Riloff set",
        citation="Riloff et al. (2013), Sarcasm as Contrast between a Positive Sentiment and Negative "
        "Situation, EMNLP",
        url="https://aclanthology.org/D13-1066",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="perceived",
        folder="riloff",
        files=(ReleaseFile(("train.txt",), "train"), ReleaseFile(("test.txt",), "test")),
    )

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield the lines of both files in parallel; a row's place is its line number."""
        labels = file.path.with_name(f"labels_{file.path.name}")
        if not labels.is_file():
            raise DataError(f"{file.path}: its labels should be beside it in {labels.name}; {self.cure}")
        pairs = zip_longest(lines(file.path, self.cure), lines(labels, self.cure))
        for number, (text, label) in enumerate(pairs, 1):
            if text is None or label is None:
                shorter, longer = (file.path, labels) if text is None else (labels, file.path)
                raise DataError(
                    f"{longer}:{number}: {shorter.name} ends before this line, so texts and labels do not "
                    f"belong together; {self.cure}"
                )
            yield TableRow({"text": text[1], "label": label[1]}, number, place(file.path, number))
