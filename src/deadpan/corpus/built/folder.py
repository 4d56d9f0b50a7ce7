"""The folder of a finished corpus: its manifest, index files, comments and conversations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from deadpan.corpus.settings import NOT_SETTINGS, CorpusSettings
from deadpan.errors import DataError
from deadpan.formats.sarc import IndexLine, SarcSequence, read_comments, read_index
from deadpan.page import Summary, Table
from deadpan.results import Result
from deadpan.storage import Manifest, manifest_path, read_manifest, write_records
from deadpan.validation import config_from

_AT_ONCE = 100_000  # sequences whose texts are in memory, for each reading of comments.json
TOTALS = ("lines", "comments", "sarcastic", "sequences", "parents_without_text")


@dataclass(frozen=True, slots=True)
class WrittenFiles(Result):
    """Files that a command wrote."""

    files: tuple[Path, ...]

    def summary(self) -> Summary:
        return Summary(notes=tuple(str(path) for path in self.files))

    def as_dict(self) -> dict[str, object]:
        return {"files": [str(path) for path in self.files]}


class BuiltCorpus(Result):
    """A finished corpus. It is opened by the path of its folder, and checked to be complete."""

    __slots__ = ("folder", "manifest", "notes")

    def __init__(self, folder: Path | str, notes: Sequence[str] = ()) -> None:
        self.folder = Path(folder)
        self.notes = tuple(notes)
        if not self.folder.is_dir():
            raise DataError(f"{folder}: no such folder: make it with deadpan corpus build")
        if not manifest_path(self.folder).is_file():
            raise DataError(f"{folder}: not a finished corpus: run deadpan corpus build again")
        self.manifest: Manifest = read_manifest(self.folder)
        if "raw/sarc.parquet" not in self.manifest.files:
            raise DataError(f"{folder}: not a corpus of deadpan: its manifest has no raw/sarc.parquet")

    @classmethod
    def of(cls, corpus: BuiltCorpus | Path | str) -> BuiltCorpus:
        """Return a corpus that is open, or open it by the path of its folder."""
        return corpus if isinstance(corpus, BuiltCorpus) else cls(corpus)

    def __repr__(self) -> str:
        counts = self.manifest.counts
        return (
            f"BuiltCorpus({str(self.folder)!r}: {counts['comments']:,} comments, "
            f"{counts['sarcastic']:,} sarcastic, {counts['sequences']:,} sequences)"
        )

    def summary(self) -> Summary:
        counts = self.manifest.counts
        totals = Table(("count", "n"), tuple((name.replace("_", " "), counts[name]) for name in TOTALS))
        drops = Table(("dropped because", "n"), tuple(self.manifest.drops.items()))
        folders = ("raw", "main", *self.manifest.config["benchmark"]["subsets"])
        names = ", ".join([*(f"{name}/" for name in folders), "stats.json"])
        next_command = f"Statistics: deadpan corpus stats {self.folder}"
        return Summary((totals, drops), (*self.notes, f"{self.folder}: {names}", next_command))

    def as_dict(self) -> dict[str, object]:
        return {
            "out": str(self.folder),
            "counts": dict(self.manifest.counts),
            "drops": dict(self.manifest.drops),
            "notes": list(self.notes),
        }

    @property
    def settings(self) -> CorpusSettings:
        """Settings that it was built with."""
        config = self.manifest.config
        return config_from({name: value for name, value in config.items() if name not in NOT_SETTINGS}, CorpusSettings)

    @property
    def parquet(self) -> Path:
        return self.folder / "raw" / "sarc.parquet"

    def path(self, name: str) -> Path:
        """Return the path of a file of the corpus, compressed or not."""
        for spelling in (name, f"{name}.bz2"):
            if (self.folder / spelling).is_file():
                return self.folder / spelling
        raise DataError(f"{self.folder / name}: missing: run deadpan corpus build again")

    def index(self, name: str) -> Iterator[IndexLine]:
        """Yield the lines of an index such as main/train-balanced.csv."""
        return read_index(self.path(name))

    def entries(self, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield (id, comment) of a folder's comments.json."""
        return read_comments(self.path(f"{folder}/comments.json"))

    def texts(self, folder: str, ids: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the comments with these ids."""
        return dict(read_comments(self.path(f"{folder}/comments.json"), set(ids)))

    def sequences(self, folder: str = "main", split: str = "", *, balanced: bool = False) -> Iterator[SarcSequence]:
        """Yield the sequences of main or a subset with the texts of their ancestors and replies.

        They are the unbalanced ones, with all fitting replies, or the `balanced` pairs. "raw" has every sequence,
        whatever its replies, before any division into train and test.
        """
        if folder == "raw":
            names = {"": "raw/sequences.csv"}
        else:
            balance = "balanced" if balanced else "unbalanced"
            names = {side: f"{folder}/{side}-{balance}.csv" for side in ("train", "test") if split in ("", side)}
        for side, name in names.items():
            index = self.index(name)
            while lines := list(islice(index, _AT_ONCE)):
                entries = self.texts(folder, (id for line in lines for id in line.ids))
                yield from (SarcSequence.of(line, entries, side) for line in lines)

    def write_sequences(
        self, path: Path | str, folder: str = "main", split: str = "", *, balanced: bool = False
    ) -> int:
        """Write `sequences` as .parquet or .jsonl, one row each, and return how many there are.

        deadpan.storage.read_records(path, SarcSequence) reads them.
        """
        return write_records(Path(path), self.sequences(folder, split, balanced=balanced), SarcSequence)
