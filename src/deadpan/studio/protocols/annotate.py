"""KoCoSa's annotation: is the last turn sarcastic, is the dialogue sound, does the explanation fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from django.utils.functional import lazy
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from deadpan.drops import Tally
from deadpan.formats.study import (
    ABNORMAL,
    AWKWARD,
    CASUAL,
    CRITICISM,
    MISFORMATTED,
    NORMAL,
    NOT_SARCASM,
    SARCASM,
    AnnotateItem,
    AnnotateSettings,
)
from deadpan.records import Example
from deadpan.studio.protocols.protocol import (
    REMARK,
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

_RESPONSE = Question(
    "response",
    _("Is the last response sarcastic, and does it fit what came before?"),
    (Choice(SARCASM, _("Sarcasm")), Choice(NOT_SARCASM, _("Not sarcasm")), Choice(ABNORMAL, _("Abnormal"))),
)
SINCERE_DIALOGUE = ({"response": (NOT_SARCASM,), "context": ("", NORMAL)},)
ABNORMALITY = ({"response": (ABNORMAL,)}, {"context": (ABNORMAL,)})
"""KoCoSa's Table 5 counts the kinds of both: of abnormal responses and of abnormal contexts."""
_KIND = Question(
    "kind",
    _("What kind is it?"),
    (
        Choice(CASUAL, _("Casual dialogue"), cases=SINCERE_DIALOGUE),
        Choice(CRITICISM, _("Direct criticism"), cases=SINCERE_DIALOGUE),
        Choice(AWKWARD, _("Awkward in this context"), cases=ABNORMALITY),
        Choice(MISFORMATTED, _("Wrong format"), cases=ABNORMALITY),
    ),
    cases=(*SINCERE_DIALOGUE, *ABNORMALITY),
)
_CONTEXT = Question(
    "context",
    _("Is what came before a natural dialogue?"),
    (Choice(NORMAL, _("Normal")), Choice(ABNORMAL, _("Abnormal"))),
)
_EXPLANATION = Question(
    "explanation",
    _("Does the explanation make clear why the response is sarcastic?"),
    (Choice(NORMAL, _("Normal")), Choice(ABNORMAL, _("Abnormal"))),
)


def _in_language(english: str, korean: str) -> LazyText:
    """Return a published text in the reader's language; the paper has no others."""
    return lazy(lambda: korean if (get_language() or "").startswith("ko") else english, str)()


# KoCoSa: section 3.4.2, and the page in its Figure 4. The answers are named in English there too.
_PUBLISHED = (
    replace(
        _RESPONSE,
        text=_in_language(
            "Does the last response have sarcastic nuance while congruent with context?",
            "대답의 성격 (한 개만 체크해주세요.)",
        ),
        choices=(Choice(SARCASM, "Sarcasm"), Choice(NOT_SARCASM, "Non-Sarcasm"), Choice(ABNORMAL, "Abnormal")),
    ),
    replace(
        _CONTEXT,
        text=_in_language(
            "Does the provided context seem to be a natural dialogue?", "대화문의 성격 (한 개만 체크해주세요.)"
        ),
        choices=(Choice(NORMAL, "Normal"), Choice(ABNORMAL, "Abnormal")),
    ),
    replace(
        _EXPLANATION,
        text=_in_language(
            "Does the explanation offer a suitable description of why the response is sarcasm?",
            "반어법 설명에 대한 적절성 (한 개만 체크해주세요.)",
        ),
        choices=(Choice(NORMAL, "Normal"), Choice(ABNORMAL, "Abnormal")),
    ),
    replace(
        REMARK,
        text=_in_language(
            "(Optional) If there is a problem with the dialogue, please leave your opinion.",
            "(선택사항) 해당 대화문에 대한 문제점이 있다면 의견을 남겨주세요.",
        ),
    ),
)


class AnnotateProtocol(StudyProtocol[AnnotateItem, AnnotateSettings]):
    """Three questions per dialogue, after a qualification round."""

    name = "annotate"
    item_type = AnnotateItem
    settings_type = AnnotateSettings
    qualification = 20
    title: LazyText = _("Annotate dialogues")
    summary: LazyText = _("Read a dialogue, then say whether its last response is sarcastic.")
    blurb: LazyText = _(
        "Sarcasm says the opposite of what is meant, often to make fun of a person or a situation. Whether "
        "something is sarcastic can only be seen from what came before it, so read the whole dialogue first. "
        "Then answer the questions in order."
    )
    lessons: Sequence[Lesson] = (
        Lesson(
            _("Sarcasm"),
            _("A: I forgot your birthday again. B: Wow, you are so thoughtful."),
            _("B praises what deserves no praise: the words say one thing, the situation another."),
        ),
        Lesson(
            _("Not sarcasm: casual dialogue"),
            _("A: I found a cheap flight. B: Great, which day?"),
            _("B means what B says."),
        ),
        Lesson(
            _("Not sarcasm: direct criticism"),
            _("A: I bought a third car. B: That is a waste of money."),
            _("B is critical, but openly so: nothing is hidden behind other words."),
        ),
        Lesson(
            _("Abnormal: awkward"),
            _("A: How was the film? B: You are so hardworking, aren't you."),
            _("The response does not fit what came before, so nobody can say what it means."),
        ),
        Lesson(
            _("Abnormal: wrong format"),
            _("A: See you at six. B: A: Fine. B: Explanation: he is late."),
            _("The response holds several turns, a label or half a sentence."),
        ),
    )

    def item_from(self, record: Example) -> AnnotateItem:
        return labelled_item(AnnotateItem, record, explanation=record.explanation)

    def questions(self, settings: AnnotateSettings) -> tuple[Question, ...]:
        return _PUBLISHED if settings.wording == "kocosa" else (_RESPONSE, _CONTEXT, _KIND, _EXPLANATION, REMARK)

    def screen(self, item: AnnotateItem, settings: AnnotateSettings, order: str) -> Screen:
        """Return the dialogue; an item without an explanation is not asked about one."""
        explanation = item.explanation.strip()
        notes = [(_("Explanation"), explanation)] if explanation else []
        asked = [q for q in self.questions(settings) if q.name != _EXPLANATION.name or explanation]
        return Screen(item.context, item.response, notes, asked)

    def examples_of(
        self,
        item: AnnotateItem,
        values: Mapping[str, str],
        answers: Answers[AnnotateItem, AnnotateSettings],
        tally: Tally,
    ) -> Iterator[Example]:
        """Yield the dialogue by KoCoSa's Table 3: without an abnormal response its context remains."""
        if values.get("context") == ABNORMAL:
            tally.drop("context_abnormal", item.id, values.get("kind", ""))
        elif "response" not in values or "context" not in values:
            tally.drop("no_majority", item.id)
        elif values["response"] == ABNORMAL:
            yield from _without_response(item, answers, tally)
        else:
            sarcastic = values["response"] == SARCASM
            example = perceived_example(item, answers, sarcastic)
            yield replace(example, explanation=item.explanation if sarcastic else "")


def _without_response(
    item: AnnotateItem, answers: Answers[AnnotateItem, AnnotateSettings], tally: Tally
) -> Iterator[Example]:
    """Yield the context alone: its last turn becomes the response, which nobody meant sarcastically."""
    if len(item.context) < 2:
        tally.drop("too_short_without_response", item.id)
        return
    tally.change("response_abnormal", 1)
    # The turn before the abnormal response was written as part of a plain dialogue.
    example = perceived_example(item, answers, False)
    yield replace(example, response=item.context[-1], context=item.context[:-1])
