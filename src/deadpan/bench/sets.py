"""Sets of items: public ones that are shipped, private and reserve ones that stay sealed."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast, get_args

from deadpan.bench.items import family, items_from_bytes, items_to_bytes, read_items
from deadpan.bench.sealing import is_sealed, unseal
from deadpan.errors import ConfigError, DataError
from deadpan.records import Item
from deadpan.registry import unknown

Visibility = Literal["public", "private", "reserve"]
DEFAULT_SET = "public@0.2.0"


@dataclass(frozen=True, slots=True)
class ItemSet:
    """Items that are asked together. Only of a public one may items or answers ever be shown."""

    name: str
    version: str
    visibility: Visibility
    items: tuple[Item, ...]
    hash: str

    @property
    def label(self) -> str:
        """How people name it: public@0.2.0."""
        return f"{self.name}@{self.version}"

    @property
    def public(self) -> bool:
        return self.visibility == "public"


def set_hash(items: Sequence[Item]) -> str:
    """What a set is, whatever its file is called and however its lines are ordered."""
    ordered = sorted(items, key=lambda item: item.id)
    return hashlib.sha256(items_to_bytes(ordered)).hexdigest()


def make_set(name: str, visibility: Visibility, items: Sequence[Item]) -> ItemSet:
    """A set of items that agree on their version."""
    versions = sorted({item.version for item in items})
    if len(versions) > 1:
        raise DataError(f"set {name}: items of versions {', '.join(versions)} in one set; give them one")
    ids = [item.id for item in items]
    if len(set(ids)) < len(ids):
        twice = next(each for each in ids if ids.count(each) > 1)
        raise DataError(f"set {name}: two items have the id {twice!r}; ids must differ")
    return ItemSet(name, versions[0], visibility, tuple(items), set_hash(items))


def shipped() -> dict[str, str]:
    """The sets that come with the package: label -> file name."""
    names = [entry.name for entry in files("deadpan.bench").joinpath("sets").iterdir()]
    found = {}
    for name in sorted(names):
        if match := re.fullmatch(r"(\w+)-(\d+\.\d+\.\d+)\.jsonl", name):
            found[f"{match[1]}@{match[2]}"] = name
    return found


def open_set(spec: str, passphrase: Callable[[], str] | None = None) -> ItemSet:
    """A set by its shipped name (public@0.2.0, or public for the newest) or by its file, sealed or plain."""
    known = shipped()
    if not re.search(r"[/\\.]", spec.partition("@")[0]):
        newest = [label for label in known if label.partition("@")[0] == spec]
        label = newest[-1] if newest else spec
        if label not in known:
            raise ConfigError(f"{unknown('set', spec, known)}, or name a .jsonl, .toml or .sealed file")
        raw = files("deadpan.bench").joinpath("sets", known[label]).read_bytes()
        name = label.partition("@")[0]
        return make_set(name, cast(Visibility, name), items_from_bytes(raw, Path(known[label])))
    path = Path(spec)
    if is_sealed(path):
        if passphrase is None:
            raise ConfigError(f"{path} is sealed: a passphrase is needed")
        header, raw = unseal(path, passphrase())
        items = items_from_bytes(raw, path.with_suffix(".jsonl"))
        return make_set(header.name, cast(Visibility, header.visibility), items)
    name, visibility = _named(path)
    return make_set(name, visibility, read_items(path))


def _named(path: Path) -> tuple[str, Visibility]:
    """A plain file's name and visibility. What does not say that it is public is private: safe first."""
    if path.suffix == ".toml" and path.is_file():
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as bad:
            raise DataError(f"{path}: not TOML: {bad}") from None
        visibility = table.get("visibility", "private")
        if visibility not in get_args(Visibility):
            raise DataError(f"{path}: {unknown('visibility', str(visibility), list(get_args(Visibility)))}")
        return str(table.get("name", path.stem)), visibility
    stem = re.sub(r"-\d+\.\d+\.\d+$", "", path.stem)
    word = re.match(r"public|private|reserve", stem)
    return stem, cast(Visibility, word[0]) if word else "private"


def limited(items: Sequence[Item], limit: int | None) -> list[Item]:
    """About the first `limit` items, in whole families, so that pairs can still be scored."""
    if limit is None or limit >= len(items):
        return list(items)
    if limit < 1:
        raise ConfigError(f"--limit needs 1 or more, got {limit}")
    kept: dict[str, None] = {}
    sizes: dict[str, int] = {}
    for item in items:
        sizes[family(item)] = sizes.get(family(item), 0) + 1
    total = 0
    for name, size in sizes.items():
        if kept and total + size > limit:
            break
        kept[name] = None
        total += size
    return [item for item in items if family(item) in kept]
