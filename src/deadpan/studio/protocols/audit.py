"""SARC's audit of its labels: the rates of false positives and false negatives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.errors import ConfigError
from deadpan.formats.study import AuditItem, AuditSettings
from deadpan.page import Cell, Table
from deadpan.records import Example, Turn
from deadpan.stats import wilson
from deadpan.studio.protocols.protocol import (
    SARCASTIC,
    SINCERE,
    Answers,
    LazyText,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    answer_shares,
    labelled_item,
    sample_items,
    sarcastic_examples,
    sarcastic_or_not,
)

MEANT = sarcastic_or_not(_("Was the author being sarcastic?"))


class AuditProtocol(StudyProtocol[AuditItem, AuditSettings]):
    """Comments of both labels with all their context and their original words; the label is hidden."""

    name = "audit"
    item_type = AuditItem
    settings_type = AuditSettings
    title: LazyText = _("Check the labels")
    summary: LazyText = _("Read a comment with everything before it and say whether its author was sarcastic.")
    raters = 1
    blurb: LazyText = _(
        "The comment is shown as it was written. A closing “/s” marks sarcasm, unless it is part of the "
        "sentence, for instance when somebody talks about the tag itself. Without one, call a comment "
        "sarcastic only if its author clearly was."
    )
    lessons: Sequence[Lesson] = (
        Lesson(_("Sarcastic"), _("“Sure, that will end well. /s”"), _("The tag is the author's own mark.")),
        Lesson(_("Not sarcastic"), _("“You forgot the /s”"), _("The tag is talked about, not used.")),
        Lesson(_("Sarcastic"), _("“Oh yes, because that worked so well last time.”"),
               _("No tag, but clearly meant the other way.")),
    )  # fmt: skip

    def items_from(self, records: Sequence[Example], *, sample: int = 0, seed: int = 0) -> list[AuditItem]:
        """Return `sample` items of either label."""
        items = [labelled_item(AuditItem, example, original=example.response.text) for example in records]
        drawn = [
            item
            for label in (True, False)
            for item in sample_items([item for item in items if item.label is label], sample, seed)
        ]
        if not drawn:
            raise ConfigError("an audit checks labels, and this source has none")
        return drawn

    def questions(self, settings: AuditSettings) -> tuple[Question, ...]:
        return (MEANT,)

    def screen(self, item: AuditItem, settings: AuditSettings, order: str) -> Screen:
        """Return the comment in its original words."""
        response = Turn(item.response.speaker, item.original or item.response.text)
        notes = [(_("Where"), item.subreddit)] if item.subreddit else []
        return Screen(item.context, response, notes, self.questions(settings))

    def examples_of(
        self, item: AuditItem, values: Mapping[str, str], answers: Answers[AuditItem, AuditSettings], tally: Tally
    ) -> Iterator[Example]:
        yield from sarcastic_examples(item, values, answers, tally)

    def report(self, answers: Answers[AuditItem, AuditSettings]) -> list[Section]:
        """Return the error rates of both labels, with intervals."""
        sections = [section for section in [answer_shares(answers, MEANT)] if section]
        majority = answers.majority(MEANT)
        labels = {id: item.label for id, item in answers.items.items()}
        rows: list[tuple[Cell, ...]] = []
        for label, name, wrong in (
            (True, gettext("labelled sarcastic, but is not (false positive)"), SINCERE),
            (False, gettext("labelled not sarcastic, but is (false negative)"), SARCASTIC),
        ):
            checked = [answer for item, answer in majority.items() if labels.get(item) is label]
            rows.append((name, wilson(checked.count(wrong), len(checked))))
        return [*sections, Section(gettext("Error rates"), Table((gettext("error"), gettext("rate")), tuple(rows)))]
