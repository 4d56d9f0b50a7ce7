"""iSarcasm's survey: people hand in posts of their own and say what they meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.study_items import StudyItem
from deadpan.formats.study_settings import TellSettings
from deadpan.page import Table
from deadpan.records import Example, Turn
from deadpan.studio.protocols.answers import Answers, Section
from deadpan.studio.protocols.groups import safe_groups
from deadpan.studio.protocols.protocol import StudyProtocol, SurveyEntry
from deadpan.studio.protocols.questions import Lesson, Words
from deadpan.studio.protocols.tell_form import REASONS, SurveyForm, answers_of, response_of
from deadpan.studio.protocols.tell_rules import CORRECTABLE, posts_that, reasons

SMALLEST_GROUP = 5
"""A group of fewer people than this could identify somebody: its value is not released."""
AGES = ((16, 24), (25, 34), (35, 44), (45, 54), (55, 200))
_PART = {"too_short": "text", "too_recent": "date", "same_post_twice": "text"}
"""The part of a post that a rule is about."""
TellAnswers = Answers[StudyItem, TellSettings]


def _numbers(settings: TellSettings) -> dict[str, str]:
    """Return the limits that messages name."""
    return {"hours": f"{settings.hours:g}", "words": str(settings.words)}


class TellProtocol(StudyProtocol[StudyItem, TellSettings]):
    """One sarcastic and three other posts of one's own. tell_rules.py has the rules."""

    name = "tell"
    settings_type = TellSettings
    title: Words = _("Tell us about your posts")
    summary: Words = _("Submit one sarcastic and three other posts of your own, and say what you meant.")
    survey = True
    survey_template = "studio/survey.html"
    survey_reasons: Mapping[str, Words] = REASONS
    blurb: Words = _(
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
    consent: Words = _(
        "You submit posts of your own. Only their links or numbers are made public unless the study says "
        "otherwise, so that a post you delete is gone. Age, gender and country are optional and published in "
        "broad groups only. You get a code with which you can withdraw everything later."
    )

    def items_from(self, records: Sequence[Any], *, sample: int = 0, seed: int = 0) -> list[StudyItem]:
        """Refuse: a survey has no items."""
        raise ConfigError("tell is a survey, participants hand in their own posts: leave SOURCE out")

    def introduction(self, settings: TellSettings) -> str:
        """Return the blurb with the age that posts must have."""
        return str(self.blurb) % _numbers(settings)

    def survey_reason(self, reason: str, settings: TellSettings) -> str:
        """Return the message of a rule with its limit."""
        return str(self.survey_reasons.get(reason, reason)) % _numbers(settings)

    def survey_form(self, data: Any, settings: TellSettings) -> SurveyForm:
        """Return the form, with a field for the platform's id if the study asks for it."""
        return SurveyForm(data, crowd=settings.crowd)

    def survey_entry(
        self,
        cleaned: Mapping[str, Any],
        settings: TellSettings,
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
        response = response_of(cleaned, seconds, now)
        broken = tuple(reasons(response, settings, known))
        correctable = tuple(rule for rule in broken if rule in CORRECTABLE)
        fields = {rule: [f"{_PART[rule]}{at}" for at in posts_that(rule, response, settings)]
                  for rule in correctable if rule in _PART}  # fmt: skip
        return SurveyEntry(answers_of(cleaned), broken, correctable, fields)

    def report(self, answers: TellAnswers) -> list[Section]:
        """Return how many submissions are used, and why others are not."""
        counts = Counter(reason for reasons in answers.rejected for reason in reasons)
        rows: list[tuple[str, int]] = [(gettext("kept"), len(answers.submissions))]
        rows += sorted(counts.items(), key=lambda row: -row[1])
        return [
            Section(gettext("Submissions"), Table((gettext("outcome"), gettext("submissions")), tuple(rows)))
        ]

    def to_examples(self, answers: TellAnswers, tally: Tally) -> Iterator[Example]:
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
    groups = {
        name: str(answers[name]) for name in ("gender", "country", "birth_country") if answers.get(name)
    }
    age = answers.get("age")
    if isinstance(age, int):
        groups["age"] = next(
            (f"{low}-{high}" if high < 200 else f"{low}+" for low, high in AGES if low <= age <= high), ""
        )
    return {name: value for name, value in groups.items() if value}
