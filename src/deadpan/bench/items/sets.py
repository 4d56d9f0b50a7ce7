"""Sets of items: public ones come with the package, private and reserve ones stay encrypted."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast, get_args

from deadpan.bench.items.item import family, items_from_bytes, items_to_bytes, read_items
from deadpan.bench.items.sealing import is_sealed, unseal
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Item
from deadpan.registry import unknown
from deadpan.results import Result

Visibility = Literal["public", "private", "reserve"]
DEFAULT_SET = "public@0.3.0"
PASSPHRASE = "DEADPAN_BENCH_PASSPHRASE"
"""The environment variable that may hold the passphrase of sealed sets."""
AskPassphrase = Callable[[], str]


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that are asked together. Items and answers are only ever published if the set is public."""

    name: str
    version: str
    visibility: Visibility
    items: tuple[Item, ...] = field(repr=False)
    hash: str

    @property
    def label(self) -> str:
        """Return name and version, such as public@0.2.0."""
        return f"{self.name}@{self.version}"

    @property
    def public(self) -> bool:
        return self.visibility == "public"


def set_hash(items: Sequence[Item]) -> str:
    """Return a hash of the items that depends neither on the file's name nor on the order of its lines."""
    ordered = sorted(items, key=lambda item: item.id)
    return hashlib.sha256(items_to_bytes(ordered)).hexdigest()


def make_set(name: str, visibility: Visibility, items: Sequence[Item]) -> ItemSet:
    """Return a set, after checking that versions agree and ids differ."""
    versions = sorted({item.version for item in items})
    if len(versions) > 1:
        raise DataError(
            f"set {name}: items of versions {', '.join(versions)} in one set; give them one version"
        )
    ids = [item.id for item in items]
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise DataError(f"set {name}: two items have the id {twice!r}; ids must differ")
    return ItemSet(name, versions[0], visibility, tuple(items), set_hash(items))


def shipped() -> dict[str, str]:
    """Return the sets that come with the package, as label -> file name."""
    names = [entry.name for entry in files("deadpan.bench.items").joinpath("shipped").iterdir()]
    found = {}
    for name in sorted(names):
        if match := re.fullmatch(r"(\w+)-(\d+\.\d+\.\d+)\.jsonl", name):
            found[f"{match[1]}@{match[2]}"] = name
    return found


def open_set(spec: str | Path | ItemSet, ask: AskPassphrase | None = None) -> ItemSet:
    """Return a set by its name (public@0.2.0, or public for the newest version) or by its file.

    The passphrase of a sealed file comes from $DEADPAN_BENCH_PASSPHRASE, or from `ask`.
    """
    if isinstance(spec, ItemSet):
        return spec
    spec = str(spec)
    known = shipped()
    if not re.search(r"[/\\.]", spec.partition("@")[0]):
        newest = [label for label in known if label.partition("@")[0] == spec]
        label = newest[-1] if newest else spec
        if label not in known:
            raise ConfigError(f"{unknown('set', spec, known)}, or name a .jsonl, .toml or .sealed file")
        raw = files("deadpan.bench.items").joinpath("shipped", known[label]).read_bytes()
        name = label.partition("@")[0]
        return make_set(name, cast(Visibility, name), items_from_bytes(raw, Path(known[label])))
    path = Path(spec)
    if is_sealed(path):
        header, raw = unseal(path, find_passphrase(ask))
        items = items_from_bytes(raw, path.with_suffix(".jsonl"))
        return make_set(header.name, cast(Visibility, header.visibility), items)
    name, visibility = _named(path)
    return make_set(name, visibility, read_items(path))


def find_passphrase(ask: AskPassphrase | None = None) -> str:
    """Return the passphrase from the environment, else from `ask`."""
    found = os.environ.get(PASSPHRASE, "")
    if found:
        return found
    if ask is None:
        raise ConfigError(f"a sealed set needs its passphrase: set {PASSPHRASE}")
    return ask()


def _named(path: Path) -> tuple[str, Visibility]:
    """Return name and visibility of a plain file; it is private unless it says that it is public."""
    if path.suffix == ".toml" and path.is_file():
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as bad:
            raise DataError(f"{path}: not TOML: {bad}") from None
        visibility = table.get("visibility", "private")
        if visibility not in get_args(Visibility):
            raise DataError(f"{path}: {unknown('visibility', str(visibility), list(get_args(Visibility)))}")
        return str(table.get("name", path.stem)), visibility
    stem = re.sub(r"-\d+\.\d+\.\d+$", "", path.stem)
    word = re.match(r"public|private|reserve", stem)
    return stem, cast(Visibility, word[0]) if word else "private"


def limited(
    items: Sequence[Item], limit: int | None = None, sample: int | None = None, seed: int = 0
) -> list[Item]:
    """Return about the first `limit` items, or `sample` at random, in whole families: pairs stay pairs."""
    for name, wanted in (("limit", limit), ("sample", sample)):
        if wanted is not None and (not isinstance(wanted, int) or wanted < 1):
            raise ConfigError(f"{name} is {wanted!r}: give a number of items, 1 or more")
    if limit is not None and sample is not None:
        raise ConfigError("--limit and --sample exclude each other: give one of them")
    wanted = limit if sample is None else sample
    if wanted is None or wanted >= len(items):
        return list(items)
    sizes = Counter(family(item) for item in items)
    names = list(sizes) if sample is None else sorted(sizes, key=lambda name: draw(seed, name))
    kept: set[str] = set()
    total = 0
    for name in names:
        if kept and total + sizes[name] > wanted:
            break
        kept.add(name)
        total += sizes[name]
    return [item for item in items if family(item) in kept]


@dataclass(frozen=True, slots=True)
class SetList(Result):
    """The sets that come with the package."""

    sets: tuple[ItemSet, ...]

    def as_dict(self) -> dict[str, object]:
        """Return counts per set."""
        return {"sets": [_counts(each) for each in self.sets]}

    def summary(self) -> Summary:
        """Return one row per set."""
        rows = []
        for each in self.sets:
            languages = Counter(item.language for item in each.items)
            shown = ", ".join(f"{name} {count}" for name, count in languages.items())
            rows.append((each.label, len(each.items), count_pairs(each), shown, each.hash[:12]))
        return Summary((Table(("set", "items", "pairs", "languages", "hash"), tuple(rows)),))


def list_sets() -> SetList:
    """Return the sets that come with the package."""
    return SetList(tuple(open_set(label) for label in shipped()))


def count_pairs(items: ItemSet) -> int:
    """Return the number of minimal pairs."""
    return len({item.pair_id for item in items.items if item.pair_id})


def _counts(items: ItemSet) -> dict[str, object]:
    return {
        "set": items.label,
        "items": len(items.items),
        "pairs": count_pairs(items),
        "languages": dict(Counter(item.language for item in items.items)),
        "categories": dict(Counter(item.category for item in items.items)),
        "hash": items.hash,
    }
