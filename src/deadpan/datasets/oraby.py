"""Sarcasm Corpus V2 (Oraby): answers in debate forums, picked for being plain, a hyperbole or a question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from deadpan.datasets.labels import Words
from deadpan.datasets.reader import Found, Release, ReleaseFile
from deadpan.datasets.rows import Row
from deadpan.datasets.tabular import TabularReader


class Generic(TabularReader):
    """Reads a CSV of class, id and text."""

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

    def rows(self, file: Found) -> Iterator[Row]:
        """A row a post."""
        return self.csv(file, {"label": ("class",), "id": ("id",), "text": ("text",)})

    def extras(self, file: Found, row: Row) -> dict[str, Any]:
        """The form all posts of a part were picked for; a kind of sarcasm only where there is some."""
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
