"""Options for reading a source: the columns and labels of a table, and the part of it that is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from deadpan.arguments import check_path
from deadpan.errors import ConfigError
from deadpan.records import LabelKind, Split
from deadpan.registry import unknown

COLUMN_NAMES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text", "response", "tweet", "comment", "headline", "utterance", "sentence", "body", "content",
        "tokens",
    ),
    "label": (
        "label", "sarcasm", "sarcastic", "is_sarcastic", "sarcasm_label", "irony", "ironic", "class",
        "target",
    ),
    "context": ("context", "parent_comment", "parent", "conversation", "dialogue", "history"),
    "id": ("id", "tweet_id", "comment_id", "example_id"),
    "speaker": ("speaker",),
    "group": ("group", "thread", "thread_id", "conversation_id", "dialogue_id", "author", "user"),
    "sequence": ("sequence", "pair", "pair_id"),
    "split": ("split", "subset", "partition"),
    "language": ("language", "lang"),
    "explanation": ("explanation", "sarcasm_explanation"),
    "rephrase": ("rephrase",),
}  # fmt: skip
"""Field of an Example -> the names such a column commonly has, tried in this order."""

SPLIT_NAMES: Mapping[str, Split] = {
    "train": "train",
    "training": "train",
    "dev": "dev",
    "development": "dev",
    "val": "dev",
    "valid": "dev",
    "validation": "dev",
    "test": "test",
    "testing": "test",
}
"""Names of splits as people write them."""


READER_OPTIONS: Mapping[str, str] = {
    "columns": "tables",
    "positive": "tables",
    "negative": "tables",
    "label_kind": "tables",
    "text_file": "isarcasm, whose release holds tweet ids only",
    "ids_only": "isarcasm, whose release holds tweet ids only",
}
"""Fields of Reading that only some readers take, and whose they are."""

_SUCH_AS = {"split": "test", "language": "en", "label_kind": "author"}


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading a source.

    `columns` are (field, column) pairs of a table; fields that are not named are found by their usual names.
    `positive` and `negative` are the labels of a table that mean sarcastic and sincere. `split` and
    `language` select examples; examples without a language get this one. `data_dir` is the folder of the
    corpora. `keep_markers` keeps tags that give the label away (#sarcasm, /s). `text_file` and `ids_only`
    are for iSarcasm, whose release holds tweet ids only. `label_kind` says who labelled a table.
    """

    columns: tuple[tuple[str, str], ...] = ()
    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()
    split: str = ""
    language: str = ""
    data_dir: Path | None = None
    keep_markers: bool = False
    text_file: Path | None = None
    ids_only: bool = False
    label_kind: LabelKind = ""

    def __post_init__(self) -> None:
        for field, _ in self.columns:
            if field not in COLUMN_NAMES:
                raise ConfigError(unknown("column", field, COLUMN_NAMES))
        if self.split and self.split.lower() not in SPLIT_NAMES:
            raise ConfigError(unknown("split", self.split, ["train", "dev", "test"]))
        if self.label_kind not in get_args(LabelKind):
            raise ConfigError(unknown("label kind", self.label_kind, [k for k in get_args(LabelKind) if k]))
        both = set(map(_folded, self.positive)) & set(map(_folded, self.negative))
        if both:
            raise ConfigError(f"label {min(both)!r} is both positive and negative: name it once")

    @classmethod
    def of(cls, **how: Any) -> Reading:
        """Return the reading given by keyword arguments: fields of Reading, or columns (text="tweet")."""
        names = [field.name for field in fields(cls)]
        columns = _column_names(how.pop("columns", None) or {})
        columns |= {name: how.pop(name) for name in list(how) if name in COLUMN_NAMES and name not in names}
        for name, column in columns.items():
            if name in COLUMN_NAMES and not isinstance(column, str):
                raise ConfigError(f"{name}={column!r}: name a column, such as {name}={COLUMN_NAMES[name][0]!r}")
        for name in how:
            if name not in names:
                raise ConfigError(unknown("argument", name, dict.fromkeys([*names, *COLUMN_NAMES])))
        for name in ("positive", "negative"):
            how[name] = _values(how.get(name, ()))
        for name in ("data_dir", "text_file"):
            how[name] = check_path(how[name], name) if how.get(name) is not None else None
        for name in ("split", "language", "label_kind"):
            if not isinstance(how.setdefault(name, ""), str):
                raise ConfigError(f"{name}={how[name]!r}: pass text, such as {name}={_SUCH_AS[name]!r}")
        return cls(columns=tuple(columns.items()), **how)

    @property
    def wanted_split(self) -> Split:
        """The split by its own name: "validation" is dev."""
        return SPLIT_NAMES.get(self.split.lower(), "")


def _column_names(columns: object) -> dict[str, Any]:
    """Return field -> column from a mapping or from pairs."""
    try:
        return dict(columns)  # type: ignore[call-overload,no-any-return]
    except (TypeError, ValueError):
        raise ConfigError(f"columns={columns!r}: pass {{field: column}}, such as {{'text': 'tweet'}}") from None


def _values(value: object) -> tuple[str, ...]:
    """Return labels as words; one may stand without a list, and True and 1 are labels too."""
    if value is None:
        return ()
    many = value if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str) else [value]
    return tuple(str(one) for one in many)


def _folded(value: str) -> str:
    return value.strip().lower()
