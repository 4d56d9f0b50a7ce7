"""KoCoSa's annotation: is the last turn sarcastic, is the dialogue sound, does the explanation fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from deadpan.studio.protocols.protocol import Choice, Lesson, Question, Screen, StudyProtocol, Words

RESPONSE = Question(
    "response",
    _("Is the last response sarcastic, and does it fit what came before?"),
    (
        Choice("sarcasm", _("Sarcasm")),
        Choice("non-sarcasm", _("Not sarcasm")),
        Choice("abnormal", _("Abnormal")),
    ),
)
KIND = Question(
    "kind",
    _("Of which kind is it?"),
    (
        Choice("casual dialogue", _("Casual dialogue"), ("non-sarcasm",)),
        Choice("direct criticism", _("Direct criticism"), ("non-sarcasm",)),
        Choice("contextual awkwardness", _("Awkward in this context"), ("abnormal",)),
        Choice("format misalignment", _("Wrong format"), ("abnormal",)),
    ),
    after="response",
    when=("non-sarcasm", "abnormal"),
)
CONTEXT = Question(
    "context",
    _("Is what came before a natural dialogue?"),
    (Choice("normal", _("Normal")), Choice("abnormal", _("Abnormal"))),
)
EXPLANATION = Question(
    "explanation",
    _("Does the explanation say well why the response is sarcastic?"),
    (Choice("normal", _("Normal")), Choice("abnormal", _("Abnormal"))),
)
COMMENT = Question("comment", _("Anything to add? (optional)"), required=False)


class Annotate(StudyProtocol):
    """Three questions a dialogue, after a qualification round."""

    name = "annotate"
    title: Words = _("Annotate dialogues")
    summary: Words = _("Read a dialogue, then say whether its last response is sarcastic.")
    defaults: Mapping[str, Any] = {"qualification": 20, "threshold": 0.65}
    blurb: Words = _(
        "Sarcasm says the opposite of what is meant, often to make fun of a person or a situation. Whether "
        "something is sarcastic can only be seen from what came before it, so read the whole dialogue first. "
        "Then answer the questions in the order they stand."
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

    def questions(self, settings: Mapping[str, Any]) -> tuple[Question, ...]:
        return (RESPONSE, KIND, CONTEXT, EXPLANATION, COMMENT)

    def screen(self, item: Any, settings: Mapping[str, Any], order: str) -> Screen:
        """Without an explanation there is nothing to ask about one."""
        explanation = str(item.shown.get("explanation", "")).strip()
        notes = [(_("Explanation"), explanation)] if explanation else []
        asked = [q for q in self.questions(settings) if q is not EXPLANATION or explanation]
        return Screen(item.context, item.response, notes, asked)
