"""What corpus.toml can say: every rule with its default, in the paper's and the issue's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from deadpan.corpus.months import FIRST, LAST, month_number
from deadpan.errors import ConfigError

EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class TextRules:
    """What is decided from a comment's own words, once, while its dump is read.

    `not_after` is a regular expression's character class: a marker right after one of these is part of
    something else, as in "5 m/s".
    """

    markers: tuple[str, ...] = ("/s",)
    not_after: str = "A-Za-z0-9/<"
    deleted: tuple[str, ...] = ("[deleted]", "[removed]")
    url_signs: tuple[str, ...] = ("http://", "https://", "www.", "](")
    ascii_only: bool = True

    def __post_init__(self) -> None:
        if not self.markers or not all(marker.strip() for marker in self.markers):
            raise ConfigError('markers needs at least one marker, such as ["/s"]')
        try:
            re.compile(f"[{self.not_after}]" if self.not_after else "")
        except re.error as bad:
            raise ConfigError(f"not_after is no character class ({bad}): write it like A-Za-z0-9/<") from None


@dataclass(frozen=True, slots=True)
class Scope:
    """Which comments may be in the corpus. Empty months and subreddits mean all of them."""

    first_month: str = ""
    last_month: str = ""
    subreddits: tuple[str, ...] = ()
    aware_authors: bool = True
    drop_under_sarcasm: bool = True

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise ConfigError(f"--from {self.first_month} is after --to {self.last_month}: swap them")

    @property
    def first(self) -> int:
        return month_number(self.first_month) if self.first_month else FIRST

    @property
    def last(self) -> int:
        return month_number(self.last_month) if self.last_month else LAST


@dataclass(frozen=True, slots=True)
class BenchmarkRules:
    """Which replies a benchmark takes, how a pair is drawn, and which subsets there are.

    `vectors` is "embedded" or the path of a GloVe file; `subsets` maps a folder's name to its subreddits.
    """

    min_tokens: int = 2
    max_tokens: int = 50
    letter: bool = True
    sentences: Literal["any", "strict"] = "any"
    max_similarity: float = 0.95
    vectors: str = EMBEDDED
    test_share: float = 0.2
    subsets: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({"pol": ("politics",)})
    )

    def __post_init__(self) -> None:
        if not 0 < self.test_share < 1:
            raise ConfigError(f"test_share needs a number between 0 and 1, got {self.test_share:g}")
        if not 0 <= self.min_tokens <= self.max_tokens:
            raise ConfigError(f"no reply has {self.min_tokens} to {self.max_tokens} tokens: swap them")
        for name in self.subsets:
            if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or name in ("raw", "main", "figures"):
                raise ConfigError(f"subset {name!r} cannot be a folder here: use another word")


@dataclass(frozen=True, slots=True)
class Settings:
    """All of corpus.toml."""

    seed: int = 0
    text: TextRules = field(default_factory=TextRules)
    scope: Scope = field(default_factory=Scope)
    benchmark: BenchmarkRules = field(default_factory=BenchmarkRules)
