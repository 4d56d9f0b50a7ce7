"""Records as JSONL and Arrow columns (Parquet), settings as TOML, atomic writes, and manifests."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from itertools import accumulate, chain, islice
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import orjson

from deadpan import __version__
from deadpan.arguments import check_path, iter_records
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError, need
from deadpan.validation import (
    decode,
    decode_line,
    encode,
    encode_line,
    field_types,
    is_mapping_type,
    is_record_type,
    without_none,
)

if TYPE_CHECKING:
    import pyarrow as pa


_R = TypeVar("_R")
_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_PLAIN = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


def arrow_schema(kind: type[Any]) -> pa.Schema:
    """Return the schema of a record type. Mappings become JSON text, since their keys differ by row."""
    pa = need("pyarrow", "parquet")
    return pa.schema([(name, _arrow_type(hint)) for name, hint in field_types(kind).items()])


def _arrow_type(hint: Any) -> pa.DataType:
    import pyarrow as pa

    hint = without_none(hint)
    if is_record_type(hint):
        return pa.struct([(name, _arrow_type(part)) for name, part in field_types(hint).items()])
    if get_origin(hint) is tuple:
        return pa.list_(_arrow_type(get_args(hint)[0]))
    simple = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return simple.get(hint, pa.string())


def records_to_batch(records: Sequence[_R], kind: type[_R], schema: pa.Schema) -> pa.RecordBatch:
    """Return records as a batch of columns."""
    import pyarrow as pa

    arrays = [_to_array(list(map(attrgetter(name), records)), hint) for name, hint in field_types(kind).items()]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _to_array(values: list[Any], hint: Any) -> pa.Array:
    import pyarrow as pa

    hint = without_none(hint)
    if is_record_type(hint):
        names = field_types(hint)
        parts = [_to_array(list(map(attrgetter(name), values)), part) for name, part in names.items()]
        return pa.StructArray.from_arrays(parts, fields=list(_arrow_type(hint)))
    if get_origin(hint) is tuple:
        offsets = pa.array([0, *accumulate(map(len, values))], pa.int32())
        flat = _to_array(list(chain.from_iterable(values)), get_args(hint)[0])
        return pa.ListArray.from_arrays(offsets, flat, type=_arrow_type(hint))
    if is_mapping_type(hint):
        values = [json_text(value if type(value) is dict else dict(value)) for value in values]
    return pa.array(values, _arrow_type(hint))


def json_text(value: dict[str, Any]) -> str | bytes:
    """Return JSON text, by orjson where it is exact: it writes NaN as null and refuses huge integers."""
    try:
        text = orjson.dumps(value, option=_PLAIN)
    except TypeError:
        return _JSON(value)
    return _JSON(value) if b"null" in text else text


def batch_to_records(batch: pa.RecordBatch, kind: type[_R]) -> list[_R]:
    """Return the records of a batch."""
    columns = [_from_array(batch.column(name), hint) for name, hint in field_types(kind).items()]
    return [kind(*row) for row in zip(*columns, strict=True)]


def _from_array(array: pa.Array, hint: Any) -> list[Any]:
    hint = without_none(hint)
    if is_record_type(hint):
        parts = [_from_array(array.field(i), part) for i, part in enumerate(field_types(hint).values())]
        return [hint(*row) for row in zip(*parts, strict=True)]
    if get_origin(hint) is tuple:
        flat = _from_array(array.flatten(), get_args(hint)[0])
        ends = list(accumulate(array.value_lengths().fill_null(0).to_pylist()))
        return [tuple(flat[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
    values: list[Any] = array.to_pylist()
    return [json.loads(value) for value in values] if is_mapping_type(hint) else values


BATCH = 16_384

# ---------------------------------------------------------------- atomic writes


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path; it is renamed to `path` when the block succeeds and removed when it fails."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())  # a rename must never expose a file whose bytes are not on disk
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove temporary files of `path` whose process no longer runs."""
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
    """Read a JSON file; an error names the line that is not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not UTF-8 text: save it as UTF-8") from None
    except json.JSONDecodeError as bad:
        raise DataError(f"{path}:{bad.lineno}: not JSON ({bad.msg}); is the file complete?") from None
    except RecursionError:
        raise DataError(f"{path}: JSON nested too deeply: is this the right file?") from None
    except ValueError as bad:  # a number of thousands of digits
        raise DataError(f"{path}: not JSON that can be read ({bad}); is this the right file?") from None


# ---------------------------------------------------------------- records


def write_records(path: Path, records: Iterable[_R], kind: type[_R]) -> int:
    """Write records of one kind as .jsonl or .parquet, and return how many were written.

    `path` decides the format; `kind` is the class of the records, such as Example or Prediction. The file
    is written as a whole or not at all.

    write_records("predictions.jsonl", predictions, Prediction)
    """
    path, kind = check_path(path, "path"), _check_kind(kind)
    records = iter_records(records, kind, "records", f"pass {kind.__name__} records, or another kind")
    if path.suffix not in (".jsonl", ".parquet"):
        raise ConfigError(f"{path}: name it .jsonl or .parquet")
    with atomic(path) as temporary:
        if path.suffix == ".jsonl":
            return _write_jsonl(temporary, records, kind)
        return _pack(temporary, record_batches(records, kind), kind)


def read_records(path: Path, kind: type[_R]) -> Iterator[_R]:
    """Yield the records of a .jsonl or .parquet file; `kind` is their class.

    predictions = list(read_records("predictions.jsonl", Prediction))
    """
    path, kind = check_path(path, "path"), _check_kind(kind)
    readers = {".jsonl": _read_jsonl, ".parquet": _read_parquet}
    if path.suffix not in readers:
        raise ConfigError(f"{path}: expected a .jsonl or .parquet file")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return readers[path.suffix](path, kind)


def _check_kind(kind: type[_R]) -> type[_R]:
    if kind is not dict and not (isinstance(kind, type) and is_dataclass(kind)):
        raise ConfigError(f"kind must be a class of records, such as Example or Prediction: got {kind!r}")
    return kind


def _write_jsonl(path: Path, records: Iterable[_R], kind: type[_R]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, record in enumerate(records, 1):
            try:
                file.write(encode_line(record) + "\n")
            except (TypeError, ValueError) as bad:  # UnicodeEncodeError is a ValueError
                raise DataError(f"{kind.__name__} {count} cannot be written as JSON: {bad}") from None
    return count


def _read_jsonl(path: Path, kind: type[_R]) -> Iterator[_R]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                value = decode_line(line)
            except (ValueError, RecursionError) as bad:  # JSONDecodeError and UnicodeDecodeError alike
                raise DataError(f"{path}:{number}: not a JSON line ({bad}); is the file complete?") from None
            try:
                yield decode(value, kind)
            except (TypeError, ValueError) as bad:
                raise DataError(f"{path}:{number}: not a {kind.__name__}: {bad}") from None


def write_batches(path: Path, batches: Iterable[pa.RecordBatch], kind: type[Any]) -> int:
    """Write batches of columns as .parquet; return the number of rows."""
    if Path(path).suffix != ".parquet":
        raise ConfigError(f"{path}: columns are written as .parquet: use this ending")
    with atomic(Path(path)) as temporary:
        return _pack(temporary, batches, kind)


def record_batches(records: Iterable[_R], kind: type[_R]) -> Iterator[pa.RecordBatch]:
    """Yield records as columns, some thousand at a time."""
    pa = need("pyarrow", "parquet")
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
    """Write batches; a second thread compresses one while the next is read, since Arrow releases the GIL."""
    pq = need("pyarrow.parquet", "parquet")
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


def _read_parquet(path: Path, kind: type[_R]) -> Iterator[_R]:
    pa, pq = need("pyarrow", "parquet"), need("pyarrow.parquet", "parquet")
    try:
        with pq.ParquetFile(path) as file:
            missing = set(arrow_schema(kind).names) - set(file.schema_arrow.names)
            if missing:
                raise DataError(f"{path}: not a file of {kind.__name__}: no column {sorted(missing)[0]!r}")
            for batch in file.iter_batches(BATCH):
                yield from batch_to_records(batch, kind)
    except (pa.ArrowException, UnicodeDecodeError, OSError) as bad:
        reason = str(bad).partition("\n")[0]
        raise DataError(f"{path}: not a Parquet file, or cut off ({reason})") from None


# ---------------------------------------------------------------- settings as TOML

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def write_config(path: Path, config: object) -> None:
    """Write a dataclass as TOML, atomically. None is omitted: TOML has no null."""
    write_text(path, to_toml(encode(config)))


def to_toml(table: Mapping[str, Any]) -> str:
    """Return plain values as TOML text that tomllib reads back exactly."""
    return "\n".join(_lines(table, ())).strip("\n") + "\n" if table else ""


def _lines(table: Mapping[str, Any], at: tuple[str, ...]) -> list[str]:
    """Return lines, values before tables, since a value after a [table] line would belong to that table."""
    kept = {key: value for key, value in table.items() if value is not None}
    values = {key: value for key, value in kept.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_toml(value, (*at, key))}" for key, value in values.items()]
    for key, value in kept.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{'.'.join(map(_key, (*at, key)))}]", *_lines(value, (*at, key))]
    return lines


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"a TOML key is text, got {key!r}")
    return key if _BARE.fullmatch(key) else _text(key, (key,))


def _text(text: str, at: tuple[str, ...]) -> str:
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ConfigError(f"{'.'.join(map(ascii, at))}: a lone surrogate cannot be written as UTF-8")
    return '"' + "".join(_ESCAPES.get(c) or (c if c.isprintable() else _escape(c)) for c in text) + '"'


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _toml(value: Any, at: tuple[str, ...]) -> str:
    """Return a value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ConfigError(f"{'.'.join(at)}: TOML holds whole numbers of 64 bits, {value} is larger")
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)  # exact, and spells inf and nan as TOML does
    if isinstance(value, str | Path):
        return _text(value.as_posix() if isinstance(value, Path) else value, at)
    if isinstance(value, Mapping):
        kept = {key: part for key, part in value.items() if part is not None}
        return "{" + ", ".join(f"{_key(key)} = {_toml(part, (*at, key))}" for key, part in kept.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_toml(part, (*at, str(number))) for number, part in enumerate(value)) + "]"
    raise ConfigError(f"{'.'.join(at)}: {type(value).__name__} cannot be written as TOML")


# ---------------------------------------------------------------- manifests


@dataclass(frozen=True, slots=True)
class OutputPage:
    """The words of a result, written once: on its own page, and in the index that `deadpan report` makes."""

    title: str
    finding: str
    """One or two sentences. They never name a winner that is not significant."""
    facts: tuple[str, ...] = ()
    file: str = "report.html"
    """The page in the folder; empty if there is none."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The provenance of the files of a folder: enough to make them again.

    It has no time and no machine name, so the same input, config and seed give the same manifest.
    """

    command: str
    config: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    drops: Mapping[str, int] = field(default_factory=dict)
    changes: Mapping[str, int] = field(default_factory=dict)
    about: OutputPage | None = None
    version: str = __version__


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def manifest_path(output: Path) -> Path:
    """Return manifest.json of an output folder, or NAME.manifest.json beside an output file."""
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
    before: Mapping[str, Mark] | None = None,
    about: OutputPage | None = None,
) -> Manifest:
    """Write the manifest of a finished output folder (with every file in it) or of an output file.

    Write it last: a folder without a manifest is incomplete. `before` is `file_marks` of the folder before
    the output was written: files that are still the same are somebody else's and not listed, since what a
    manifest lists may be removed when the output is written again.
    """
    target = manifest_path(output)
    files = _own_files(output, target, before or {}) if output.is_dir() else [output]
    base = output if output.is_dir() else output.parent
    tally = tally or Tally()
    manifest = Manifest(
        command=command,
        config=dict(config or {}),
        seed=seed,
        inputs={name: digest(path) for name, path in _input_names(inputs).items()},
        files={p.relative_to(base).as_posix(): {"bytes": p.stat().st_size, "sha256": digest(p)} for p in files},
        counts=dict(counts or {}),
        drops=dict(sorted(tally.drops.items())),
        changes=dict(sorted(tally.changes.items())),
        about=about,
    )
    save_manifest(target, manifest)
    return manifest


def save_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest as JSON; an output without words of its own has no `about`."""
    write_json(path, {key: value for key, value in encode(manifest).items() if value or key != "about"})


Mark = tuple[int, int]
"""Inode and time of a file: at least one changes when it is written again."""


def file_marks(folder: Path) -> dict[str, Mark]:
    """Return the mark of every file of a folder; none for a missing folder."""
    return {path.relative_to(folder).as_posix(): _mark(path) for path in folder.rglob("*") if path.is_file()}


def prepare_output(folder: Path) -> dict[str, Mark]:
    """Make an output folder, and return the marks of what is in it, for `write_manifest`.

    A manifest.json that deadpan did not write would be replaced, so such a folder is refused.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder}: is a file: choose another --out")
    if manifest_path(folder).is_file():
        try:
            read_manifest(folder, any_version=True)
        except DataError:
            raise ConfigError(f"{folder / 'manifest.json'}: not a manifest of deadpan: choose another --out") from None
    folder.mkdir(parents=True, exist_ok=True)
    return file_marks(folder)


def _mark(path: Path) -> Mark:
    state = path.stat()
    return state.st_ino, state.st_mtime_ns


def _own_files(folder: Path, manifest: Path, before: Mapping[str, Mark]) -> list[Path]:
    """Return the files a manifest lists: not itself, no hidden ones, none that was there before."""
    found = (p for p in folder.rglob("*") if p.is_file() and p != manifest and not p.name.startswith("."))
    return sorted(p for p in found if before.get(p.relative_to(folder).as_posix()) != _mark(p))


def _input_names(inputs: Iterable[Path]) -> dict[str, Path]:
    """Return the inputs by name, with as many of the folders above as tell files of one name apart."""
    found: dict[str, Path] = {}
    left, length = sorted(set(inputs)), 1
    while left:
        names = ["/".join(path.parts[-length:]) for path in left]
        longest = length > max(len(path.parts) for path in left)
        unique = [longest or names.count(name) == 1 for name in names]
        found |= {name: path for name, path, one in zip(names, left, unique, strict=True) if one}
        left = [path for path, one in zip(left, unique, strict=True) if not one]
        length += 1
    return dict(sorted(found.items()))


def read_manifest(output: Path, *, any_version: bool = False) -> Manifest:
    """Read the manifest of an output folder or file, and refuse what another version of deadpan wrote.

    Set `any_version` where the output is replaced or only listed: then what is in it does not matter.
    """
    path = manifest_path(output)
    found = read_json(path)
    if not any_version and isinstance(found, dict):
        check_version(str(found.get("version", __version__)), output)
    try:
        return decode(found, Manifest)
    except ValueError as bad:
        raise DataError(f"{path}: not a manifest of deadpan: {bad}") from None


def check_version(version: str, place: Path | str) -> None:
    """Raise unless this version of deadpan reads what `version` wrote: the first two numbers are equal."""
    if version.split(".")[:2] != __version__.split(".")[:2]:
        raise DataError(
            f"{place}: written by deadpan {version}, which deadpan {__version__} does not read: "
            f"make it again, or use deadpan {version}"
        )


def begin_folder(folder: Path, readme_with: str = "") -> dict[str, Mark]:
    """Make the folder and remove its old manifest: until the new one is written, it is incomplete.

    Returns the marks of what is in it, for `write_manifest`. A manifest.json that deadpan did not write is
    somebody else's, and the folder is refused. `readme_with` names a file that outputs with a README.md have:
    where neither it nor a manifest is there, README.md is somebody else's, too.
    """
    readme = folder / "README.md"
    ours = manifest_path(folder).is_file() or (folder / readme_with).exists()
    if readme_with and readme.exists() and not ours:
        raise ConfigError(f"{readme}: not written by deadpan: choose another --out")
    before = prepare_output(folder)
    manifest_path(folder).unlink(missing_ok=True)
    return before


def check_complete(folder: Path, noun: str, names: Sequence[str]) -> None:
    """Check that each file exists with the hash in the manifest: a file cut off at a line end looks whole."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such {noun} folder")
    if not manifest_path(folder).exists():
        raise DataError(f"{folder}: no manifest.json, so its writing was cut short; write the {noun} again")
    files = read_manifest(folder).files
    for name in names:
        if name not in files or not (folder / name).is_file():
            raise DataError(f"{folder / name}: missing; is {folder} a complete {noun} folder?")
        if digest(folder / name) != files[name].get("sha256"):
            raise DataError(
                f"{folder / name}: not as manifest.json says (edited, damaged or cut off); write the {noun} again"
            )


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, which is made if needed.

    The kernel releases the lock when the process ends, so a killed run leaves none behind.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as bad:
        raise DataError(f"{folder.parent}: cannot be written ({bad.strerror}): choose another folder") from None
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"{folder}: another run is using this folder: wait until it ends") from None
        yield
    finally:
        os.close(handle)
