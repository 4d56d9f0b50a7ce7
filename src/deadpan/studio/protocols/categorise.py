"""iSarcasm's linguist: the category of ironic speech of a post, given its author's explanation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.formats.study import CategoriseItem, StudySettings
from deadpan.records import Example, Label
from deadpan.studio.protocols.protocol import (
    Answers,
    Choice,
    LazyText,
    Lesson,
    Question,
    Screen,
    StudyProtocol,
    labelled_item,
    perceived_example,
)

INVALID = "invalid"

_CATEGORY = Question(
    "category",
    _("Which kind of ironic speech is this?"),
    (
        Choice("sarcasm", _("Sarcasm")),
        Choice("irony", _("Irony")),
        Choice("satire", _("Satire")),
        Choice("understatement", _("Understatement")),
        Choice("overstatement", _("Overstatement")),
        Choice("rhetorical_question", _("Rhetorical question")),
        Choice(INVALID, _("Invalid: the author's explanation does not hold")),
    ),
)


class CategoriseProtocol(StudyProtocol[CategoriseItem, StudySettings]):
    """One category per text. Invalid ones are excluded from labels and releases, and counted."""

    name = "categorise"
    item_type = CategoriseItem
    title: LazyText = _("Categorise ironic posts")
    summary: LazyText = _("Read a post and what its author says about it, then choose its kind.")
    raters = 1
    blurb: LazyText = _(
        "Each post was called sarcastic by its author. You see it with the author's explanation "
        "and with the same said plainly. Choose the one kind that fits best."
    )
    lessons: Sequence[Lesson] = (
        Lesson(_("Sarcasm"), _("“Thanks for parking across two spaces, so kind.”"),
               _("Contradicts the state of affairs and is critical towards an addressee.")),
        Lesson(_("Irony"), _("“Lovely, rain again on my day off.”"),
               _("Contradicts the state of affairs, but criticises nobody in particular.")),
        Lesson(_("Satire"), _("“The minister works tirelessly, as his tan shows.”"),
               _("Seems to support somebody, but disagrees and mocks underneath.")),
        Lesson(_("Understatement"), _("“The flood made the carpet a little damp.”"),
               _("Makes the state of affairs sound smaller than it is.")),
        Lesson(_("Overstatement"), _("“I have only told you this nine million times.”"),
               _("Describes the state of affairs in obviously exaggerated terms.")),
        Lesson(_("Rhetorical question"), _("“Who doesn't love a meeting at seven in the morning?”"),
               _("A question whose expected answer contradicts the state of affairs.")),
        Lesson(_("Invalid"), _("“Good morning.” Explanation: “because I said so”."),
               _("The explanation is unclear or does not make the post ironic. Invalid posts are left out.")),
    )  # fmt: skip

    def items_from(self, records: Sequence[Example], *, sample: int = 0, seed: int = 0) -> list[CategoriseItem]:
        """Return the items of examples that are not labelled sincere."""
        # A sincere text has no kind of irony.
        ironic = [example for example in records if example.label is not False]
        return super().items_from(ironic, sample=sample, seed=seed)

    def item_from(self, record: Example) -> CategoriseItem:
        return labelled_item(CategoriseItem, record, explanation=record.explanation, rephrase=record.rephrase)

    def questions(self, settings: StudySettings) -> tuple[Question, ...]:
        return (_CATEGORY,)

    def screen(self, item: CategoriseItem, settings: StudySettings, order: str) -> Screen:
        """Return the post with what its author says of it."""
        parts = ((_("The author's explanation"), item.explanation), (_("The same, said plainly"), item.rephrase))
        notes = [(title, text) for title, text in parts if text]
        return Screen(item.context, item.response, notes, self.questions(settings))

    def invalid_items(self, labels: Sequence[Label]) -> dict[str, str]:
        """Return the posts a majority or an adjudicator called invalid. A tie waits for adjudication."""
        decided = ("majority", "adjudicated")
        final = {label.item_id: label.value for label in labels if label.value and label.method in decided}
        return {item: INVALID for item, value in final.items() if value == INVALID}

    def examples_of(
        self,
        item: CategoriseItem,
        values: Mapping[str, str],
        answers: Answers[CategoriseItem, StudySettings],
        tally: Tally,
    ) -> Iterator[Example]:
        """Yield the post as sarcastic: its author said so."""
        yield replace(
            perceived_example(item, answers, True),
            label_kind="author",
            categories=(values[_CATEGORY.name],),
            explanation=item.explanation,
            rephrase=item.rephrase,
        )
