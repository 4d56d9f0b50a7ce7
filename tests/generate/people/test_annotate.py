"""People's answers in other words."""

from __future__ import annotations

import pytest

from deadpan.errors import DataError
from deadpan.formats.export import Export
from deadpan.formats.study_items import ANNOTATE_ANSWERS
from deadpan.generate.people.annotate import parse_answer, verdicts
from deadpan.records import Judgment, Label


def test_answers_in_other_words():
    assert parse_answer("response", "Non_Sarcasm") == "non-sarcasm"
    assert parse_answer("kind", "awkward") == "contextual awkwardness"
    assert parse_answer("kind", "Casual-Dialogue") == "casual dialogue"
    with pytest.raises(DataError, match="expected normal, abnormal"):
        parse_answer("context", "fine")


def test_the_studio_asks_with_the_answers_that_are_read():
    from deadpan.formats.study_settings import AnnotateSettings
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
    main = [
        Label("main", "response", "sarcasm", {}, 1, "majority"),
        Label("main", "context", "normal", {}, 1, "m"),
    ]
    found = verdicts(Export(tuple(applicants), tuple(main)))
    assert {item: verdict.response for item, verdict in found.items()} == {
        "qualifying": "sarcasm",
        "main": "sarcasm",
    }
