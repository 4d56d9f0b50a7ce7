"""Places of dumps: local files, or files at a URL (s3:, hdfs:, https:, ...) through fsspec."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any, TypeAlias
from urllib.parse import unquote, urlsplit

from deadpan.errors import DataError, need

BLOCK = 1 << 20
_HDFS = "needs Java and Hadoop: set JAVA_HOME, HADOOP_HOME and CLASSPATH (hadoop classpath --glob)"
CURES = {"hdfs": _HDFS, "viewfs": _HDFS}


class RemoteFile:
    """A file at a URL, with the methods of a Path that ingest needs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.name = url.rstrip("/").rpartition("/")[2]
        self.suffix = Path(self.name).suffix

    def __str__(self) -> str:
        return self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemoteFile) and other.url == self.url

    def resolve(self) -> RemoteFile:
        """Return itself: a URL is absolute."""
        return self

    def is_file(self) -> bool:
        system, path = file_system(self.url)
        return bool(system.isfile(path))

    def mark(self) -> list[Any]:
        """Return size and version, which change when the file does."""
        facts = self._facts()
        version = facts.get("ETag") or facts.get("mtime") or facts.get("LastModified") or ""
        return [int(facts["size"]), str(version)]

    def size(self) -> int:
        return int(self._facts()["size"])

    def _facts(self) -> dict[str, Any]:
        system, path = file_system(self.url)
        try:
            return dict(system.info(path))
        except OSError as bad:
            raise DataError(f"{self.url}: cannot be read ({bad})") from None


Place: TypeAlias = Path | RemoteFile


def is_url(text: str) -> bool:
    """Return whether a text is a URL rather than a path."""
    scheme, colon, _ = text.partition(":")
    return bool(colon) and len(scheme) > 1 and scheme.isalnum() and ("://" in text or scheme == "file")


def place_of(text: str) -> Place:
    """Return a path or URL as a place; a file: URL is a local path."""
    if not is_url(text):
        return Path(text)
    parts = urlsplit(text)
    return Path(unquote(parts.path)) if parts.scheme == "file" else RemoteFile(text)


def file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it. Keys and endpoints come from the environment."""
    core: Any = need("fsspec.core", "cloud")
    try:
        system, path = core.url_to_fs(url)
    except (ValueError, ImportError, OSError) as bad:
        reason = str(bad).partition("\n")[0].partition(" dlopen(")[0][:100]
        cure = CURES.get(urlsplit(url).scheme, "pip install 'deadpan[cloud]' for s3:, or copy it here")
        raise DataError(f"{url}: no access to this kind of URL ({reason}): {cure}") from None
    return system, path


def find_remote(url: str) -> Iterator[RemoteFile]:
    """Yield the files at a URL: one, those of a folder to any depth, or those that match a pattern."""
    system, path = file_system(url)
    try:
        if any(sign in path for sign in "*?["):
            found = [name for name in system.glob(path) if system.isfile(name)]
        else:
            found = system.find(path)
    except OSError as bad:
        raise DataError(f"{url}: cannot be listed ({bad}): check the address and the credentials") from None
    host = urlsplit(url).netloc
    for name in sorted(found):
        # A path that begins with a slash, as of HDFS, has lost its host.
        kept = f"{urlsplit(url).scheme}://{host}{name}" if host and name.startswith("/") else ""
        yield RemoteFile(kept or system.unstrip_protocol(name))


def size_at(place: Place) -> int:
    """Return the size of a file in bytes."""
    return place.size() if isinstance(place, RemoteFile) else place.stat().st_size


def read_beside(place: Place, name: str) -> bytes | None:
    """Return the bytes of a small file in the folder of a place, or None if there is none."""
    if isinstance(place, Path):
        beside = place.with_name(name)
        return beside.read_bytes() if beside.is_file() else None
    system, path = file_system(place.url.rpartition("/")[0] + f"/{name}")
    try:
        return bytes(system.cat_file(path)) if system.isfile(path) else None
    except OSError:  # as a server answers that lists no folders
        return None


def mark_of(place: Place) -> list[Any]:
    """Return size and time or version of a file, to tell whether it has changed."""
    if isinstance(place, RemoteFile):
        return place.mark()
    state = place.stat()
    return [state.st_size, state.st_mtime_ns]


def digest_at(place: Place) -> str:
    """Return the SHA-256 of a file."""
    found = hashlib.sha256()
    with open_place(place) as (source, _):
        while block := source.read(BLOCK):
            found.update(block)
    return found.hexdigest()


@contextmanager
def open_place(place: Place) -> Iterator[tuple[IO[bytes], Callable[[], int]]]:
    """Open a file for a decoder, which needs a file descriptor; also return how many bytes were read.

    A remote file comes through a pipe. The decoder of a local one shares our file position.
    """
    if isinstance(place, RemoteFile):
        with _Feed(place) as feed:
            try:
                yield feed.source, lambda: feed.copied
            except DataError:
                feed.check()  # rather than that the file seems truncated
                raise
            feed.check()
    else:
        with place.open("rb", buffering=0) as source:
            yield source, lambda: os.lseek(source.fileno(), 0, os.SEEK_CUR)


class _Feed:
    """A remote file that a thread copies into a pipe."""

    def __init__(self, place: RemoteFile) -> None:
        self.place = place
        self.copied = 0
        self.error: Exception | None = None
        end, self.start = os.pipe()
        self.source: IO[bytes] = os.fdopen(end, "rb", buffering=0)
        self.thread = Thread(target=self._copy, daemon=True)

    def __enter__(self) -> _Feed:
        self.thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.source.close()  # the thread then ends at its next write
        self.thread.join()

    def _copy(self) -> None:
        # The pipe is opened first: whatever fails after that closes it, or the decoder would wait for ever.
        with suppress(BrokenPipeError), os.fdopen(self.start, "wb", buffering=0) as pipe:
            try:
                system, path = file_system(self.place.url)
                with system.open(path, "rb", block_size=8 * BLOCK) as file:
                    while block := file.read(BLOCK):
                        pipe.write(block)
                        self.copied += len(block)
            except BrokenPipeError:
                pass
            except Exception as bad:  # noqa: BLE001 (of any file system; raised where the dump is read)
                self.error = bad

    def check(self) -> None:
        """Raise the error that ended the copying early."""
        if self.error:
            raise DataError(f"{self.place.url}: cannot be read ({self.error}): run the command again")
