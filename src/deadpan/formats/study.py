"""The study folder: study.toml, items.jsonl (typed by protocol) and manifest.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.formats.folders import begin_folder, check_complete
from deadpan.formats.study_items import (
    AnnotateItem,
    AuditItem,
    CategoriseItem,
    PairwiseItem,
    QuizItem,
    ReaderJudgmentItem,
    StudyItem,
)
from deadpan.formats.study_settings import (
    AnnotateSettings,
    AuditSettings,
    AuthorSurveySettings,
    QuizSettings,
    ReaderJudgmentSettings,
    StudySettings,
)
from deadpan.registry import Registry, unknown
from deadpan.storage import read_records, write_config, write_manifest, write_records
from deadpan.validation import config_from, decode, encode, read_config

STUDY, ITEMS = "study.toml", "items.jsonl"
_EXAMPLE_ONLY = ("label_kind", "group", "sequence", "split", "meta")
PROTOCOL_PLUGINS = "deadpan.protocols"
"""Entry points of other packages: each names a protocol class with `item_type` and `settings_type`."""

_TYPES: dict[str, tuple[type[StudyItem], type[StudySettings]]] = {
    "annotate": (AnnotateItem, AnnotateSettings),
    "author-survey": (StudyItem, AuthorSurveySettings),
    "categorise": (CategoriseItem, StudySettings),
    "reader-judgment": (ReaderJudgmentItem, ReaderJudgmentSettings),
    "audit": (AuditItem, AuditSettings),
    "pairwise": (PairwiseItem, StudySettings),
    "quiz": (QuizItem, QuizSettings),
}


def item_type(protocol: str) -> type[StudyItem]:
    """Return the item class of a protocol."""
    return _types(protocol)[0]


def settings_type(protocol: str) -> type[StudySettings]:
    """Return the settings class of a protocol."""
    return _types(protocol)[1]


def _types(protocol: str) -> tuple[type[StudyItem], type[StudySettings]]:
    if protocol in _TYPES:
        return _TYPES[protocol]
    kind = Registry("protocol", dict.fromkeys(_TYPES, ""), group=PROTOCOL_PLUGINS).load(protocol)
    return kind.item_type, kind.settings_type


@dataclass(frozen=True, slots=True)
class Study:
    """A study's protocol, language and number of raters. `settings` are checked against the protocol's."""

    protocol: str
    title: str
    version: str = "1"
    language: str = "en"
    seed: int = 0
    raters_per_item: int = 3
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("protocol", "title", "version", "language"):
            if not getattr(self, name).strip():
                raise ConfigError(f"{name} is empty: a study needs one")
        if not 1 <= self.raters_per_item <= 10_000:
            raise ConfigError(f"raters_per_item needs 1 to 10,000, got {self.raters_per_item}")

    def typed_settings(self) -> StudySettings:
        """Return the settings as the protocol's type; an unknown one is an error that names the nearest."""
        return typed_settings(self.protocol, self.settings)


def typed_settings(protocol: str, settings: Mapping[str, Any]) -> StudySettings:
    """Return a table of settings as the protocol's type."""
    kind = settings_type(protocol)
    for name in settings:
        if name not in kind.__dataclass_fields__:
            raise ConfigError(unknown("setting", name, list(kind.__dataclass_fields__)))
    return config_from(settings, kind, source="settings")


def write_study(
    folder: Path,
    study: Study,
    items: Iterable[StudyItem],
    *,
    command: str = "study",
    inputs: Iterable[Path] = (),
    tally: Tally | None = None,
) -> int:
    """Write a study folder, its manifest last, and return the number of items. A survey may have none."""
    study.typed_settings()
    kind = item_type(study.protocol)
    checked = checked_items(items, study.protocol)
    folder = Path(folder)
    before = begin_folder(folder)
    write_config(folder / STUDY, study)
    write_records(folder / ITEMS, checked, kind)
    write_manifest(
        folder,
        command=command,
        config=encode(study),
        seed=study.seed,
        inputs=inputs,
        counts={"items": len(checked)},
        tally=tally,
        before=before,
    )
    return len(checked)


def read_study(folder: Path) -> tuple[Study, list[StudyItem]]:
    """Read a study and its items. study.toml may be edited by hand; items.jsonl must be as it was written."""
    folder = Path(folder)
    check_complete(folder, "study", (ITEMS,))
    study = read_config(folder / STUDY, Study)
    try:
        study.typed_settings()
    except ConfigError as bad:
        raise ConfigError(f"{folder / STUDY}: {bad}") from None
    return study, read_items(folder / ITEMS, study.protocol)


def read_items(path: Path, protocol: str) -> list[StudyItem]:
    """Read the items of one protocol from a .jsonl file; an error names the item and the field."""
    kind = item_type(protocol)
    items = []
    for number, row in enumerate(read_records(path, dict), 1):
        try:
            items.append(decode(row, kind))
        except ValueError as bad:
            raise DataError(f"{path}: item {row.get('id', number)!r}: {bad}") from None
    try:
        return checked_items(items, protocol)
    except DataError as bad:
        raise DataError(f"{path}: {bad}") from None


def checked_items(items: Iterable[StudyItem], protocol: str) -> list[StudyItem]:
    """Return the items, if all are of the protocol's type, complete and distinct."""
    kind = item_type(protocol)
    checked: list[StudyItem] = []
    numbers: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        if not isinstance(item, kind):
            raise DataError(
                f"item {item.id!r} is a {type(item).__name__}: the protocol {protocol} needs {kind.__name__}"
            )
        if not item.id.strip():
            raise DataError(f"item {number} has no id: give every item one of its own")
        if item.id in numbers:
            raise DataError(
                f"item {number} has the id {item.id!r} of item {numbers[item.id]}: ids must differ"
            )
        if problem := item.problem():
            raise DataError(f"item {item.id!r} {problem}")
        numbers[item.id] = number
        checked.append(item)
    return checked


def is_item_file(path: Path) -> bool:
    """Return whether a .jsonl file begins with a study item rather than with an Example."""
    first = next(iter(read_records(path, dict)), {})
    return isinstance(first.get("response"), dict) and first.keys().isdisjoint(_EXAMPLE_ONLY)
