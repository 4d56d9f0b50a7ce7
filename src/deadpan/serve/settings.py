"""Settings of the service: what it offers, to whom, and how much of it."""

from __future__ import annotations

import hashlib
import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from deadpan.errors import ConfigError, DataError

_SHORTEST_KEY = 16


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """Models, address, keys and limits. The defaults are for one person on their own machine."""

    models: tuple[str, ...] = ()
    """Folders of saved detectors, or NAME=FOLDER; the detector `base` is always there."""
    encoder: bool = True
    """Serve the detector `encoder`, too, if its weights have been pulled."""
    host: str = "127.0.0.1"
    port: int = 8080
    keys: frozenset[str] = field(default=frozenset(), repr=False)
    """SHA-256 of the keys that are let in; without any, everybody is."""
    open: bool = False
    """Serve other machines without keys."""
    origins: tuple[str, ...] = ()
    """Pages of other sites that may call the service from a browser."""
    rate: int = 600
    """Requests per minute and key, or per address where there are no keys; 0: no limit."""
    waiting: int = 65_536
    """Texts that may wait for a detector; beyond that the service answers that it is busy."""
    reader: str = ""
    """Language model that is asked what the speaker means; empty: one that has been pulled, if any."""
    base_url: str = ""

    def __post_init__(self) -> None:
        for name, lowest in (("rate", 0), ("waiting", 1)):
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name} is {getattr(self, name)}: give {lowest} or more")
        if not (self.keys or self.open or is_loopback(self.host)):
            raise ConfigError(
                f"{self.host} is reachable by other machines: give --keys FILE, or --open to let everybody in"
            )


def is_loopback(host: str) -> bool:
    """Return True if only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def read_keys(path: Path) -> frozenset[str]:
    """Return the hashes of the keys in a file, one per line; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as bad:
        raise DataError(f"{path}: the keys cannot be read ({bad}): write one key per line") from None
    keys = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not keys:
        raise DataError(f"{path}: no key in it: write one per line")
    if short := next((n for n, key in enumerate(keys, 1) if len(key) < _SHORTEST_KEY), 0):
        raise DataError(f"{path}: key {short} has under {_SHORTEST_KEY} characters: make one with openssl rand -hex 24")
    return frozenset(map(hash_key, keys))


def hash_key(key: str) -> str:
    """Return the hash by which a key is known; keys themselves are not kept."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
