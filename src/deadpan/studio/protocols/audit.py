"""SARC's check of its own labels: how many are wrong, in either direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.errors import DataError
from deadpan.page import Cell, Table
from deadpan.stats import wilson
from deadpan.studies import StudyItem
from deadpan.studio.protocols.protocol import (
    SARCASTIC,
    SINCERE,
    Answers,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    Words,
    is_sarcastic,
    sarcastic_or_not,
    shares,
)

MEANT = sarcastic_or_not(_("Was the author being sarcastic?"))


class Audit(StudyProtocol):
    """Comments of either label with all their context and their original words; the label is hidden."""

    name = "audit"
    title: Words = _("Check the labels")
    summary: Words = _("Read a comment with everything before it and say whether its author was sarcastic.")
    raters = 1
    blurb: Words = _(
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

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return (MEANT,)

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        response = {**item.response, "text": str(item.shown.get("original") or item.response["text"])}
        place = item.shown.get("subreddit")
        notes = [(_("Where"), str(place))] if place else []
        return Screen(item.context, response, notes, self.questions(settings))

    def check(self, items: Sequence[StudyItem]) -> None:
        super().check(items)
        for item in items:
            if is_sarcastic(item.hidden) is None and "check" not in item.hidden:
                raise DataError(f"item {item.id!r} has no hidden label: an audit checks labels, give them")

    def report(self, answers: Answers) -> list[Section]:
        sections = [section for section in [shares(answers, MEANT)] if section]
        found = answers.majority(MEANT)
        rows: list[tuple[Cell, ...]] = []
        for label, name, wrong in (
            (True, gettext("labelled sarcastic, but is not (false positive)"), SINCERE),
            (False, gettext("labelled not sarcastic, but is (false negative)"), SARCASTIC),
        ):
            checked = [v for i, v in found.items() if is_sarcastic(answers.hidden.get(i, {})) is label]
            rows.append((name, wilson(checked.count(wrong), len(checked))))
        return [
            *sections,
            Section(gettext("Error rates"), Table((gettext("error"), gettext("rate")), tuple(rows))),
        ]
