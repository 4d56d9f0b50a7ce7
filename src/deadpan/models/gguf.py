"""The header of a GGUF file: what the weights say of themselves, read without loading them."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from deadpan.errors import ModelError

_MAGIC = b"GGUF"
STRING, ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LONGEST = 1 << 24
"""More bytes or entries than any sound header holds in one value."""


@dataclass(frozen=True, slots=True)
class Gguf:
    """The metadata of a GGUF file that tells which model it is."""

    architecture: str
    name: str
    licence: str
    """Empty where the file does not say."""
    has_chat_template: bool
    context_length: int


def read_gguf(path: Path) -> Gguf:
    """Read the metadata of a GGUF file; anything else is an error in one line."""
    try:
        with path.open("rb") as file:
            found = _metadata(file)
    except (struct.error, ValueError, KeyError, OverflowError, MemoryError) as bad:
        raise ModelError(f"{path}: not a GGUF file ({bad}): pull it again") from None
    architecture = str(found.get("general.architecture", ""))
    return Gguf(
        architecture,
        str(found.get("general.name", "")),
        str(found.get("general.license", "")),
        bool(found.get("tokenizer.chat_template")),
        int(found.get(f"{architecture}.context_length", 0)),
    )


def check_gguf(path: Path, architecture: str, licence: str, *, chat: bool = True) -> None:
    """Raise an error unless the file is of this architecture and licence and, to chat, has a template."""
    header = read_gguf(path)
    if header.architecture != architecture:
        raise ModelError(f"{path.name}: its architecture is {header.architecture!r}, not {architecture!r}")
    if header.licence and header.licence.lower() not in licence.lower():
        raise ModelError(f"{path.name}: its licence is {header.licence!r}, not {licence!r}")
    if chat and not header.has_chat_template:
        raise ModelError(f"{path.name}: it has no chat template, so it cannot answer messages")


def _metadata(file: IO[bytes]) -> dict[str, Any]:
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin with GGUF")
    version, _, count = struct.unpack("<IQQ", _read(file, 20))
    if version not in (2, 3):
        raise ValueError(f"version {version}")
    if count > _LONGEST:
        raise ValueError(f"{count} entries")
    found: dict[str, Any] = {}
    for _ in range(count):
        name = _string(file)
        (kind,) = struct.unpack("<I", _read(file, 4))
        found[name] = _value(file, kind)
    return found


def _value(file: IO[bytes], kind: int) -> Any:
    """Read one value. The content of an array is skipped."""
    if kind == STRING:
        return _string(file)
    if kind == ARRAY:
        inner, count = struct.unpack("<IQ", _read(file, 12))
        if count > _LONGEST:
            raise ValueError(f"an array of {count} entries")
        if inner in _NUMBERS:
            file.seek(struct.calcsize(_NUMBERS[inner]) * count, 1)
        elif inner == STRING:
            for _ in range(count):
                _string(file)
        else:
            raise ValueError(f"an array of type {inner}")
        return count
    if kind not in _NUMBERS:
        raise ValueError(f"a value of type {kind}")
    form = "<" + _NUMBERS[kind]
    return struct.unpack(form, _read(file, struct.calcsize(form)))[0]


def _string(file: IO[bytes]) -> str:
    (size,) = struct.unpack("<Q", _read(file, 8))
    if size > _LONGEST:
        raise ValueError(f"a string of {size} bytes")
    return _read(file, size).decode("utf-8", "replace")


def _read(file: IO[bytes], size: int) -> bytes:
    content = file.read(size)
    if len(content) < size:
        raise ValueError("it ends early")
    return content
