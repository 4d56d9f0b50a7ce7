"""A built corpus read back: its folder checked, its indexes and comments as streams."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deadpan.archives import open_bytes
from deadpan.draws import sample
from deadpan.errors import DataError
from deadpan.records import Example, Turn
from deadpan.storage import Manifest, manifest_path, read_manifest


@dataclass(frozen=True, slots=True)
class IndexLine:
    """One row of an index file."""

    ancestors: tuple[str, ...]
    responses: tuple[str, ...]
    labels: tuple[str, ...]

    @property
    def last(self) -> str:
        return self.ancestors[-1]

    @property
    def ids(self) -> tuple[str, ...]:
        return (*self.ancestors, *self.responses)


class BuiltCorpus:
    """A finished output folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise DataError(f"{folder}: no such folder; make one with deadpan corpus build")
        if not manifest_path(self.folder).is_file():
            raise DataError(f"{folder}: no finished corpus: run deadpan corpus build again to its end")
        self.manifest: Manifest = read_manifest(self.folder)
        if "raw/sarc.parquet" not in self.manifest.files:
            raise DataError(f"{folder}: not a corpus of deadpan: no raw/sarc.parquet in its manifest")

    @property
    def parquet(self) -> Path:
        return self.folder / "raw" / "sarc.parquet"

    def path(self, name: str) -> Path:
        """A file of the corpus, packed or not."""
        for spelling in (name, f"{name}.bz2"):
            if (self.folder / spelling).is_file():
                return self.folder / spelling
        raise DataError(f"{self.folder / name}: missing; run deadpan corpus build again")

    def index(self, name: str) -> Iterator[IndexLine]:
        """The rows of an index such as main/train-balanced.csv."""
        path = self.path(name)
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                parts = [tuple(part.split(" ")) for part in line.decode("utf-8").rstrip("\n").split("|")]
                if len(parts) != 3 or len(parts[1]) != len(parts[2]):
                    raise DataError(
                        f"{path}:{number}: not ancestors|responses|labels; build the corpus again"
                    )
                yield IndexLine(*parts)

    def entries(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """(id, comment) of a folder's comments.json, one line each as we write it."""
        path = self.path(f"{folder}/comments.json")
        with open_bytes(path) as file:
            for number, line in enumerate(file, 1):
                text = line.decode("utf-8").rstrip("\n").removesuffix(",")
                if text in ("{", "}"):
                    continue
                try:
                    ((id, entry),) = json.loads("{" + text + "}").items()
                except ValueError:
                    raise DataError(f"{path}:{number}: not as deadpan writes it; build it again") from None
                yield id, entry

    def texts(self, folder: str, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The comments of some ids."""
        wanted = set(ids)
        return {id: entry for id, entry in self.entries(folder) if id in wanted}

    def conversations(self, folder: str, count: int, seed: int) -> list[Example]:
        """The replies of some sequences of a benchmark, drawn by their last ancestor, as people read them."""
        lines = [
            *sample(self.index(f"{folder}/train-unbalanced.csv"), count, seed=seed, key=lambda one: one.last),
            *sample(self.index(f"{folder}/test-unbalanced.csv"), count, seed=seed, key=lambda one: one.last),
        ]
        chosen = sample(lines, count, seed=seed, key=lambda one: one.last)
        entries = self.texts(folder, (id for line in chosen for id in line.ids))
        return [example for line in chosen for example in _examples(line, entries)]


def turn(entry: dict[str, Any]) -> Turn:
    """A comment as a turn."""
    return Turn(entry["author"], entry["text"])


def context(ancestors: Iterable[str], entries: dict[str, dict[str, Any]]) -> tuple[Turn, ...]:
    """The turns that have a text: a post that no dump has would only look like a silence."""
    return tuple(turn(entries[id]) for id in ancestors if entries[id]["text"])


def _examples(line: IndexLine, entries: dict[str, dict[str, Any]]) -> Iterator[Example]:
    for id, label in zip(line.responses, line.labels, strict=True):
        yield Example(
            id=id,
            response=turn(entries[id]),
            context=context(line.ancestors, entries),
            label=label == "1",
            label_kind="marker",
            group=line.ancestors[0],
            sequence=line.last,
            source="corpus",
            language="en",
        )
