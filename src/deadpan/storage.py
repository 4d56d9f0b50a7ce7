"""Records to JSONL and Parquet and back, exactly; files that are whole or not there; manifests."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from deadpan import __version__
from deadpan.columns import arrow_schema, batch_to_records, records_to_batch
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.fields import decode, encode

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")
BATCH = 16_384

# ---------------------------------------------------------------- files that are whole or not there


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary name beside `path`; renamed to it when the block ends well, removed when it does not."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        _flush(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until the bytes are on the disk, so that a rename never uncovers an empty file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sweep(path: Path) -> None:
    """Remove what a killed run left beside `path`: temporaries whose process is gone."""
    for leftover in path.parent.glob(f".{path.name}.*.tmp"):
        pid = leftover.name.split(".")[-2]
        if pid.isdigit() and not _alive(int(pid)):
            leftover.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def write_text(path: Path, text: str) -> None:
    """Write a small text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def write_json(path: Path, value: object) -> None:
    """Write a small JSON file atomically, readable by people."""
    write_text(path, json.dumps(value, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON file, or say where it breaks."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text; convert it first") from None
    except json.JSONDecodeError as bad:
        raise DataError(f"{path}:{bad.lineno}: not JSON ({bad.msg}); is the file whole?") from None


# ---------------------------------------------------------------- records


def write_records(path: Path, records: Iterable[R], kind: type[R]) -> int:
    """Write records as .jsonl or .parquet, by the name; the number written."""
    path = Path(path)
    writers = {".jsonl": _write_jsonl, ".parquet": _write_parquet}
    if path.suffix not in writers:
        raise ConfigError(f"{path}: name it .jsonl or .parquet, so that the format is known")
    with atomic(path) as temporary:
        return writers[path.suffix](temporary, records, kind)


def read_records(path: Path, kind: type[R]) -> Iterator[R]:
    """Read records of one kind from .jsonl or .parquet, as a stream."""
    path = Path(path)
    readers = {".jsonl": _read_jsonl, ".parquet": _read_parquet}
    if path.suffix not in readers:
        raise ConfigError(f"{path}: expected a .jsonl or .parquet file")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return readers[path.suffix](path, kind)


def _write_jsonl(path: Path, records: Iterable[R], kind: type[R]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, record in enumerate(records, 1):
            try:
                line = json.dumps(encode(record), ensure_ascii=False, allow_nan=False)
                file.write(line + "\n")
            except (TypeError, ValueError) as bad:  # UnicodeEncodeError is a ValueError
                raise DataError(f"{kind.__name__} {count} cannot be written as JSON: {bad}") from None
    return count


def _read_jsonl(path: Path, kind: type[R]) -> Iterator[R]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
            except ValueError as bad:  # JSONDecodeError and UnicodeDecodeError alike
                raise DataError(f"{path}:{number}: not a JSON line ({bad}); is the file whole?") from None
            try:
                yield decode(value, kind)
            except (TypeError, ValueError) as bad:
                raise DataError(f"{path}:{number}: not a {kind.__name__}: {bad}") from None


def write_batches(path: Path, batches: Iterable[pa.RecordBatch], kind: type[Any]) -> int:
    """Write records that are columns already as .parquet; the number written."""
    if Path(path).suffix != ".parquet":
        raise ConfigError(f"{path}: columns are written as .parquet; name it so")
    with atomic(Path(path)) as temporary:
        return _pack(temporary, batches, kind)


def _write_parquet(path: Path, records: Iterable[R], kind: type[R]) -> int:
    return _pack(path, record_batches(records, kind), kind)


def record_batches(records: Iterable[R], kind: type[R]) -> Iterator[pa.RecordBatch]:
    """Records as columns, some thousand at a time."""
    import pyarrow as pa

    schema = arrow_schema(kind)
    count = 0
    source = iter(records)
    while some := list(islice(source, BATCH)):
        try:
            yield records_to_batch(some, kind, schema)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as bad:
            place = f"{kind.__name__} {count + 1} to {count + len(some)}"
            raise DataError(f"{place} cannot be written as Parquet: {bad}") from None
        count += len(some)


def _pack(path: Path, batches: Iterable[pa.RecordBatch], kind: type[Any]) -> int:
    """A second thread compresses one batch while the next is read: Arrow does that outside Python's lock."""
    import pyarrow.parquet as pq

    schema = arrow_schema(kind).with_metadata({"deadpan": __version__, "record": kind.__name__})
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer, ThreadPoolExecutor(1) as packer:
        packed: Future[None] | None = None
        for batch in batches:
            if packed:
                packed.result()
            packed = packer.submit(writer.write_batch, batch)
            count += batch.num_rows
        if packed:
            packed.result()
    return count


def _read_parquet(path: Path, kind: type[R]) -> Iterator[R]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            missing = set(arrow_schema(kind).names) - set(file.schema_arrow.names)
            if missing:
                raise DataError(f"{path}: not a file of {kind.__name__}: no column {sorted(missing)[0]!r}")
            for batch in file.iter_batches(BATCH):
                yield from batch_to_records(batch, kind)
    except (pa.ArrowInvalid, OSError) as bad:
        reason = str(bad).splitlines()[0]
        raise DataError(f"{path}: not a Parquet file, or cut off ({reason})") from None


# ---------------------------------------------------------------- manifests


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where the files of a folder come from: enough to make them again.

    It holds no clock and no machine name, so the same input, config and seed give the same manifest.
    """

    command: str
    config: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    changes: Mapping[str, int] = field(default_factory=dict)
    version: str = __version__


def digest(path: Path) -> str:
    """SHA-256 of a file, whatever its size."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_path(output: Path) -> Path:
    """manifest.json in an output folder; beside a single output file, <name>.manifest.json."""
    return output / "manifest.json" if output.is_dir() else output.with_name(f"{output.name}.manifest.json")


def write_manifest(
    output: Path,
    *,
    command: str,
    config: Mapping[str, Any] | None = None,
    seed: int | None = None,
    inputs: Iterable[Path] = (),
    counts: Mapping[str, int] | None = None,
    tally: Tally | None = None,
) -> Manifest:
    """Describe a finished output folder (every file in it) or a single output file. Written last, on purpose:
    a folder without a manifest is one whose making was cut short."""
    target = manifest_path(output)
    files = (
        sorted(p for p in output.rglob("*") if p.is_file() and p != target and not p.name.startswith("."))
        if output.is_dir()
        else [output]
    )
    base = output if output.is_dir() else output.parent
    tally = tally or Tally()
    manifest = Manifest(
        command=command,
        config=dict(config or {}),
        seed=seed,
        inputs={path.name: digest(path) for path in sorted(set(inputs))},
        files={
            p.relative_to(base).as_posix(): {"bytes": p.stat().st_size, "sha256": digest(p)} for p in files
        },
        counts=dict(counts or {}),
        drops=dict(sorted(tally.drops.items())),
        changes=dict(sorted(tally.changes.items())),
    )
    write_json(target, encode(manifest))
    return manifest


def read_manifest(output: Path) -> Manifest:
    """The manifest of an output folder or file."""
    path = manifest_path(output)
    try:
        return decode(read_json(path), Manifest)
    except (TypeError, ValueError) as bad:
        raise DataError(f"{path}: not a manifest of deadpan: {bad}") from None
