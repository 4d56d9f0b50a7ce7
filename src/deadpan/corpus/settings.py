"""Settings of a corpus (corpus.toml), every rule with its default, options of a build, and its steps."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from deadpan.arguments import check_path
from deadpan.errors import ConfigError
from deadpan.registry import unknown
from deadpan.validation import config_from, read_config

EMBEDDED_VECTORS = "embedded"
# The paper's cut for sums of GloVe vectors, and that of the embedded ones which drops the same share of the pairs that
# SARC released, 7.1 % (benchmarks/similarity_cut.py): their cosines are lower, since frequent words count little.
GLOVE_CUT, EMBEDDED_CUT = 0.95, 0.27
# The steps of a build, in order.
BUILD_STEPS = ("ingest", "label", "threads", "benchmark")
# Names in the `config` of a manifest that are no settings.
NOT_SETTINGS = ("bz2", "key", "allow_truncated", "synthetic")
_RESERVED = ("raw", "main", "figures", "parquet", "withdrawn")


# What Reddit shows instead of a text or title that is gone, 2005 to 2026; compared in any case, without margins.
PLACEHOLDERS = (
    "[deleted]", "[removed]", "[deleted by user]", "[removed by reddit]", "[ removed by reddit ]",
    "[ removed by moderator ]", "[removed by moderator]", "[unavailable]",
    "[ removed by reddit on account of violating the content policy. ]",
    "[ removed by reddit in response to a copyright notice. ]",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextRules:
    """Rules about a comment's own text, applied once, while its dump is read.

    `not_after` is a character class of a regular expression: a marker right after one of these characters is
    part of something else, as in "5 m/s".
    """

    markers: tuple[str, ...] = ("/s",)
    not_after: str = "A-Za-z0-9/<"
    deleted: tuple[str, ...] = PLACEHOLDERS
    url_signs: tuple[str, ...] = ("http://", "https://", "www.", "](")
    ascii_only: bool = True
    languages: tuple[str, ...] = ("en",)

    def __post_init__(self) -> None:
        if not self.markers or not all(marker.strip() for marker in self.markers):
            raise ConfigError('markers needs at least one marker, such as ["/s"]')
        try:
            re.compile(f"[{self.not_after}]" if self.not_after else "")
        except re.error as bad:
            raise ConfigError(f"not_after is not a character class ({bad}): write it like A-Za-z0-9/<") from None


@dataclass(frozen=True, slots=True)
class Scope:
    """Selection of comments for the corpus. Empty months and subreddits mean all of them.

    `siblings` are the replies in raw/comments.json beside a sarcastic one: the kept ones, or all, as in the release,
    each with a flag that says whether it was kept.
    """

    first_month: str = ""
    last_month: str = ""
    subreddits: tuple[str, ...] = ()
    aware_authors: bool = True
    drop_under_sarcasm: bool = True
    siblings: Literal["kept", "all"] = "kept"

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ConfigError(f"first month {self.first_month} is after last month {self.last_month}: swap them")

    @property
    def first(self) -> int:
        return month_number(self.first_month) if self.first_month else FIRST_MONTH

    @property
    def last(self) -> int:
        return month_number(self.last_month) if self.last_month else LAST_MONTH


@dataclass(frozen=True, slots=True)
class BenchmarkRules:
    """Rules for replies and pairs in benchmarks, and the subsets.

    `vectors` is "embedded" or the path of a GloVe file; `subsets` maps folders to subreddits. Without `max_similarity`,
    the paper's cut holds for a file, and one that drops as many pairs for the embedded vectors.
    """

    min_tokens: int = 2
    max_tokens: int = 50
    letter: bool = True
    sentences: Literal["any", "strict"] = "any"
    max_similarity: float | None = None
    vectors: str = EMBEDDED_VECTORS
    test_share: float = 0.2
    subsets: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({"pol": ("politics",)}))

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise ConfigError(f"test_share must be between 0 and 1, got {self.test_share:g}")
        if not 0 <= self.min_tokens <= self.max_tokens:
            raise ConfigError(f"min_tokens {self.min_tokens} is above max_tokens {self.max_tokens}: swap them")
        for name in self.subsets:
            if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or name in _RESERVED or name.startswith("after-"):
                raise ConfigError(f"subset {name!r} cannot be the name of a folder here: use another word")

    @property
    def similarity_cut(self) -> float:
        """Similarity above which two replies are too much alike to be a pair."""
        if self.max_similarity is not None:
            return self.max_similarity
        return EMBEDDED_CUT if self.vectors == EMBEDDED_VECTORS else GLOVE_CUT


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Contents of corpus.toml."""

    seed: int = 0
    text: TextRules = field(default_factory=TextRules)
    scope: Scope = field(default_factory=Scope)
    benchmark: BenchmarkRules = field(default_factory=BenchmarkRules)


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Options of a build that are not rules. Only `packed` and `forget` change the files that are written.

    `allow_truncated` uses the whole lines of a dump that ends early, `mixed_months` accepts a dump with more
    months than its name says, `workers` is the number of dumps that are read at once (0: as many as the
    machine has cores and memory for), `packed` writes .bz2 files, `forget` is a file with the names of
    authors to exclude, and `work` is the folder in which a corpus is built that goes to a URL.
    """

    engine: str = "duckdb"
    spark_master: str = "local[*]"
    memory: str = "4GB"
    workers: int = 0
    allow_truncated: bool = False
    mixed_months: bool = False
    packed: bool = False
    forget: Path | None = None
    work: Path | None = None


def configure(
    settings: CorpusSettings | Path | str | None, changes: Mapping[str, Any]
) -> tuple[CorpusSettings, BuildOptions]:
    """Return settings (given, read from a corpus.toml, or the defaults) and options with some fields changed.

    A change is named after a field of any of the classes here: seed, first_month, vectors, memory, ... `marker_set`
    is a set of markers by name, or a file of one; other changes override what it says.
    """
    if not isinstance(settings, CorpusSettings):
        settings = (
            CorpusSettings() if settings is None else read_config(check_path(settings, "settings"), CorpusSettings)
        )
    parts: dict[str, Any] = {name: getattr(settings, name) for name in ("text", "scope", "benchmark")}
    parts["options"] = BuildOptions()
    owners = {one.name: part for part, value in parts.items() for one in fields(value)}
    changed: dict[str, dict[str, Any]] = {part: {} for part in parts}
    seed = settings.seed
    changes = {**changes}
    if chosen := changes.pop("marker_set", ""):
        changes = {**marker_set(chosen), **changes}
    for name, value in changes.items():
        if name == "seed":
            seed = value
        elif name in owners:
            changed[owners[name]][name] = value
        else:
            raise ConfigError(unknown("setting of a corpus", name, ["seed", *owners]))
    for part, values in changed.items():
        parts[part] = replace(parts[part], **values)
    options: BuildOptions = parts.pop("options")
    return replace(settings, seed=seed, **parts), options


@dataclass(frozen=True, slots=True)
class MarkerSet:
    """Markers of a community with the rules that go with them: one table of a marker file.

    `aware` says whose comments count: those of an `author` who has used a marker, from that month on, or those of
    `everyone`, for markers that most people do not use but understand.
    """

    markers: tuple[str, ...]
    languages: tuple[str, ...]
    not_after: str = ""
    ascii_only: bool = False
    aware: Literal["author", "everyone"] = "author"


def marker_set(name: str) -> dict[str, Any]:
    """Return the settings of a set of markers: one of markers.toml by its name, or a file with one set."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        found = read_config(path, MarkerSet)
    else:
        sets = tomllib.loads((Path(__file__).parent / "markers.toml").read_text(encoding="utf-8"))
        if name not in sets:
            raise ConfigError(unknown("set of markers", name, list(sets)))
        found = config_from(sets[name], MarkerSet)
    return {
        "markers": found.markers, "languages": found.languages, "not_after": found.not_after,
        "ascii_only": found.ascii_only, "aware_authors": found.aware == "author",
    }  # fmt: skip


# Numbers before and after every possible month.
FIRST_MONTH, LAST_MONTH = 0, 999_999


def month_number(text: str) -> int:
    """Return 200901 for "2009-01"."""
    match = re.fullmatch(r"(\d{4})-(\d{2})", text)
    if not match or not 1 <= int(match[2]) <= 12:
        raise ConfigError(f"{text!r} is not a month: write it like 2009-01")
    return int(match[1]) * 100 + int(match[2])


def month_name(number: int) -> str:
    """Return "2009-01" for 200901."""
    return f"{number // 100:04}-{number % 100:02}"


def next_month(number: int) -> int:
    """Return the next month."""
    return number + 1 if number % 100 < 12 else number + 89


def month_start(number: int) -> int:
    """Return the first second of a month."""
    return int(datetime(number // 100, number % 100, 1, tzinfo=UTC).timestamp())
