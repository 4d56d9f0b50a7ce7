"""Items of a study from files: study folders, item files, Label Studio tasks, and tables people upload."""

from __future__ import annotations

import io
import os
import re
import secrets
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from django.conf import settings

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.study import (
    ITEMS,
    STUDY,
    Study,
    StudyItem,
    checked_items,
    is_item_file,
    item_type,
    read_items,
    read_study,
)
from deadpan.formats.tables import SUFFIXES, read_table
from deadpan.studio.protocols import PROTOCOLS
from deadpan.studio.protocols.protocol import StudyProtocol, sample_items
from deadpan.studio.records.labelstudio import tasks_to_examples
from deadpan.studio.records.questions import OTHER_TOOLS, read_questions
from deadpan.validation import decode, encode, field_types, read_config


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study that is described and has items, but is not created yet."""

    study: Study
    items: Sequence[StudyItem]


def read_study_source(
    protocol: str, source: str, *, limit: int | None = None, sample: int = 0, seed: int = 0
) -> StudyPlan | None:
    """Read a source of the studio's own: a study folder, an item file or Label Studio tasks; else None."""
    path = Path(source)
    if path.is_dir() and {STUDY, ITEMS} & {file.name for file in path.iterdir()}:
        study, items = read_study(path)
        return StudyPlan(study, sample_items(items[:limit], sample, seed))
    if path.suffix == ".json":
        return plan_from_records(protocol, tasks_to_examples(path)[:limit], sample=sample, seed=seed)
    if path.suffix == ".jsonl" and is_item_file(path):
        items = read_items(path, protocol)
        return replace(empty_plan(protocol, seed), items=sample_items(items[:limit], sample, seed))
    return None


def plan_from_records(
    protocol: str, records: Sequence[Any], *, sample: int = 0, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> StudyPlan:
    """Plan a study about records: Examples, or Items for a protocol that reads those."""
    items = PROTOCOLS.load(protocol)().items_from(records, sample=sample, seed=seed)
    study = empty_plan(protocol, seed).study
    return StudyPlan(replace(study, settings=settings or {}), items)


def empty_plan(protocol: str, seed: int = 0) -> StudyPlan:
    """Plan a study without items, with the protocol's title and number of raters."""
    kind = PROTOCOLS.load(protocol)
    return StudyPlan(Study(protocol, str(kind.title), seed=seed, raters_per_item=kind.raters), ())


def apply_options(
    plan: StudyPlan,
    protocol: str,
    *,
    config: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    **fields: Any,
) -> StudyPlan:
    """Return the plan with a study.toml, or another tool's questions, and options over it.

    A field that is None changes nothing.
    """
    study = plan.study
    if config and config.suffix in OTHER_TOOLS:
        if not PROTOCOLS.load(protocol).own_questions:
            raise ConfigError(f"{config}: {protocol} has questions of its own: other tools' are for custom studies")
        study = replace(study, settings={**study.settings, "questions": encode(read_questions(config))})
    elif config:
        study = read_config(config, Study)
    if study.protocol != protocol:
        raise ConfigError(f"the study is of the protocol {study.protocol}, not {protocol}")
    given = {name: value for name, value in fields.items() if value is not None}
    merged = {**study.settings, **{k: v for k, v in (settings or {}).items() if v is not None}}
    return replace(plan, study=replace(study, settings=merged, **given))


# ---------------------------------------------------------------- uploads


_UPLOADS = "uploads"
_UPLOAD_TOKEN = re.compile(r"[A-Za-z0-9_-]{20,60}")
_DAY = 24 * 3600
_ROWS_LOOKED_AT = 50
_HINT = "save it again as CSV (UTF-8) or JSONL"
_LABEL_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "sarcastic", "sarcasm", "비꼼", "비꼬는 말", "sarc"), True),
    **dict.fromkeys(("0", "false", "no", "not sarcastic", "not_sarcastic", "sincere", "non-sarcasm"), False),
}
_COLUMN_WORDS = {
    "text": ("text", "response", "comment", "tweet", "body", "sentence", "utterance", "글", "응답", "문장"),
    "context": ("context", "parent", "dialogue", "dialog", "history", "맥락", "대화"),
    "id": ("id", "item_id", "번호"),
    "label": ("label", "sarcastic", "sarcasm", "라벨", "정답"),
    "speaker": ("speaker", "author", "화자"),
}


def keep_upload(name: str, chunks: Iterator[bytes]) -> str:
    """Store an uploaded file for a day, readable by the studio only, and return its token."""
    suffix = Path(name).suffix.lower()
    if suffix not in (*SUFFIXES, ".zip"):
        raise DataError(f"a file of the kind {suffix or 'without ending'} cannot be read: {_HINT}")
    folder = Path(settings.STUDIO_HOME) / _UPLOADS
    folder.mkdir(mode=0o700, exist_ok=True)
    for old in folder.iterdir():
        if time.time() - old.stat().st_mtime > _DAY:
            old.unlink(missing_ok=True)
    token = secrets.token_urlsafe(24)
    # O_EXCL and 0600: nobody else can have made the file, or read it.
    handle = os.open(folder / f"{token}{suffix}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        for chunk in chunks:
            file.write(chunk)
    return token


def find_upload(token: str) -> Path:
    """Return the file of a token."""
    folder = Path(settings.STUDIO_HOME) / _UPLOADS
    found = sorted(folder.glob(f"{token}.*")) if _UPLOAD_TOKEN.fullmatch(token) and folder.is_dir() else []
    if not found:
        raise DataError("the file is no longer here: upload it again")
    return found[0]


def own_name(message: str, token: str, name: str) -> str:
    """Return an error about an uploaded file with the name the file has for the person who sent it."""
    folder = str(Path(settings.STUDIO_HOME) / _UPLOADS) + os.sep
    message = message.replace(folder, "")
    return re.sub(rf"{re.escape(token)}(?:/[\w.]+|\.\w+)?", lambda _: name, message) if token else message


def drop_upload(token: str) -> None:
    """Delete a file that was used."""
    find_upload(token).unlink(missing_ok=True)


def ready_items(path: Path, protocol: str) -> list[StudyItem] | None:
    """Return the items of a zipped study folder, an item file or Label Studio tasks; None for a table."""
    if path.suffix == ".zip":
        return _zipped(path, protocol)
    if path.suffix == ".jsonl" and is_item_file(path):
        return read_items(path, protocol)
    if path.suffix == ".json" and _is_label_studio(path):
        kind: StudyProtocol[Any, Any] = PROTOCOLS.load(protocol)()
        return list(kind.items_from(tasks_to_examples(path)))
    return None


def _is_label_studio(path: Path) -> bool:
    head = path.read_text("utf-8", errors="replace")[:4000]
    return '"data"' in head and head.lstrip().startswith("[")


def _zipped(path: Path, protocol: str) -> list[StudyItem]:
    """Read a zipped study folder; only its two files are unpacked, whatever else is in it."""
    folder = path.with_suffix("")
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            names = {Path(name).name: name for name in archive.namelist()}
            if ITEMS not in names:
                raise DataError(f"{path.suffix}: no {ITEMS} in it: zip the study folder")
            folder.mkdir(exist_ok=True)
            for name in (ITEMS, STUDY, "manifest.json"):
                if name in names:
                    # The announced size, before unpacking: a small zip can hold gigabytes.
                    if archive.getinfo(names[name]).file_size > 512 * 1024**2:
                        raise DataError(f"{name} is larger than 512 MB unpacked")
                    (folder / name).write_bytes(archive.read(names[name]))
        if (folder / STUDY).exists():
            study, items = read_study(folder)
            if study.protocol != protocol:
                raise DataError(f"the folder holds a study of the protocol {study.protocol}, not {protocol}")
            return items
        return read_items(folder / ITEMS, protocol)
    except (zipfile.BadZipFile, OSError, RuntimeError) as bad:
        raise DataError(f"not a zip that can be read ({bad}): zip the study folder again") from None
    finally:
        for file in folder.glob("*") if folder.is_dir() else ():
            file.unlink()
        if folder.is_dir():
            folder.rmdir()


def file_items(path: Path, protocol: str) -> list[StudyItem]:
    """Return the items of any file, a table's by the names of its columns."""
    items = ready_items(path, protocol)
    if items is None:
        names, _ = columns_of(path)
        items = table_items(path, protocol, guess_columns(names, protocol))
    return items


# ---------------------------------------------------------------- columns


def columns_of(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns of a table and its first rows as text."""
    rows = [row.fields for row in islice(read_table(path, Tally(), _HINT), _ROWS_LOOKED_AT)]
    if not rows:
        raise DataError(f"there is no row in it: {_HINT}")
    names = list(dict.fromkeys(str(name) for row in rows for name in row))
    return names, [{name: str(row.get(name, "") or "") for name in names} for row in rows]


def wanted_columns(protocol: str) -> dict[str, bool]:
    """Return what a protocol's items are made of, and whether it is needed; `text` is the response."""
    kind = item_type(protocol)
    types = field_types(kind)
    wanted = {"text": True, "id": False, "context": False, "speaker": False}
    for one in fields(kind):
        if one.name in ("id", "response", "context", "check", "columns"):
            continue
        if one.name in ("source", "categories", "ids", "suspect", "intended", "version", "topic", "date"):
            continue
        if types[one.name] in (str, int | None, bool | None) or one.name == "options":
            needed = one.default is MISSING and one.default_factory is MISSING
            wanted[one.name] = needed or one.name == "answer"
    return wanted


def guess_columns(columns: list[str], protocol: str) -> dict[str, str]:
    """Return the column that probably holds each part, by its name."""
    small = {name.casefold().strip(): name for name in columns}
    found = {}
    for part in wanted_columns(protocol):
        words = _COLUMN_WORDS.get(part, (part,))
        found[part] = next((small[word] for word in words if word in small), "")
    return found


def table_items(path: Path, protocol: str, columns: Mapping[str, str], limit: int | None = None) -> list[StudyItem]:
    """Return the rows of a table as items. Several columns of options are named with commas."""
    kind = item_type(protocol)
    rows = islice(read_table(path, Tally(), _HINT), limit)
    items = []
    for number, row in enumerate(rows, 1):
        values = {str(name): value for name, value in row.fields.items()}
        try:
            items.append(decode(_item_fields(values, columns, number, field_types(kind)), kind))
        except (TypeError, ValueError) as bad:
            raise DataError(f"row {number}: {bad}") from None
    return checked_items(items, protocol)


def _item_fields(
    values: Mapping[str, Any], columns: Mapping[str, str], number: int, types: Mapping[str, Any]
) -> dict[str, Any]:
    def cell(part: str) -> str:
        value = values.get(columns.get(part, ""), "")
        return "" if value is None else str(value).strip()

    used = {name.strip() for column in columns.values() for name in (column, *column.split(","))}
    others = {name: str(value) for name, value in values.items() if name not in used and value not in (None, "")}
    plain: dict[str, Any] = {
        "columns": others,
        "id": cell("id") or f"row{number}",
        "response": {"speaker": cell("speaker"), "text": cell("text")},
        "context": _turns(values.get(columns.get("context", ""))),
    }
    for part, column in columns.items():
        if part not in types or part in plain or not column:
            continue
        if part == "options":
            plain[part] = [str(values.get(name.strip(), "") or "") for name in column.split(",")]
        elif types[part] == bool | None:
            plain[part] = _LABEL_WORDS.get(cell(part).casefold())
        elif types[part] == int | None:
            plain[part] = int(cell(part)) if cell(part).lstrip("-").isdecimal() else None
        else:
            plain[part] = cell(part)
    return plain


def _turns(value: Any) -> list[dict[str, str]]:
    """Return a context: a list of turns, or lines of which each may begin with a speaker and a colon."""
    if isinstance(value, list):
        return [
            {"speaker": str(t.get("speaker", "")), "text": str(t.get("text", ""))}
            if isinstance(t, dict)
            else {"speaker": "", "text": str(t)}
            for t in value
        ]
    turns = []
    for line in str(value or "").splitlines():
        speaker, mark, text = line.partition(":")
        # "A: hello" names a speaker; "Look at this: ..." is a sentence.
        named = bool(mark) and len(speaker) <= 20 and bool(text.strip())
        if line.strip():
            turns.append({"speaker": speaker.strip() if named else "", "text": (text if named else line).strip()})
    return turns
