"""The FigLang 2020 shared task: responses with their conversations, from Twitter and Reddit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile, fingerprint
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow, json_lines
from deadpan.records import Turn


def _files(platform: str) -> tuple[ReleaseFile, ...]:
    stem = f"sarcasm_detection_shared_task_{platform}"
    return (
        ReleaseFile((f"{stem}_training.jsonl",), "train", (platform,)),
        ReleaseFile((f"{stem}_testing.jsonl",), "test", (platform,)),
    )


class Twitter(TabularReader):
    """Tweets with #sarcasm and their threads. The first test files had ids and no labels."""

    release: ClassVar[Release] = Release(
        title="FigLang 2020, Twitter",
        citation="Ghosh, Vajpayee and Muresan (2020), A Report on the 2020 Sarcasm Detection "
        "Shared Task, FigLang",
        url="https://github.com/EducationalTestingService/sarcasm",
        licence="not stated",
        language="en",
        platform="Twitter",
        label_kind="marker",
        folder="figlang2020",
        files=_files("twitter"),
        context=True,
    )
    words: ClassVar[Words] = {"sarcasm": True, "not_sarcasm": False}

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per response; only a test file may be without labels."""
        keys = {"text": ("response",), "context": ("context",)}
        if file.split == "train":
            keys["label"] = ("label",)
        for row in json_lines(file.path, keys, self.tally, self.cure):
            context = row.fields["context"]
            if isinstance(context, list) and all(isinstance(text, str) for text in context):
                yield row
            else:
                self.tally.drop("bad_row", row.place, "the context is not a list of texts")

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the turns before the response, without speakers. The first turn identifies the thread."""
        turns = [text for text in row.fields["context"] if text.strip()]
        return {
            "context": tuple(Turn("", text.strip()) for text in turns),
            "group": f"{self.name}/{fingerprint(turns[0])}" if turns else "",
            "sequence": f"{self.name}/{fingerprint(*turns)}" if turns else "",
        }


class Reddit(Twitter):
    """Comments with /s, from SARC: exclude shared texts before comparing the two."""

    release: ClassVar[Release] = replace(
        Twitter.release, title="FigLang 2020, Reddit", platform="Reddit", files=_files("reddit")
    )
