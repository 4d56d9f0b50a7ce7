"""The corpora that can be read, and where they are published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadpan.datasets import READERS
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.datasets.reader import Release
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True, repr=False)
class DatasetList(Result):
    """The registered corpora: name -> release."""

    releases: dict[str, Release]

    def __repr__(self) -> str:
        return f"<DatasetList: {len(self.releases)} corpora>"

    def summary(self) -> Summary:
        """Return one row per corpus."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        rows = tuple((name, r.title, r.language, r.label_kind) for name, r in self.releases.items())
        columns = ("name", "title", "lang", "labels")
        note = "Platform, publication, licence and files of each: deadpan datasets list --json"
        return Summary((Table(columns, rows),), (note,))

    def as_dict(self) -> dict[str, object]:
        """Return the facts of every release."""
        return {
            "datasets": [
                {
                    "name": name,
                    "title": r.title,
                    "language": r.language,
                    "platform": r.platform,
                    "label_kind": r.label_kind,
                    "context": r.context,
                    "explanation": r.explanation,
                    "licence": r.licence,
                    "url": r.url,
                    "citation": r.citation,
                    "files": [file.names[0] for file in r.files],
                }
                for name, r in self.releases.items()
            ]
        }


def list_datasets() -> DatasetList:
    """Return the corpora that deadpan and installed packages can read."""
    return DatasetList({name: READERS.load(name).release for name in READERS})
