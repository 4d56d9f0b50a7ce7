"""The survey's form, and what its answers are stored as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.studio.quality import Post, Response

POSTS = 4
LINKS = ("http://", "https://")
GENDERS = (
    ("", _("rather not say")),
    ("female", _("female")),
    ("male", _("male")),
    ("other", _("other")),
)
REASONS: Mapping[str, Any] = {
    "too_short": _("A post has fewer than five words, hashtags and links not counted. Choose a longer one."),
    "too_recent": _("A post is less than 48 hours old. Choose an older one."),
    "several_accounts": _("The links lead to different accounts. All four posts must be from one."),
    "same_post_twice": _("Two of the four posts are the same. Choose four different ones."),
    "verified_account": _("Posts of verified accounts cannot be used."),
    "too_many_followers": _("Posts of accounts with very many followers cannot be used."),
    "submitted_before": _("One of these posts was handed in before."),
    "too_fast": _("The survey was filled in too quickly to be used."),
}


def _area(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows})


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
    age = forms.IntegerField(label=_("Age (optional)"), required=False, min_value=16, max_value=120)
    gender = forms.ChoiceField(label=_("Gender (optional)"), required=False, choices=GENDERS)
    birth_country = forms.CharField(label=_("Country of birth (optional)"), required=False, max_length=80)
    birth_region = forms.CharField(label=_("Region of birth (optional)"), required=False, max_length=80)
    country = forms.CharField(label=_("Country you live in (optional)"), required=False, max_length=80)
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
            self.fields[f"link{at}"].validators.append(_check_link)
        if crowd:
            self.fields["crowd_id"] = forms.CharField(
                label=_("Your id on the crowd platform"), max_length=120
            )
        for name in ("explanation", "rephrase"):
            self.fields[name].validators.append(_check_sentence)

    def posts(self) -> Iterator[dict[str, Any]]:
        """The fields of each post, for the template."""
        for at in range(POSTS):
            yield {
                "sarcastic": at == 0,
                "number": at + 1,
                "fields": [self[f"{part}{at}"] for part in ("text", "link", "date")],
            }

    def about_post(self) -> list[Any]:
        """The fields on the sarcastic post's meaning."""
        return [self["explanation"], self["rephrase"]]

    def about_account(self) -> list[Any]:
        """The fields on the account."""
        return [self["followers"], self["verified"], self["own"]]

    def about_person(self) -> list[Any]:
        """The fields on the person; all optional but the platform's id."""
        names = ("age", "gender", "birth_country", "birth_region", "country", "region")
        return [*([self["crowd_id"]] if "crowd_id" in self.fields else []), *(self[name] for name in names)]


def _check_link(value: str) -> None:
    if not value.startswith(LINKS):
        raise forms.ValidationError(gettext("A link begins with https://"))


def _check_sentence(value: str) -> None:
    if len(value.split()) < 4:
        raise forms.ValidationError(gettext("Please write a full sentence."))


def response_of(cleaned: Mapping[str, Any], seconds: float, now: datetime) -> Response:
    """What the rules look at. A day counts as its end: a post of yesterday is not 48 hours old."""
    posts = tuple(
        Post(
            cleaned[f"text{at}"],
            cleaned[f"link{at}"],
            datetime.combine(cleaned[f"date{at}"], datetime.max.time(), tzinfo=UTC),
        )
        for at in range(POSTS)
    )
    return Response(posts, cleaned["followers"], cleaned["verified"], seconds, now)


def answers_of(cleaned: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored of a submission."""
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
