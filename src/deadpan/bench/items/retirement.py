"""Rotation of hidden sets: a private set is retired to the public, and a reserve set takes its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from deadpan.bench.items.item import write_items
from deadpan.bench.items.sealed_sets import seal_set
from deadpan.bench.items.sealing import is_sealed
from deadpan.bench.items.sets import AskPassphrase, ItemSet, make_set, open_set
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.results import Result


@dataclass(frozen=True, slots=True)
class RetiredSet(Result):
    """A hidden set that was published under a version, and the set that took its place."""

    out: Path
    set: ItemSet
    hidden_hash: str
    follower: Path | None

    def as_dict(self) -> dict[str, object]:
        """Return the public file, its hash, the hash it had while it was hidden, and the next private set."""
        found = {"out": str(self.out), "set": self.set.label, "items": len(self.set.items)}
        follower = None if self.follower is None else str(self.follower)
        return {**found, "hash": self.set.hash, "hidden_hash": self.hidden_hash, "private": follower}

    def summary(self) -> Summary:
        """Return what is public now, and what is asked from now on."""
        notes = [
            f"{self.out}: {len(self.set.items)} items, public as {self.set.label} ({self.set.hash[:12]}).",
            f"Its scores so far were of {self.hidden_hash[:12]}; models may be trained on it from now on.",
        ]
        if self.follower is not None:
            notes.append(f"{self.follower} is the private set from now on.")
        return Summary(notes=tuple(notes))


def retire_set(
    sealed: Path,
    out: Path,
    *,
    version: str,
    following: tuple[Path, Path] | None = None,
    ask: AskPassphrase | None = None,
) -> RetiredSet:
    """Publish a sealed set under a new version; `following`: a reserve, and where to seal it as private.

    The items keep their ids, keys and canaries, so that runs of the hidden set stay comparable row by row.
    No file is overwritten, and nothing is written unless everything can be.
    """
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise ConfigError(f"version {version!r}: give three numbers, such as 0.4.0")
    if not re.match(r"public.*\.jsonl$", out.name):
        raise ConfigError(f"{out}: name it public-{version}.jsonl: by its name it is read as a public set")
    if not is_sealed(sealed):
        raise DataError(f"{sealed}: not a sealed set: only a hidden set can be retired")
    for path in (out, *(following or ())[1:]):
        if path.exists():
            raise DataError(f"{path}: already exists: choose another")
    hidden = open_set(sealed, ask)
    items = tuple(replace(item, version=version) for item in hidden.items)
    if following:
        reserve, private = following
        if both := {item.id for item in items} & {item.id for item in open_set(reserve, ask).items}:
            raise DataError(f"{reserve}: item {min(both)} is in both sets: it would be public and private")
        seal_set(reserve, private, visibility="private", ask=ask, ask_new=ask)
    write_items(out, items)
    return RetiredSet(
        out, make_set("public", "public", items), hidden.hash, following[1] if following else None
    )
