"""iSarcasm's third parties: what others perceive as sarcastic, against what the author meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.formats.study import ReaderJudgmentItem, ReaderJudgmentSettings
from deadpan.page import Cell, Table
from deadpan.ratings import cohen_kappa
from deadpan.ratings.ratings import MISSING
from deadpan.records import Example
from deadpan.stats import LEVEL, Interval, wilson
from deadpan.stats.interval import RESAMPLES, FloatArray, totals_interval
from deadpan.stats.scores import share
from deadpan.studio.protocols.protocol import (
    SARCASTIC,
    Answers,
    LazyText,
    Lesson,
    Question,
    Screen,
    Section,
    StudyProtocol,
    answer_shares,
    labelled_item,
    sarcastic_examples,
    sarcastic_or_not,
)

PERCEIVED = sarcastic_or_not(_("Is this sarcastic?"))
PAIRS_SHOWN = 30


class ReaderJudgmentProtocol(StudyProtocol[ReaderJudgmentItem, ReaderJudgmentSettings]):
    """Sarcastic or not, to somebody who did not write it. `context = "none"` shows the text only."""

    name = "reader-judgment"
    item_type = ReaderJudgmentItem
    settings_type = ReaderJudgmentSettings
    title: LazyText = _("Is it sarcastic?")
    summary: LazyText = _("Read what somebody wrote and say whether it is sarcastic.")
    blurb: LazyText = _(
        "Answer as it strikes you. There is no right answer to guess, and you do not see what others say."
    )
    lessons: Sequence[Lesson] = (
        Lesson(_("Sarcastic"), _("“Great, another Monday.”"), _("The writer means the opposite.")),
        Lesson(_("Not sarcastic"), _("“Mondays are hard.”"), _("The writer means what is said.")),
    )

    def item_from(self, record: Example) -> ReaderJudgmentItem:
        return labelled_item(ReaderJudgmentItem, record)

    def questions(self, settings: ReaderJudgmentSettings) -> tuple[Question, ...]:
        return (PERCEIVED,)

    def screen(self, item: ReaderJudgmentItem, settings: ReaderJudgmentSettings, order: str) -> Screen:
        """Return the text, with its context unless the study hides it."""
        context = () if settings.context == "none" else item.context
        return Screen(context, item.response, (), self.questions(settings))

    def examples_of(
        self,
        item: ReaderJudgmentItem,
        values: Mapping[str, str],
        answers: Answers[ReaderJudgmentItem, ReaderJudgmentSettings],
        tally: Tally,
    ) -> Iterator[Example]:
        yield from sarcastic_examples(item, values, answers, tally)

    def report(self, answers: Answers[ReaderJudgmentItem, ReaderJudgmentSettings]) -> list[Section]:
        """Return what people perceive against what the authors intended."""
        sections = [section for section in [answer_shares(answers, PERCEIVED)] if section]
        perceived = {item: value == SARCASTIC for item, value in answers.majority(PERCEIVED).items()}
        author_labels = {id: item.label for id, item in answers.items.items()}
        pairs = [(label, perceived[item]) for item in perceived if (label := author_labels.get(item)) is not None]
        if pairs:
            sections += [confusion_section(pairs), score_section(pairs)]
        if section := _kappa_by_pair(answers):
            sections.append(section)
        return sections


def confusion_section(pairs: Sequence[tuple[bool, bool]]) -> Section:
    """Return the table of intended against perceived labels."""
    count = {cell: pairs.count(cell) for cell in [(a, b) for a in (True, False) for b in (True, False)]}
    rows: list[tuple[Cell, ...]] = [
        (gettext("intended sarcastic"), count[True, True], count[True, False]),
        (gettext("intended not sarcastic"), count[False, True], count[False, False]),
    ]
    head = (gettext("by the author"), gettext("perceived sarcastic"), gettext("perceived not sarcastic"))
    return Section(gettext("Intended and perceived"), Table(head, tuple(rows)))


def score_section(pairs: Sequence[tuple[bool, bool]]) -> Section:
    """Return precision, recall and F of people against the author's label."""
    hit = sum(a and b for a, b in pairs)
    perceived, meant = sum(b for _, b in pairs), sum(a for a, _ in pairs)
    rows: tuple[tuple[Cell, ...], ...] = (
        (gettext("precision"), wilson(hit, perceived)),
        (gettext("recall"), wilson(hit, meant)),
        (gettext("F"), _f_measure(pairs)),
    )
    return Section(
        gettext("How well people tell what the author meant"), Table((gettext("score"), gettext("value")), rows)
    )


def _f_measure(pairs: Sequence[tuple[bool, bool]]) -> Interval:
    """Return F with a bootstrap interval over items: F is not a proportion, so Wilson's does not apply."""
    kinds = np.array([(a and b, b, a) for a in (True, False) for b in (True, False)], dtype=np.float64)
    counts = np.array([pairs.count((a, b)) for a in (True, False) for b in (True, False)])

    def of(sums: FloatArray) -> FloatArray:
        return share(2 * sums[..., 0], sums[..., 1] + sums[..., 2], np.nan)

    # The reason belongs to an undefined value only.
    why = "" if counts[:3].sum() else gettext("nothing was sarcastic")
    return totals_interval(
        kinds, counts, of, len(pairs), why, RESAMPLES, LEVEL, 0, limits=(0.0, 1.0),
        whole=lambda sums: sums[:, 1:2] + sums[:, 2:3],
    )  # fmt: skip


def _kappa_by_pair(answers: Answers[ReaderJudgmentItem, ReaderJudgmentSettings]) -> Section | None:
    ratings = answers.ratings(PERCEIVED)
    if ratings is None or len(ratings.raters) < 2:
        return None
    rows: list[tuple[Cell, ...]] = []
    for one, other in list(combinations(ratings.raters, 2))[:PAIRS_SHOWN]:
        codes = ratings.codes[:, [ratings.raters.index(one), ratings.raters.index(other)]]
        both = (codes != MISSING).any(axis=1)
        items = tuple(item for item, kept in zip(ratings.items, both, strict=True) if kept)
        two = replace(ratings, raters=(one, other), items=items, codes=codes[both])
        rows.append((f"{one} – {other}", cohen_kappa(two, resamples=answers.resamples)))
    return Section(gettext("Cohen's kappa, pair by pair"), Table((gettext("raters"), gettext("kappa")), tuple(rows)))
