"""Sets of items: public ones come with the package, private and reserve ones stay encrypted.

A sealed file has a line that names the format, a JSON header in clear text (name, version, key settings,
hash of the set) and the encrypted bytes: scrypt derives the key, ChaCha20-Poly1305 encrypts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast, get_args

from deadpan.bench.items.item import ORGANIC, family, items_from_bytes, items_to_bytes, read_items, write_items
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError, need
from deadpan.page.summary import Summary
from deadpan.page.table import Table
from deadpan.records import Item
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.storage import atomic

Visibility = Literal["public", "private", "reserve"]
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
        """Return name and version, such as public@0.3.0."""
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
        raise DataError(f"set {name}: items of versions {', '.join(versions)} in one set; give them one version")
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
    """Return a set by its name (public@0.3.0, or public for the newest version) or by its file.

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
    items = read_items(path)
    if all(item.category == ORGANIC and item.tags for item in items):  # real texts are never published
        return make_set(items[0].tags[0], "private", items)
    name, visibility = _named(path)
    return make_set(name, visibility, items)


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


def limited(items: Sequence[Item], limit: int | None = None, sample: int | None = None, seed: int = 0) -> list[Item]:
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
            notes=(f"Sealed {self.items} items in {self.path}.", "Keep the passphrase: without it the items are lost.")
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
    return RetiredSet(out, make_set("public", "public", items), hidden.hash, following[1] if following else None)


_MAGIC = b"deadpan sealed set 1\n"
SALT, NONCE, KEY = 16, 12, 32
COST, _BLOCK, LANES = 2**16, 8, 1
"""Settings of scrypt: each guess of the passphrase costs 64 MB and a fraction of a second."""
HIGHEST_COST = 2**20
SHORTEST = 8


@dataclass(frozen=True, slots=True)
class SealHeader:
    """The clear-text header of a sealed file."""

    name: str
    version: str
    visibility: str
    hash: str
    salt: str
    nonce: str
    cost: int = COST
    block: int = _BLOCK
    lanes: int = LANES


def is_sealed(path: Path) -> bool:
    """Return whether a file is a sealed set."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def seal(
    path: Path,
    plain: bytes,
    passphrase: str,
    *,
    name: str,
    version: str,
    visibility: str,
    hash: str,
    entropy: Callable[[int], bytes] = os.urandom,
) -> SealHeader:
    """Write `plain` encrypted; an existing file is never overwritten."""
    if len(passphrase) < SHORTEST:
        raise ConfigError(f"the passphrase is too short: use {SHORTEST} characters or more")
    if path.exists():
        raise DataError(f"{path}: already exists: choose another --out")
    salt, nonce = entropy(SALT), entropy(NONCE)
    header = SealHeader(name, version, visibility, hash, _text(salt), _text(nonce))
    readable = json.dumps(asdict(header)).encode() + b"\n"
    sealed = _cipher(passphrase, header).encrypt(nonce, plain, _MAGIC + readable)
    with atomic(path) as temporary:
        temporary.write_bytes(_MAGIC + readable + sealed)
    return header


def unseal(path: Path, passphrase: str) -> tuple[SealHeader, bytes]:
    """Return the header and the decrypted bytes. A wrong passphrase and a changed file look alike."""
    exceptions = need("cryptography.exceptions", "bench")
    header, readable, sealed = _parts(path)
    try:
        plain = _cipher(passphrase, header).decrypt(_bytes(header.nonce), sealed, _MAGIC + readable)
    except exceptions.InvalidTag:
        raise DataError(f"{path}: wrong passphrase, or the file was changed: try again") from None
    return header, plain


def _parts(path: Path) -> tuple[SealHeader, bytes, bytes]:
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: check the path") from None
    readable, newline, sealed = raw.removeprefix(_MAGIC).partition(b"\n")
    try:
        if not raw.startswith(_MAGIC) or not newline:
            raise ValueError("the first lines are missing")
        header = SealHeader(**json.loads(readable))
        if len(_bytes(header.salt)) != SALT or len(_bytes(header.nonce)) != NONCE:
            raise ValueError("the salt or nonce has a wrong size")
        # A forged header must not use up all memory before the tag is checked.
        if not (2**14 <= header.cost <= HIGHEST_COST and header.block == _BLOCK and header.lanes == LANES):
            raise ValueError("the key settings are out of range")
    except (ValueError, TypeError) as bad:
        raise DataError(f"{path}: not a sealed set of deadpan ({bad}): download or copy it again") from None
    return header, readable + b"\n", sealed


def _cipher(passphrase: str, header: SealHeader):  # type: ignore[no-untyped-def]  # the library comes with an extra
    need("cryptography", "bench")
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    kdf = Scrypt(salt=_bytes(header.salt), length=KEY, n=header.cost, r=header.block, p=header.lanes)
    return ChaCha20Poly1305(kdf.derive(passphrase.encode("utf-8")))


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
