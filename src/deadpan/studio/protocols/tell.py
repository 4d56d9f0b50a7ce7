"""iSarcasm's survey: people hand in posts of their own and say what they meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.page import Table
from deadpan.studies import StudyItem
from deadpan.studio.protocols.protocol import Answers, Lesson, Question, Section, StudyProtocol, Words


class Tell(StudyProtocol):
    """One sarcastic and three other posts of one's own. The rules are in quality.py, each with a reason."""

    name = "tell"
    title: Words = _("Tell us about your posts")
    summary: Words = _("Hand in one sarcastic and three other posts of your own, and say what you meant.")
    survey = True
    defaults: Mapping[str, Any] = {
        "hours": 48,
        "followers": 30_000,
        "words": 5,
        "minutes": 3.0,
        "crowd": False,
        "completion_code": "",
    }
    blurb: Words = _(
        "Look for posts you wrote yourself: no reposts, and none that needs a picture or a video to be "
        "understood. One of them was meant sarcastically, three were not. They must all come from one "
        "account and be older than 48 hours."
    )
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Explanation"),
            _("“I wrote this because my train was late for the third time that week.”"),
            _("Full sentences that say why the post is sarcastic."),
        ),
        Lesson(
            _("The same, meant plainly"),
            _("“I am annoyed that the train is late again.”"),
            _("The same message without sarcasm, as you would say it to a friend."),
        ),
    )
    consent: Words = _(
        "You hand in posts of your own. Only their links or numbers are made public unless the study says "
        "otherwise, so that a post you delete is gone. Age, gender and country are optional and published in "
        "broad groups only. You get a code with which you can withdraw everything later."
    )

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return ()

    def check(self, items: Sequence[StudyItem]) -> None:
        """A survey has no items: people bring them."""

    def report(self, answers: Answers) -> list[Section]:
        kept = sum(not reasons for _, reasons in answers.submissions)
        counts = Counter(reason for _, reasons in answers.submissions for reason in reasons)
        rows: list[tuple[str, int]] = [(gettext("kept"), kept)]
        rows += sorted(counts.items(), key=lambda row: -row[1])
        return [
            Section(gettext("Submissions"), Table((gettext("outcome"), gettext("submissions")), tuple(rows)))
        ]
