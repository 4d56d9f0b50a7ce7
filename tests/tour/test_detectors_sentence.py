"""The first stop judges the visitor's own sentence, whatever it holds."""

from __future__ import annotations

import shlex

import pytest

from deadpan.detect.explanation import answer_text
from deadpan.page import Page
from deadpan.tour.detectors import SENTENCE, sentence_stop
from deadpan.tour.guide import Guide


@pytest.mark.parametrize("text", ["", '<b>Great</b>, another "Monday"', "와, 또 야근이네."])
def test_the_sentence_is_shown_with_reasons_and_limits(tmp_path, text):
    guide = Guide(Page("Tour"), tmp_path, text=text)
    sentence_stop(guide)
    page = guide.page.html()
    assert "What it cannot know" in page and "<b>Great" not in page
    assert (text or SENTENCE)[:40] in guide.finding
    assert (tmp_path / guide.artefacts[0].href).is_file()
    assert shlex.split(guide.command)[-1] == (text or SENTENCE)


def test_a_long_text_is_not_cut_in_the_command(tmp_path):
    guide = Guide(Page("Tour"), tmp_path, text="Oh great, more words. " * 20)
    sentence_stop(guide)
    assert guide.command == 'deadpan detect "..."'


def test_the_sentence_repeated_by_hand_gets_the_same_answer(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    sentence_stop(guide)
    answer = answer_text(SENTENCE)
    assert answer.in_words()[0].rstrip(".") in guide.finding
    assert ("`encoder`" in guide.page.html()) == (answer.model == "encoder")
