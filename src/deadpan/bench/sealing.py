"""A private set under a passphrase: scrypt makes the key, ChaCha20-Poly1305 hides items and shows tampering.

The file is one line that says what it is, one line of JSON that anybody may read (name, version, key
settings, the set's hash) and the sealed bytes. The readable line is authenticated with them.
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
"""scrypt's settings: 64 MB and a noticeable fraction of a second for every guess."""
HIGHEST_COST = 2**20
SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Header:
    """What a sealed file says of itself without the passphrase."""

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
    """Whether a file begins as a sealed set does."""
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
) -> Header:
    """Write `plain` sealed; never over a file that is there."""
    if len(passphrase) < SHORTEST:
        raise ConfigError(f"the passphrase is too short: use {SHORTEST} characters or more")
    if path.exists():
        raise DataError(f"{path}: is there already; name another --out")
    salt, nonce = entropy(SALT), entropy(NONCE)
    header = Header(name, version, visibility, hash, _text(salt), _text(nonce))
    readable = json.dumps(asdict(header)).encode() + b"\n"
    sealed = _cipher(passphrase, header).encrypt(nonce, plain, MAGIC + readable)
    with atomic(path) as temporary:
        temporary.write_bytes(MAGIC + readable + sealed)
    return header


def unseal(path: Path, passphrase: str) -> tuple[Header, bytes]:
    """The header and the plain bytes, or one error for a wrong passphrase and for a changed file alike."""
    exceptions = need("cryptography.exceptions", "bench")
    header, readable, sealed = _parts(path)
    try:
        plain = _cipher(passphrase, header).decrypt(_bytes(header.nonce), sealed, MAGIC + readable)
    except exceptions.InvalidTag:
        raise DataError(
            f"{path}: wrong passphrase, or the file was changed; nothing was opened. Try again"
        ) from None
    return header, plain


def read_header(path: Path) -> Header:
    """What anybody may know of a sealed file."""
    return _parts(path)[0]


def _parts(path: Path) -> tuple[Header, bytes, bytes]:
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    readable, newline, sealed = raw.removeprefix(MAGIC).partition(b"\n")
    try:
        if not raw.startswith(MAGIC) or not newline:
            raise ValueError("its first lines are missing")
        header = Header(**json.loads(readable))
        if len(_bytes(header.salt)) != SALT or len(_bytes(header.nonce)) != NONCE:
            raise ValueError("its salt or nonce has a wrong size")
        # A crafted header must not make us spend all memory before the tag is checked.
        if not (2**14 <= header.cost <= HIGHEST_COST and header.block == BLOCK and header.lanes == LANES):
            raise ValueError("its key settings are out of range")
    except (ValueError, TypeError) as bad:
        raise DataError(f"{path}: not a sealed set of deadpan ({bad}); get the file again") from None
    return header, readable + b"\n", sealed


def _cipher(passphrase: str, header: Header):  # type: ignore[no-untyped-def]  # the library comes with an extra
    need("cryptography", "bench")
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    kdf = Scrypt(salt=_bytes(header.salt), length=KEY, n=header.cost, r=header.block, p=header.lanes)
    return ChaCha20Poly1305(kdf.derive(passphrase.encode("utf-8")))


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
