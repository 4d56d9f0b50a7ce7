"""Sarcasm Corpus V2 (Oraby et al. 2016): posts of debate forums: generic, hyperbole, rhetorical questions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.reader import CorpusFile, Release, ReleaseFile
from deadpan.datasets.tabular import TabularReader
from deadpan.formats.labels import Words
from deadpan.formats.rows import TableRow


class Generic(TabularReader):
    """Reader of CSV files with class, id and text."""

    release: ClassVar[Release] = Release(
        title="Sarcasm Corpus V2, generic",
        citation="Oraby et al. (2016), Creating and Characterizing a Diverse Corpus of Sarcasm in "
        "Dialogue, SIGDIAL",
        url="https://nlds.soe.ucsc.edu/sarcasm2",
        licence="not stated",
        language="en",
        platform="debate forums",
        label_kind="perceived",
        folder="oraby_v2",
        files=(ReleaseFile(("GEN-sarc-notsarc.csv",)),),
    )
    words: ClassVar[Words] = {"sarc": True, "notsarc": False}
    form: ClassVar[str] = ""

    def rows(self, file: CorpusFile) -> Iterator[TableRow]:
        """Yield one row per post."""
        return self.csv(file, {"label": ("class",), "id": ("id",), "text": ("text",)})

    def extras(self, file: CorpusFile, row: TableRow) -> dict[str, Any]:
        """Return the form of the part, as the category of sarcastic posts."""
        if not self.form:
            return {}
        sarcastic = row.text("label").lower() == "sarc"
        return {"categories": (self.form,) if sarcastic else (), "meta": {"form": self.form}}


class Hyperbole(Generic):
    """Posts with a hyperbole."""

    release: ClassVar[Release] = replace(
        Generic.release, title="Sarcasm Corpus V2, hyperbole", files=(ReleaseFile(("HYP-sarc-notsarc.csv",)),)
    )
    form: ClassVar[str] = "hyperbole"


class RhetoricalQuestion(Generic):
    """Posts with a rhetorical question."""

    release: ClassVar[Release] = replace(
        Generic.release,
        title="Sarcasm Corpus V2, rhetorical questions",
        files=(ReleaseFile(("RQ-sarc-notsarc.csv",)),),
    )
    form: ClassVar[str] = "rhetorical_question"
