"""iSarcasm's survey: people hand in posts of their own and say what they meant.

The rules are iSarcasm's (its section 4.1), with near-duplicates beside exact ones.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.study import AuthorSurveySettings, StudyItem
from deadpan.page import Table
from deadpan.records import Example, Turn
from deadpan.studio.people.demographics import GENDERS, SMALLEST_GROUP, country_choices, country_code, safe_groups
from deadpan.studio.protocols.protocol import Answers, LazyText, Lesson, Section, StudyProtocol, SurveyEntry

_AGE_GROUPS = ((16, 24), (25, 34), (35, 44), (45, 54), (55, 64), (65, 200))
# The part of a post that a rule is about.
_PART = {"too_short": "text", "too_recent": "date", "same_post_twice": "text"}
_RULE_MESSAGES: Mapping[str, Any] = {
    "too_short": _("A post has fewer than %(words)s words, hashtags and links not counted. Choose a longer one."),
    "too_recent": _("A post is less than %(hours)s hours old. Choose an older one."),
    "several_accounts": _("The links lead to different accounts. All four posts must be from one."),
    "same_post_twice": _("Two of the four posts are the same. Choose four different ones."),
    "verified_account": _("Posts of verified accounts cannot be used."),
    "too_many_followers": _("Posts of accounts with very many followers cannot be used."),
    "submitted_before": _("One of these posts has already been submitted."),
    "too_fast": _("The survey was filled in too quickly to be used."),
}
SurveyAnswers = Answers[StudyItem, AuthorSurveySettings]


def _numbers(settings: AuthorSurveySettings) -> dict[str, str]:
    """Return the limits that messages name."""
    return {"hours": f"{settings.hours:g}", "words": str(settings.words)}


class AuthorSurveyProtocol(StudyProtocol[StudyItem, AuthorSurveySettings]):
    """One sarcastic and three other posts of one's own. tell_rules.py has the rules."""

    name = "author-survey"
    settings_type = AuthorSurveySettings
    title: LazyText = _("Tell us about your posts")
    summary: LazyText = _("Submit one sarcastic and three other posts of your own, and say what you meant.")
    survey = True
    survey_template = "studio/survey.html"
    survey_reasons: Mapping[str, LazyText] = _RULE_MESSAGES
    blurb: LazyText = _(
        "Look for posts you wrote yourself: no reposts, and none that needs a picture or a video to be "
        "understood. One of them was meant sarcastically, three were not. They must all come from one "
        "account and be older than %(hours)s hours."
    )
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Explanation"),
            _("“I wrote this because my train was late for the third time that week.”"),
            _("Full sentences that say why the post is sarcastic."),
        ),
        Lesson(
            _("The same, said plainly"),
            _("“I am annoyed that the train is late again.”"),
            _("The same message without sarcasm, as you would say it to a friend."),
        ),
    )
    consent: LazyText = _(
        "You submit posts of your own. Only their links or numbers are made public unless the study says "
        "otherwise, so that a post you delete is gone. Age, gender and country are optional and published in "
        "broad groups only. You get a code with which you can withdraw everything later."
    )

    def items_from(self, records: Sequence[Any], *, sample: int = 0, seed: int = 0) -> list[StudyItem]:
        """Refuse: a survey has no items."""
        raise ConfigError("author-survey is a survey, participants hand in their own posts: leave SOURCE out")

    def introduction(self, settings: AuthorSurveySettings) -> str:
        """Return the blurb with the age that posts must have."""
        return str(self.blurb) % _numbers(settings)

    def survey_reason(self, reason: str, settings: AuthorSurveySettings) -> str:
        """Return the message of a rule with its limit."""
        return str(self.survey_reasons.get(reason, reason)) % _numbers(settings)

    def survey_form(self, data: Any, settings: AuthorSurveySettings) -> SurveyForm:
        """Return the form, with a field for the platform's id if the study asks for it."""
        return SurveyForm(data, crowd=settings.crowd, links=settings.links)

    def survey_entry(
        self,
        cleaned: Mapping[str, Any],
        settings: AuthorSurveySettings,
        *,
        seconds: float,
        now: datetime,
        earlier: Sequence[Mapping[str, Any]],
    ) -> SurveyEntry:
        """Return the posts and the rules they break."""
        known = [
            (str(post.get("link", "")), str(post.get("text", "")))
            for answers in earlier
            for post in answers.get("posts", [])
        ]
        response = survey_response(cleaned, seconds, now)
        broken = tuple(broken_rules(response, settings, known))
        correctable = tuple(rule for rule in broken if rule in _CORRECTABLE)
        fields = {rule: [f"{_PART[rule]}{at}" for at in posts_that_break(rule, response, settings)]
                  for rule in correctable if rule in _PART}  # fmt: skip
        return SurveyEntry(stored_answers(cleaned), broken, correctable, fields)

    def report(self, answers: SurveyAnswers) -> list[Section]:
        """Return how many submissions are used, and why others are not."""
        counts = Counter(reason for reasons in answers.rejected for reason in reasons)
        rows: list[tuple[str, int]] = [(gettext("kept"), len(answers.submissions))]
        rows += sorted(counts.items(), key=lambda row: -row[1])
        return [Section(gettext("Submissions"), Table((gettext("outcome"), gettext("submissions")), tuple(rows)))]

    def to_examples(self, answers: SurveyAnswers, tally: Tally) -> Iterator[Example]:
        """Yield the posts, labelled by their authors, with demographics in broad groups."""
        groups = [_grouped(submission.answers) for submission in answers.submissions]
        safe, removed = safe_groups(groups, SMALLEST_GROUP)
        tally.change("demographics_withheld", removed)
        for submission, about in zip(answers.submissions, safe, strict=True):
            author = submission.participant
            for number, post in enumerate(submission.answers["posts"], 1):
                sarcastic = bool(post["sarcastic"])
                yield Example(
                    id=str(post["link"] or f"{author}.{number}"),
                    response=Turn("", str(post["text"])),
                    label=sarcastic,
                    label_kind="author",
                    group=author,
                    source=answers.source,
                    language=answers.language,
                    explanation=str(submission.answers["explanation"]) if sarcastic else "",
                    rephrase=str(submission.answers["rephrase"]) if sarcastic else "",
                    meta=about,
                )


def _grouped(answers: Mapping[str, Any]) -> dict[str, str]:
    """Return age in broad steps and countries without regions."""
    groups = {name: str(answers[name]) for name in ("gender", "country", "birth_country") if answers.get(name)}
    age = answers.get("age")
    if isinstance(age, int):
        groups["age"] = next(
            (f"{low}-{high}" if high < 200 else f"{low}+" for low, high in _AGE_GROUPS if low <= age <= high), ""
        )
    return {name: value for name, value in groups.items() if value}


# ---------------------------------------------------------------- the form


_POSTS = 4
_WEB = ("http://", "https://")
_AGES = range(16, 101)
_NOT_SAID = ("", _("rather not say"))


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


class CountryField(forms.ChoiceField):
    """A country from the list; what a browser or a script writes as a name becomes its code."""

    def to_python(self, value: Any) -> str:
        text = str(super().to_python(value))
        return country_code(text) or text


class SurveyForm(forms.Form):
    """Four posts of one's own, the first of them sarcastic, and what the author says of it."""

    explanation = forms.CharField(
        label=_("Why is the first post sarcastic? Answer in full sentences."), widget=_area(3), max_length=2000
    )
    rephrase = forms.CharField(
        label=_("How would you say the same without sarcasm? Answer in full sentences."),
        widget=_area(3),
        max_length=2000,
    )
    verified = forms.BooleanField(label=_("The account is verified"), required=False)
    followers = forms.IntegerField(label=_("How many followers does it have?"), min_value=0, max_value=10**9)
    own = forms.BooleanField(label=_("I wrote all four posts myself; none is a repost, none needs a picture."))
    age = forms.TypedChoiceField(
        label=_("Age (optional)"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[_NOT_SAID, *((year, year) for year in _AGES)],
    )
    gender = forms.ChoiceField(label=_("Gender (optional)"), required=False, choices=[_NOT_SAID, *GENDERS])
    birth_country = CountryField(label=_("Country of birth (optional)"), required=False, choices=country_choices)
    birth_region = forms.CharField(label=_("Region of birth (optional)"), required=False, max_length=80)
    country = CountryField(label=_("Country you live in (optional)"), required=False, choices=country_choices)
    region = forms.CharField(label=_("Region you live in (optional)"), required=False, max_length=80)

    def __init__(self, *args: Any, crowd: bool = False, links: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for at in range(_POSTS):
            self.fields[f"text{at}"] = forms.CharField(
                label=_("The post, word for word"), widget=_area(3), max_length=2000
            )
            self.fields[f"link{at}"] = forms.CharField(
                label=_("The link") if links else _("Its link (optional)"),
                required=links,
                max_length=500,
                widget=forms.URLInput(),
            )
            self.fields[f"date{at}"] = forms.DateField(
                label=_("The day you posted it"), widget=forms.DateInput(attrs={"type": "date"})
            )
            self.fields[f"time{at}"] = forms.TimeField(
                label=_("The time, if you know it"), required=False, widget=forms.TimeInput(attrs={"type": "time"})
            )
            self.fields[f"link{at}"].validators += [_check_link, *([_check_account] if links else [])]
        self.fields["zone"] = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput())
        if crowd:
            self.fields["crowd_id"] = forms.CharField(label=_("Your id on the crowd platform"), max_length=120)
        for name in ("explanation", "rephrase"):
            self.fields[name].validators.append(_check_sentence)

    def posts(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of each post."""
        for at in range(_POSTS):
            yield {
                "sarcastic": at == 0,
                "number": at + 1,
                "fields": [self[f"{part}{at}"] for part in ("text", "link", "date", "time")],
            }

    def about_post(self) -> list[Any]:
        """Return the fields about the sarcastic post's meaning."""
        return [self["explanation"], self["rephrase"]]

    def about_account(self) -> list[Any]:
        """Return the fields about the account."""
        return [self["followers"], self["verified"], self["own"]]

    def about_person(self) -> list[Any]:
        """Return the fields about the person; all are optional except the platform's id."""
        names = ("age", "gender", "birth_country", "birth_region", "country", "region")
        return [*([self["crowd_id"]] if "crowd_id" in self.fields else []), *(self[name] for name in names)]


def _check_link(value: str) -> None:
    if not value.startswith(_WEB):
        raise forms.ValidationError(gettext("A link begins with https://"))
    if not split_link(value).hostname:
        raise forms.ValidationError(gettext("This is not an address. Copy it from the browser."))


def _check_account(value: str) -> None:
    if not account_of_link(value):
        raise forms.ValidationError(gettext("The link does not name the account. Copy it from the post itself."))


def _check_sentence(value: str) -> None:
    if not is_full_sentence(value):
        raise forms.ValidationError(gettext("Please write a full sentence."))


def survey_response(cleaned: Mapping[str, Any], seconds: float, now: datetime) -> SurveyResponse:
    """Return what the rules check. A day without a time counts as its end; times are the participant's."""
    zone = _zone(cleaned.get("zone", ""))
    posts = tuple(
        SurveyPost(
            cleaned[f"text{at}"],
            cleaned[f"link{at}"],
            datetime.combine(cleaned[f"date{at}"], cleaned.get(f"time{at}") or datetime.max.time(), tzinfo=zone),
        )
        for at in range(_POSTS)
    )
    return SurveyResponse(posts, cleaned["followers"], cleaned["verified"], seconds, now)


def _zone(name: str) -> tzinfo:
    """Return the time zone that the browser names; UTC if it names none that is known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def stored_answers(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a submission."""
    posts = [
        {
            "text": cleaned[f"text{at}"],
            "link": cleaned[f"link{at}"],
            "date": cleaned[f"date{at}"].isoformat(),
            "sarcastic": at == 0,
        }
        for at in range(_POSTS)
    ]
    about = ("age", "gender", "birth_country", "birth_region", "country", "region")
    return {
        "posts": posts,
        "explanation": cleaned["explanation"],
        "rephrase": cleaned["rephrase"],
        "followers": cleaned["followers"],
        "verified": cleaned["verified"],
        **{name: cleaned[name] for name in about if cleaned.get(name) not in (None, "")},
    }


# ---------------------------------------------------------------- the rules


# Share of common word pairs above which two posts count as the same.
_NEAR_SHARE = 0.8

_LINK = re.compile(r"(?:https?://|www\.)\S+", re.IGNORECASE)
_HASHTAG = re.compile(r"[#＃]\w+")
_TRACKING = re.compile(r"utm_\w*|fbclid|gclid|igshi?d?|ref|ref_src|ref_url|si", re.IGNORECASE)
# Parts of a query that say how a link was shared at this host; elsewhere they may be a post's number.
_SHARING = {"x.com": ("s", "t"), "youtu.be": ("t",), "youtube.com": ("t",)}
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


def post_words(text: str) -> list[str]:
    """Return the words of a post without hashtags and links."""
    return _WORD.findall(_HASHTAG.sub(" ", _LINK.sub(" ", text)).casefold())


def account_of_link(link: str) -> str:
    """Return the account in a link: the host and the name after it; empty if there is none."""
    parts = split_link(link)
    steps = [step for step in parts.path.split("/") if step]
    if not parts.hostname or not steps:
        return ""
    host = _host(parts)
    # reddit.com/user/NAME and the like.
    named = steps[1:2] if steps[0] in ("user", "u", "users") else steps[:1]
    # x.com/i/status/1 names nobody.
    if not named or named[0] in ("i", "r", "status", "posts", "p") or len(steps) < 2:
        return ""
    return f"{host}/{named[0].casefold().lstrip('@')}"


def normalize_link(link: str) -> str:
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
    return host.removeprefix("www.").removeprefix("mobile.").removeprefix("m.").replace("twitter.com", "x.com")


def split_link(link: str) -> SplitResult:
    """Return the parts of a link; text that is not a link has no parts."""
    try:
        parts = urlsplit(link.strip())
        parts.hostname, parts.port  # noqa: B018 - both raise for a broken host
    except ValueError:
        return SplitResult("", "", "", "", "")
    return parts


def is_near_duplicate(one: str, other: str) -> bool:
    """Return whether two posts share most of their word pairs."""
    a, b = _pairs(one), _pairs(other)
    return bool(a and b) and len(a & b) / len(a | b) >= _NEAR_SHARE


def _pairs(text: str) -> frozenset[tuple[str, ...]]:
    found = post_words(text)
    return frozenset(itertools.pairwise(found)) if len(found) > 1 else frozenset([tuple(found)] if found else [])


def too_recent(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """Written for the survey rather than found in one's past."""
    newest = response.submitted_at - timedelta(hours=settings.hours)
    return any(post.written_at > newest for post in response.posts)


def several_accounts(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """Posts of more than one account cannot all be one's own."""
    return len({account_of_link(post.link) for post in response.posts} - {""}) > 1


def verified_account(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """A verified account is a known one, and easily claimed by others."""
    return response.verified


def too_many_followers(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """A popular account is easily claimed by others."""
    return (response.followers or 0) > settings.followers


def too_short(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """Too few words to judge, hashtags and links not counted."""
    return any(len(post_words(post.text)) < settings.words for post in response.posts)


def same_post_twice(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """The four posts must be four."""
    seen: list[SurveyPost] = []
    for post in response.posts:
        if _known(post, [(other.link, other.text) for other in seen]):
            return True
        seen.append(post)
    return False


def submitted_before(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """Handed in before, by its link or nearly word for word."""
    return any(_known(post, earlier) for post in response.posts)


def too_fast(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> bool:
    """Nobody finds four posts and explains one in so short a time."""
    return response.seconds < settings.minutes * 60


def _known(post: SurveyPost, others: Iterable[tuple[str, str]]) -> bool:
    link = normalize_link(post.link)
    return any((link and link == normalize_link(other)) or is_near_duplicate(post.text, text) for other, text in others)


Rule = Callable[[SurveyResponse, AuthorSurveySettings, Earlier], bool]
_RULES: tuple[Rule, ...] = (
    too_short, too_recent, several_accounts, same_post_twice,
    verified_account, too_many_followers, submitted_before, too_fast,
)  # fmt: skip
# Rules a participant can still satisfy before handing in.
_CORRECTABLE = ("too_short", "too_recent", "several_accounts", "same_post_twice")


def broken_rules(response: SurveyResponse, settings: AuthorSurveySettings, earlier: Earlier) -> list[str]:
    """Return the reasons why a submission cannot be used; empty if it can."""
    return [rule.__name__ for rule in _RULES if rule(response, settings, earlier)]


def posts_that_break(rule: str, response: SurveyResponse, settings: AuthorSurveySettings) -> list[int]:
    """Return the places, from 0, of the posts that break a rule; empty for rules about the whole."""
    posts = response.posts
    newest = response.submitted_at - timedelta(hours=settings.hours)
    broken = {
        "too_short": [at for at, post in enumerate(posts) if len(post_words(post.text)) < settings.words],
        "too_recent": [at for at, post in enumerate(posts) if post.written_at > newest],
        "same_post_twice": [
            at for at, post in enumerate(posts) if _known(post, [(other.link, other.text) for other in posts[:at]])
        ],
    }
    return broken.get(rule, [])


_HANGUL = re.compile("[가-힣]")
# A letter that is not laughter written with single Korean letters.
_LETTERS = re.compile(r"[^\W\d_ㄱ-ㅣ]")


def is_full_sentence(text: str) -> bool:
    """Return whether an answer is more than a word or two. Korean packs more into a word than English."""
    if not _LETTERS.search(text):
        return False
    count = len(text.split())
    if _HANGUL.search(text):
        return count >= 2 and len(re.sub(r"\s", "", text)) >= 8
    return count >= 4
