"""The survey's rules: each says why a submission cannot be used. No Django here: rules are plain functions.

They are iSarcasm's (its section 4.1), with near-duplicates beside exact ones.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from deadpan.formats.study_settings import TellSettings

NEAR = 0.8
"""Share of common word pairs above which two posts count as the same."""

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_HASHTAG = re.compile(r"[#＃]\w+")
_TRACKING = re.compile(r"utm_\w*|fbclid|gclid|igshi?d?|ref|ref_src|ref_url|si", re.IGNORECASE)
_SHARING = {"x.com": ("s", "t"), "youtu.be": ("t",), "youtube.com": ("t",)}
"""Parts of a query that say how a link was shared at this host; elsewhere they may be a post's number."""
_WORD = re.compile(r"\w+(?:['’-]\w+)*")


@dataclass(frozen=True, slots=True)
class SurveyPost:
    """One post handed in: its words, its address and when it was written."""

    text: str
    link: str
    written_at: datetime


@dataclass(frozen=True, slots=True)
class SurveyResponse:
    """One submission of the survey. The first post is the sarcastic one."""

    posts: tuple[SurveyPost, ...]
    followers: int | None
    verified: bool
    seconds: float
    submitted_at: datetime


Earlier = Sequence[tuple[str, str]]
"""(link, text) of every post handed in before."""


def words(text: str) -> list[str]:
    """Return the words of a post without hashtags and links."""
    return _WORD.findall(_HASHTAG.sub(" ", _LINK.sub(" ", text)).casefold())


def account(link: str) -> str:
    """Return the account in a link: the host and the name after it; empty if there is none."""
    parts = split_link(link)
    steps = [step for step in parts.path.split("/") if step]
    if not parts.hostname or not steps:
        return ""
    host = _host(parts)
    named = steps[1:2] if steps[0] in ("user", "u", "users") else steps[:1]
    # x.com/i/status/1 names nobody.
    if not named or named[0] in ("i", "r", "status", "posts", "p") or len(steps) < 2:
        return ""
    return f"{host}/{named[0].casefold().lstrip('@')}"


def same_link(link: str) -> str:
    """Return a normalised link, the same for addresses of the same post; an id may follow the ?."""
    parts = split_link(link)
    host = _host(parts)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    shared = _SHARING.get(host, ())
    kept = sorted((name, value) for name, value in pairs
                  if not _TRACKING.fullmatch(name) and name not in shared)  # fmt: skip
    plain = f"{host}{parts.path.rstrip('/')}".casefold() + (f"?{urlencode(kept)}" if kept else "")
    # A number after the # is a post in a thread; a word is a place on the page.
    return f"{plain}#{parts.fragment}" if re.search(r"\d", parts.fragment) else plain


def _host(parts: SplitResult) -> str:
    """Return the host of a link by its usual name."""
    host = (parts.hostname or "").casefold()
    return (
        host.removeprefix("www.").removeprefix("mobile.").removeprefix("m.").replace("twitter.com", "x.com")
    )


def split_link(link: str) -> SplitResult:
    """Return the parts of a link; text that is not a link has no parts."""
    try:
        parts = urlsplit(link.strip())
        parts.hostname, parts.port  # noqa: B018 - both raise for a broken host
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def is_near(one: str, other: str) -> bool:
    """Return whether two posts share most of their word pairs."""
    a, b = _pairs(one), _pairs(other)
    return bool(a and b) and len(a & b) / len(a | b) >= NEAR


def _pairs(text: str) -> frozenset[tuple[str, ...]]:
    found = words(text)
    return (
        frozenset(itertools.pairwise(found)) if len(found) > 1 else frozenset([tuple(found)] if found else [])
    )


def too_recent(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """Written for the survey rather than found in one's past."""
    newest = response.submitted_at - timedelta(hours=settings.hours)
    return any(post.written_at > newest for post in response.posts)


def several_accounts(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """Posts of more than one account cannot all be one's own."""
    return len({account(post.link) for post in response.posts} - {""}) > 1


def verified_account(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """A verified account is a known one, and easily claimed by others."""
    return response.verified


def too_many_followers(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """A popular account is easily claimed by others."""
    return (response.followers or 0) > settings.followers


def too_short(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """Too few words to judge, hashtags and links not counted."""
    return any(len(words(post.text)) < settings.words for post in response.posts)


def same_post_twice(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """The four posts must be four."""
    seen: list[SurveyPost] = []
    for post in response.posts:
        if _known(post, [(other.link, other.text) for other in seen]):
            return True
        seen.append(post)
    return False


def submitted_before(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """Handed in before, by its link or nearly word for word."""
    return any(_known(post, earlier) for post in response.posts)


def too_fast(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> bool:
    """Nobody finds four posts and explains one in so short a time."""
    return response.seconds < settings.minutes * 60


def _known(post: SurveyPost, others: Iterable[tuple[str, str]]) -> bool:
    link = same_link(post.link)
    return any((link and link == same_link(other)) or is_near(post.text, text) for other, text in others)


Rule = Callable[[SurveyResponse, TellSettings, Earlier], bool]
RULES: tuple[Rule, ...] = (
    too_short, too_recent, several_accounts, same_post_twice,
    verified_account, too_many_followers, submitted_before, too_fast,
)  # fmt: skip
CORRECTABLE = ("too_short", "too_recent", "several_accounts", "same_post_twice")
"""Rules a participant can still satisfy before handing in."""


def reasons(response: SurveyResponse, settings: TellSettings, earlier: Earlier) -> list[str]:
    """Return the reasons why a submission cannot be used; empty if it can."""
    return [rule.__name__ for rule in RULES if rule(response, settings, earlier)]


def posts_that(rule: str, response: SurveyResponse, settings: TellSettings) -> list[int]:
    """Return the places, from 0, of the posts that break a rule; empty for rules about the whole."""
    posts = response.posts
    newest = response.submitted_at - timedelta(hours=settings.hours)
    broken = {
        "too_short": [at for at, post in enumerate(posts) if len(words(post.text)) < settings.words],
        "too_recent": [at for at, post in enumerate(posts) if post.written_at > newest],
        "same_post_twice": [
            at
            for at, post in enumerate(posts)
            if _known(post, [(other.link, other.text) for other in posts[:at]])
        ],
    }
    return broken.get(rule, [])


_HANGUL = re.compile("[가-힣]")
_LETTERS = re.compile(r"[^\W\d_ㄱ-ㅣ]")
"""A letter that is not laughter written with single Korean letters."""


def is_sentence(text: str) -> bool:
    """Return whether an answer is more than a word or two. Korean packs more into a word than English."""
    if not _LETTERS.search(text):
        return False
    count = len(text.split())
    if _HANGUL.search(text):
        return count >= 2 and len(re.sub(r"\s", "", text)) >= 8
    return count >= 4
