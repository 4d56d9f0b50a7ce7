"""The survey's rules: each says why a submission cannot be used. No Django here: rules are plain functions.

They are iSarcasm's (its section 4.1), with near-duplicates beside exact ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

NEAR = 0.8
"""Share of word pairs in common from which two posts are the same post, edited."""

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_HASHTAG = re.compile(r"[#＃]\w+")
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@dataclass(frozen=True, slots=True)
class Post:
    """One post handed in: its words, its address and when it was written."""

    text: str
    link: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class Response:
    """One submission of the survey. The first post is the sarcastic one."""

    posts: tuple[Post, ...]
    followers: int | None
    verified: bool
    seconds: float
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class Limits:
    """Where the rules draw the line."""

    hours: float = 48
    followers: int = 30_000
    words: int = 5
    minutes: float = 3.0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Limits:
        """The limits a study sets, the paper's where it sets none."""
        return cls(**{name: settings[name] for name in cls.__slots__ if name in settings})


Earlier = Sequence[tuple[str, str]]
"""(link, text) of every post handed in before."""


def words(text: str) -> list[str]:
    """The words of a post, hashtags and links taken out."""
    return _WORD.findall(_HASHTAG.sub(" ", _LINK.sub(" ", text)).casefold())


def account(link: str) -> str:
    """Whose post a link leads to, as far as it says: the host and the name after it; empty if it does not."""
    parts = urlsplit(link.strip())
    steps = [step for step in parts.path.split("/") if step]
    if not parts.hostname or not steps:
        return ""
    host = (
        parts.hostname.casefold().removeprefix("www.").removeprefix("mobile.").replace("twitter.com", "x.com")
    )
    named = steps[1:2] if steps[0] in ("user", "u", "users") else steps[:1]
    # x.com/i/status/1 names nobody.
    if not named or named[0] in ("i", "r", "status", "posts", "p") or len(steps) < 2:
        return ""
    return f"{host}/{named[0].casefold().lstrip('@')}"


def same_link(link: str) -> str:
    """A link without what does not change where it leads."""
    parts = urlsplit(link.strip())
    host = (parts.hostname or "").casefold().removeprefix("www.").removeprefix("mobile.")
    return f"{host.replace('twitter.com', 'x.com')}{parts.path.rstrip('/')}".casefold()


def is_near(one: str, other: str) -> bool:
    """Whether two posts share most of their pairs of words."""
    a, b = _pairs(one), _pairs(other)
    return bool(a and b) and len(a & b) / len(a | b) >= NEAR


def _pairs(text: str) -> frozenset[tuple[str, ...]]:
    found = words(text)
    return (
        frozenset(itertools.pairwise(found)) if len(found) > 1 else frozenset([tuple(found)] if found else [])
    )


def too_recent(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """Written for the survey rather than found in one's past."""
    newest = response.submitted_at - timedelta(hours=limits.hours)
    return any(post.written_at > newest for post in response.posts)


def several_accounts(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """Posts of more than one account cannot all be one's own."""
    return len({account(post.link) for post in response.posts} - {""}) > 1


def verified_account(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """A verified account is a known one, and easily claimed by others."""
    return response.verified


def too_many_followers(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """A popular account is easily claimed by others."""
    return (response.followers or 0) > limits.followers


def too_short(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """Too few words to judge, hashtags and links not counted."""
    return any(len(words(post.text)) < limits.words for post in response.posts)


def same_post_twice(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """The four posts must be four."""
    seen: list[Post] = []
    for post in response.posts:
        if _known(post, [(other.link, other.text) for other in seen]):
            return True
        seen.append(post)
    return False


def submitted_before(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """Handed in before, by its link or nearly word for word."""
    return any(_known(post, earlier) for post in response.posts)


def too_fast(response: Response, limits: Limits, earlier: Earlier) -> bool:
    """Nobody finds four posts and explains one in so short a time."""
    return response.seconds < limits.minutes * 60


def _known(post: Post, others: Iterable[tuple[str, str]]) -> bool:
    link = same_link(post.link)
    return any((link and link == same_link(other)) or is_near(post.text, text) for other, text in others)


Rule = Callable[[Response, Limits, Earlier], bool]
RULES: tuple[Rule, ...] = (
    too_short, too_recent, several_accounts, same_post_twice,
    verified_account, too_many_followers, submitted_before, too_fast,
)  # fmt: skip
CURABLE = ("too_short", "too_recent", "several_accounts", "same_post_twice")
"""What a participant can put right before handing in."""


def reasons(response: Response, limits: Limits, earlier: Earlier) -> list[str]:
    """Why a submission cannot be used; empty if it can."""
    return [rule.__name__ for rule in RULES if rule(response, limits, earlier)]
