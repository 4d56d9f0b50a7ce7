"""KoCoSa's construction table, and people's answers in other words."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError
from deadpan.formats.judgments import Export
from deadpan.formats.study import ANNOTATE_ANSWERS
from deadpan.generate.folder import Draft
from deadpan.generate.people import Verdict, construct, parse_answer, verdicts
from deadpan.records import Judgment, Label, Turn

DRAFT = Draft(
    "d1",
    (Turn("A", "x"), Turn("B", "y")),
    topic="food",
    theme="eggs",
    summary="They burnt.",
    context=(Turn("A", "How are the eggs?"), Turn("B", "Burnt.")),
    response=Turn("A", "Perfect, I love charcoal."),
    explanation="Speaker A praises what Speaker B burnt.",
    sincere="Perfect, I love them dark.",
)


def test_the_construction_table():
    """KoCoSa's Table 3, row by row."""
    sarcastic = construct(DRAFT, Verdict("sarcasm", "normal", "normal"), "en")
    assert [(e.label, e.response.text) for e in sarcastic.examples] == [
        (True, "Perfect, I love charcoal."),
        (False, "Perfect, I love them dark."),
    ]
    assert sarcastic.examples[0].explanation and sarcastic.examples[0].label_kind == "perceived"
    plain = construct(DRAFT, Verdict("non-sarcasm", "normal", "abnormal", "direct criticism"), "en")
    assert [(e.label, e.explanation, len(e.context)) for e in plain.examples] == [(False, "", 2)]
    assert plain.change == "label_change.direct criticism" and plain.rewrite is None
    cut = construct(DRAFT, Verdict("abnormal", "normal", "normal"), "en")
    assert [(e.label, e.response, e.context) for e in cut.examples] == [
        (False, Turn("B", "Burnt."), (Turn("A", "How are the eggs?"),))
    ]
    for response in ANNOTATE_ANSWERS["response"]:
        gone = construct(DRAFT, Verdict(response, "abnormal", "normal", "format misalignment"), "en")
        assert (gone.examples, gone.dropped, gone.detail) == ((), "context_abnormal", "format misalignment")


def test_an_abnormal_explanation_is_blanked_and_queued():
    built = construct(DRAFT, Verdict("sarcasm", "normal", "abnormal"), "en")
    assert built.examples[0].explanation == "" and built.rewrite.explanation == DRAFT.explanation
    again = construct(DRAFT, Verdict("sarcasm", "normal", "abnormal"), "en", rewritten="It is burnt.")
    assert again.examples[0].explanation == "It is burnt." and again.rewrite is None


def test_what_nobody_judged_or_agreed_on_is_counted():
    assert construct(DRAFT, None, "en").dropped == "not_judged"
    assert construct(DRAFT, Verdict("", "normal"), "en").dropped == "no_majority"
    short = Draft("d", (), context=(Turn("A", "hi"),), response=Turn("B", "ho"))
    assert construct(short, Verdict("abnormal", "normal"), "en").dropped == "too_short_without_response"


def test_answers_in_other_words():
    assert parse_answer("response", "Non_Sarcasm") == "non-sarcasm"
    assert parse_answer("kind", "awkward") == "contextual awkwardness"
    assert parse_answer("kind", "Casual-Dialogue") == "casual dialogue"
    with pytest.raises(DataError, match="expected normal, abnormal"):
        parse_answer("context", "fine")


def test_the_studio_asks_with_the_answers_that_are_read():
    from deadpan.formats.study import AnnotateSettings
    from deadpan.studio.protocols.annotate import AnnotateProtocol

    questions = AnnotateProtocol().questions(AnnotateSettings())
    offered = {q.name: tuple(c.value for c in q.choices) for q in questions if q.choices}
    assert offered == dict(ANNOTATE_ANSWERS)


def test_the_qualification_round_comes_back_judged():
    """Its judgments have no labels in an export: the majority of the applicants counts."""
    applicants = [
        Judgment("qualifying", f"p{number}", question, answer, 1.0, "2026-11-16T00:00:00Z")
        for number, response in enumerate(("sarcasm", "sarcasm", "non-sarcasm"))
        for question, answer in (("response", response), ("context", "normal"))
    ]
    main = [Label("main", "response", "sarcasm", {}, 1, "majority"), Label("main", "context", "normal", {}, 1, "m")]
    found = verdicts(Export(tuple(applicants), tuple(main)))
    assert {item: verdict.response for item, verdict in found.items()} == {"qualifying": "sarcasm", "main": "sarcasm"}
