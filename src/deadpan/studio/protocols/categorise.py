"""iSarcasm's linguist: which kind of ironic speech a post is, given what its author says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from deadpan.studio.protocols.protocol import Choice, Lesson, Question, Screen, StudyProtocol, Words

CATEGORY = Question(
    "category",
    _("Which kind of ironic speech is this?"),
    (
        Choice("sarcasm", _("Sarcasm")),
        Choice("irony", _("Irony")),
        Choice("satire", _("Satire")),
        Choice("understatement", _("Understatement")),
        Choice("overstatement", _("Overstatement")),
        Choice("rhetorical_question", _("Rhetorical question")),
        Choice("invalid", _("Invalid: the author's explanation does not hold")),
    ),
)


class Categorise(StudyProtocol):
    """One category a text. Invalid ones are left out of labels and releases, and counted."""

    name = "categorise"
    title: Words = _("Categorise ironic posts")
    summary: Words = _("Read a post and what its author says about it, then choose its kind.")
    raters = 1
    blurb: Words = _(
        "Each post was called sarcastic by the one who wrote it. You see it with the author's explanation "
        "and with the same meant plainly. Choose the one kind that fits best."
    )
    lessons: Sequence[Lesson] = (
        Lesson(_("Sarcasm"), _("“Thanks for parking across two spaces, so kind.”"),
               _("Contradicts the state of affairs and is critical towards an addressee.")),
        Lesson(_("Irony"), _("“Lovely, rain again on my day off.”"),
               _("Contradicts the state of affairs, but criticises nobody in particular.")),
        Lesson(_("Satire"), _("“The minister works tirelessly, as his tan shows.”"),
               _("Seems to support somebody, but disagrees and mocks underneath.")),
        Lesson(_("Understatement"), _("“The flood made the carpet a little damp.”"),
               _("Makes less of the state of affairs than it is.")),
        Lesson(_("Overstatement"), _("“I have only told you this nine million times.”"),
               _("Describes the state of affairs in obviously exaggerated terms.")),
        Lesson(_("Rhetorical question"), _("“Who doesn't love a meeting at seven in the morning?”"),
               _("A question whose expected answer contradicts the state of affairs.")),
        Lesson(_("Invalid"), _("“Good morning.” Explanation: “because I said so”."),
               _("The explanation is unclear or does not make the post ironic. Invalid posts are left out.")),
    )  # fmt: skip

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return (CATEGORY,)

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        parts = (
            (_("The author's explanation"), "explanation"),
            (_("The same, meant plainly"), "rephrase"),
        )
        notes = [(title, str(item.shown[key])) for title, key in parts if item.shown.get(key)]
        return Screen(item.context, item.response, notes, self.questions(settings))
