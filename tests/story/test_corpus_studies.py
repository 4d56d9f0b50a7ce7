"""Dumps become a corpus, the corpus becomes studies, people answer them, the results come back."""

from __future__ import annotations

import pytest

from deadpan.formats.judgments import read_export
from story.visitor import Person, served_studio

pytestmark = pytest.mark.slow


def test_people_check_the_labels_of_a_corpus(program, built):
    built("corpus", "study", "noise", "corpus", "--out", program.folder / "audit", "--sample", "4")
    program("studio", "create", "--open", "--setting", "contact=lab@example.org", "audit", "audit", "--name", "check")
    link = program.json("studio", "invite", "check", "--role", "participant")["link"]
    with served_studio(program) as site:
        person = Person(site, "check", link)
        # This reader takes every comment for sarcastic: all labels "not sarcastic" are then errors.
        assert person.answer_all(lambda screen, question: screen.choices[question][0]) == 8
    program("studio", "export", "check", "--out", "answers")
    judgments = read_export(program.folder / "answers").judgments
    assert len(judgments) == 8
    assert len({judgment.answer for judgment in judgments}) == 1
    report = program("studio", "status", "check")
    assert "8" in report


def test_people_choose_the_sarcastic_one_of_two(program, built):
    built("corpus", "study", "pairs", "corpus", "--out", program.folder / "pairs", "--sample", "5", "--raters", "2")
    program(
        "studio", "create", "--open", "--setting", "contact=lab@example.org", "pairwise", "pairs", "--name", "which"
    )
    link = program.json("studio", "invite", "which", "--role", "participant", "--uses", "2")["link"]
    with served_studio(program) as site:
        for place in (0, 1):
            person = Person(site, "which", link)
            assert person.answer_all(lambda screen, question, at=place: screen.choices[question][at]) == 5
    agreement = program.json("studio", "status", "which", "--agreement")
    assert "choice" in str(agreement)
    program("studio", "export", "which", "--out", "answers")
    assert len(read_export(program.folder / "answers").judgments) == 10
