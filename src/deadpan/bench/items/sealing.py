"""Encryption of private sets: scrypt derives the key, ChaCha20-Poly1305 encrypts and authenticates.

A sealed file has a line that names the format, a JSON header in clear text (name, version, key settings,
hash of the set) and the encrypted bytes. The header is authenticated too.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from deadpan.errors import ConfigError, DataError, need
from deadpan.storage import atomic

MAGIC = b"deadpan sealed set 1\n"
SALT, NONCE, KEY = 16, 12, 32
COST, BLOCK, LANES = 2**16, 8, 1
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
    block: int = BLOCK
    lanes: int = LANES


def is_sealed(path: Path) -> bool:
    """Return whether a file is a sealed set."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
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
    sealed = _cipher(passphrase, header).encrypt(nonce, plain, MAGIC + readable)
    with atomic(path) as temporary:
        temporary.write_bytes(MAGIC + readable + sealed)
    return header


def unseal(path: Path, passphrase: str) -> tuple[SealHeader, bytes]:
    """Return the header and the decrypted bytes. A wrong passphrase and a changed file look alike."""
    exceptions = need("cryptography.exceptions", "bench")
    header, readable, sealed = _parts(path)
    try:
        plain = _cipher(passphrase, header).decrypt(_bytes(header.nonce), sealed, MAGIC + readable)
    except exceptions.InvalidTag:
        raise DataError(f"{path}: wrong passphrase, or the file was changed: try again") from None
    return header, plain


def _parts(path: Path) -> tuple[SealHeader, bytes, bytes]:
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file: check the path") from None
    readable, newline, sealed = raw.removeprefix(MAGIC).partition(b"\n")
    try:
        if not raw.startswith(MAGIC) or not newline:
            raise ValueError("the first lines are missing")
        header = SealHeader(**json.loads(readable))
        if len(_bytes(header.salt)) != SALT or len(_bytes(header.nonce)) != NONCE:
            raise ValueError("the salt or nonce has a wrong size")
        # A forged header must not use up all memory before the tag is checked.
        if not (2**14 <= header.cost <= HIGHEST_COST and header.block == BLOCK and header.lanes == LANES):
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
