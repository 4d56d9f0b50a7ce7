"""The FigLang 2020 shared task: a response with the conversation before it, from Twitter and from Reddit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.labels import Words
from deadpan.datasets.reader import Found, Release, ReleaseFile, fingerprint
from deadpan.datasets.rows import Row, json_lines
from deadpan.datasets.tabular import TabularReader
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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a response. Only a test file may keep its labels back."""
        keys = {"text": ("response",), "context": ("context",)}
        if file.split == "train":
            keys["label"] = ("label",)
        for row in json_lines(file.path, keys, self.tally, self.cure):
            context = row.fields["context"]
            if isinstance(context, list) and all(isinstance(said, str) for said in context):
                yield row
            else:
                self.tally.drop("bad_row", row.place, "the context is not a list of texts")

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The turns before the response; nobody says who spoke. A thread is known by its first words."""
        said = [text for text in row.fields["context"] if text.strip()]
        return {
            "context": tuple(Turn("", text.strip()) for text in said),
            "group": f"{self.name}/{fingerprint(said[0])}" if said else "",
            "sequence": f"{self.name}/{fingerprint(*said)}" if said else "",
        }


class Reddit(Twitter):
    """Comments with /s, out of SARC: whoever compares the two must take the shared texts out first."""

    release: ClassVar[Release] = replace(
        Twitter.release, title="FigLang 2020, Reddit", platform="Reddit", files=_files("reddit")
    )
