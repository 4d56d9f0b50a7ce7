"""The settings of a study, typed by protocol: the [settings] table of study.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

LIMITS = {
    "threshold": 1, "overlap": 1, "agreement_threshold": 1,
    "abandon_minutes": 525_600, "hours": 87_600, "minutes": 1_440,
}  # fmt: skip
"""The largest values: shares, and times that dates can be reckoned with. Settings are never negative."""
LARGEST = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySettings:
    """Settings of every protocol. `qualification` None: the protocol decides by the number of items."""

    qualification: int | None = None
    """Items in the qualification round."""
    threshold: float = 0.65
    """Share of matches with the majority that is proposed for admission."""
    overlap: float = 1.0
    """Share of items that get all raters; the others get one."""
    rate: float | None = None
    """Pay per hour."""
    currency: str = ""
    abandon_minutes: float = 60
    """An open item that nobody touched for this long returns to the pool."""
    attention_every: int = 20
    """One attention check after this many items; 0: none."""
    consent: str = ""
    """Consent text, instead of the protocol's own."""
    instructions: str = ""
    """Text of the first page, instead of the protocol's own."""
    guideline: str = ""
    """Guideline in Markdown, shown before the protocol's own examples."""
    contact: str = ""
    per_person: int = 0
    """Items one person gets at most; 0: as many as there are."""
    per_group: Mapping[str, int] = field(default_factory=dict)
    """People of each group of invitations that judge one item, at most."""
    completion_code: str = ""
    """Code people enter at their platform when they are done."""
    completion_url: str = ""
    """Address of the platform to return to when done."""
    screenout_url: str = ""
    """Address of the platform to return to for people who cannot take part."""
    match: Mapping[str, str] = field(default_factory=dict)
    """Country and gender that raters must share."""

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, int | float) and not 0 <= value <= LIMITS.get(name, LARGEST):
                raise ValueError(f"{name} needs 0 to {LIMITS.get(name, LARGEST):,}, got {value}")
        for name in ("completion_url", "screenout_url"):
            if not _is_address(getattr(self, name)):
                raise ValueError(f"{name} needs an address that begins with https://")


def _is_address(url: str) -> bool:
    """Return whether a link is empty or leads somewhere."""
    try:
        parts = urlsplit(url)
        return not url or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotateSettings(StudySettings):
    """`questions` is what `generate people` wrote down; the protocol's own questions are asked."""

    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderJudgmentSettings(StudySettings):
    """`context` "none" shows the response only."""

    context: Literal["full", "none"] = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings(StudySettings):
    """The draw of `corpus study noise`: `count` comments per label, `sarcastic` items are labelled so."""

    sarcastic: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizSettings(StudySettings):
    """The item set that is asked, so that its answers are scored against the same set."""

    set: str = ""
    set_hash: str = ""
    question: str = "answer"
    agreement_threshold: float = 0.7
    """Items on which a smaller share of people chose the keyed answer are reported."""
    public_try: bool = False
    """Let anybody try ten items at /try/NAME, without an account; nothing is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorSurveySettings(StudySettings):
    """Rules of the survey (iSarcasm's), and what a crowdsourcing platform needs."""

    hours: float = 48
    """A post must be at least this old."""
    followers: int = 30_000
    """More followers than this: the account is not used."""
    words: int = 5
    """Fewer words than this: the post is not used."""
    minutes: float = 3.0
    """Faster submissions are not used."""
    crowd: bool = False
    """Ask for the platform's id."""
