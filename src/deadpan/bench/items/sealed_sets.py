"""Sealed sets: encrypt a set with a passphrase, and decrypt it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deadpan.bench.items.item import items_to_bytes
from deadpan.bench.items.sealing import seal, unseal
from deadpan.bench.items.sets import AskPassphrase, ItemSet, Visibility, find_passphrase, open_set
from deadpan.errors import DataError
from deadpan.page.summary import Summary
from deadpan.results import Result
from deadpan.storage import atomic


@dataclass(frozen=True, slots=True)
class SealedSet(Result):
    """A set that was encrypted."""

    path: Path
    items: int
    hash: str

    def as_dict(self) -> dict[str, object]:
        """Return the file, the number of items and the hash of the set."""
        return {"sealed": str(self.path), "items": self.items, "hash": self.hash}

    def summary(self) -> Summary:
        """Return where the file is."""
        return Summary(
            notes=(
                f"Sealed {self.items} items in {self.path}.",
                "Keep the passphrase: without it the items are lost.",
            )
        )


@dataclass(frozen=True, slots=True)
class OpenedSet(Result):
    """A set that was decrypted to a file."""

    path: Path
    set: str
    hash: str

    def as_dict(self) -> dict[str, object]:
        """Return the file, the set and its hash."""
        return {"opened": str(self.path), "set": self.set, "hash": self.hash}

    def summary(self) -> Summary:
        """Return where the file is."""
        return Summary(notes=(f"Opened {self.set} to {self.path}: do not publish it.",))


def seal_set(
    items: str | Path | ItemSet,
    out: Path,
    *,
    visibility: Visibility = "private",
    ask: AskPassphrase | None = None,
    ask_new: AskPassphrase | None = None,
) -> SealedSet:
    """Encrypt a set. The passphrase comes from $DEADPAN_BENCH_PASSPHRASE, or from `ask_new`."""
    opened = open_set(items, ask)
    seal(
        Path(out), items_to_bytes(opened.items), find_passphrase(ask_new),
        name=visibility, version=opened.version, visibility=visibility, hash=opened.hash,
    )  # fmt: skip
    return SealedSet(Path(out), len(opened.items), opened.hash)


def open_sealed(sealed: Path, out: Path, *, ask: AskPassphrase | None = None) -> OpenedSet:
    """Decrypt a sealed set to a .jsonl file that only its owner can read; never overwrite a file."""
    if out.exists():
        raise DataError(f"{out}: already exists: choose another --out")
    header, plain = unseal(sealed, find_passphrase(ask))
    with atomic(out) as temporary:
        temporary.touch(mode=0o600)
        temporary.write_bytes(plain)
    return OpenedSet(out, f"{header.name}@{header.version}", header.hash)
