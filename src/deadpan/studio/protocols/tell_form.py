"""The survey's form, and what its answers are stored as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.studio.people.countries import country_code
from deadpan.studio.people.facts import GENDERS, country_choices
from deadpan.studio.protocols.tell_rules import SurveyPost, SurveyResponse, is_sentence, split_link

POSTS = 4
LINKS = ("http://", "https://")
AGES = range(16, 101)
NOT_SAID = ("", _("rather not say"))
REASONS: Mapping[str, Any] = {
    "too_short": _(
        "A post has fewer than %(words)s words, hashtags and links not counted. Choose a longer one."
    ),
    "too_recent": _("A post is less than %(hours)s hours old. Choose an older one."),
    "several_accounts": _("The links lead to different accounts. All four posts must be from one."),
    "same_post_twice": _("Two of the four posts are the same. Choose four different ones."),
    "verified_account": _("Posts of verified accounts cannot be used."),
    "too_many_followers": _("Posts of accounts with very many followers cannot be used."),
    "submitted_before": _("One of these posts has already been submitted."),
    "too_fast": _("The survey was filled in too quickly to be used."),
}


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
        label=_("Why is the first post sarcastic? Answer in full sentences."),
        widget=_area(3),
        max_length=2000,
    )
    rephrase = forms.CharField(
        label=_("How would you say the same without sarcasm? Answer in full sentences."),
        widget=_area(3),
        max_length=2000,
    )
    verified = forms.BooleanField(label=_("The account is verified"), required=False)
    followers = forms.IntegerField(label=_("How many followers does it have?"), min_value=0, max_value=10**9)
    own = forms.BooleanField(
        label=_("I wrote all four posts myself; none is a repost, none needs a picture.")
    )
    age = forms.TypedChoiceField(
        label=_("Age (optional)"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[NOT_SAID, *((year, year) for year in AGES)],
    )
    gender = forms.ChoiceField(label=_("Gender (optional)"), required=False, choices=[NOT_SAID, *GENDERS])
    birth_country = CountryField(
        label=_("Country of birth (optional)"), required=False, choices=country_choices
    )
    birth_region = forms.CharField(label=_("Region of birth (optional)"), required=False, max_length=80)
    country = CountryField(label=_("Country you live in (optional)"), required=False, choices=country_choices)
    region = forms.CharField(label=_("Region you live in (optional)"), required=False, max_length=80)

    def __init__(self, *args: Any, crowd: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for at in range(POSTS):
            self.fields[f"text{at}"] = forms.CharField(
                label=_("The post, word for word"), widget=_area(3), max_length=2000
            )
            self.fields[f"link{at}"] = forms.CharField(
                label=_("Its link (optional)"), required=False, max_length=500, widget=forms.URLInput()
            )
            self.fields[f"date{at}"] = forms.DateField(
                label=_("The day you posted it"), widget=forms.DateInput(attrs={"type": "date"})
            )
            self.fields[f"time{at}"] = forms.TimeField(
                label=_("The time, if you know it"),
                required=False,
                widget=forms.TimeInput(attrs={"type": "time"}),
            )
            self.fields[f"link{at}"].validators.append(_check_link)
        self.fields["zone"] = forms.CharField(required=False, max_length=60, widget=forms.HiddenInput())
        if crowd:
            self.fields["crowd_id"] = forms.CharField(
                label=_("Your id on the crowd platform"), max_length=120
            )
        for name in ("explanation", "rephrase"):
            self.fields[name].validators.append(_check_sentence)

    def posts(self) -> Iterator[dict[str, Any]]:
        """Yield the fields of each post."""
        for at in range(POSTS):
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
    if not value.startswith(LINKS):
        raise forms.ValidationError(gettext("A link begins with https://"))
    if not split_link(value).hostname:
        raise forms.ValidationError(gettext("This is not an address. Copy it from the browser."))


def _check_sentence(value: str) -> None:
    if not is_sentence(value):
        raise forms.ValidationError(gettext("Please write a full sentence."))


def response_of(cleaned: Mapping[str, Any], seconds: float, now: datetime) -> SurveyResponse:
    """Return what the rules check. A day without a time counts as its end; times are the participant's."""
    zone = _zone(cleaned.get("zone", ""))
    posts = tuple(
        SurveyPost(
            cleaned[f"text{at}"],
            cleaned[f"link{at}"],
            datetime.combine(
                cleaned[f"date{at}"], cleaned.get(f"time{at}") or datetime.max.time(), tzinfo=zone
            ),
        )
        for at in range(POSTS)
    )
    return SurveyResponse(posts, cleaned["followers"], cleaned["verified"], seconds, now)


def _zone(name: str) -> tzinfo:
    """Return the time zone that the browser names; UTC if it names none that is known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def answers_of(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a submission."""
    posts = [
        {
            "text": cleaned[f"text{at}"],
            "link": cleaned[f"link{at}"],
            "date": cleaned[f"date{at}"].isoformat(),
            "sarcastic": at == 0,
        }
        for at in range(POSTS)
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
