"""The pair: the same words twice, told apart by their scenes only."""

from __future__ import annotations

import pytest

from deadpan.page import Page
from deadpan.records import Example, Prediction, Turn
from deadpan.tour.detectors import _detector_row, pair_stop
from deadpan.tour.guide import Guide


@pytest.mark.slow
def test_words_alone_cannot_tell_the_scenes_apart(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    pair_stop(guide)
    page = guide.page.html()
    assert "for both, since the words are the same" in page and "share of pairs" in page
    assert "gives both the same score" in guide.finding


def test_a_detector_must_call_the_first_sarcastic_and_the_second_sincere():
    pair = [Example("a", Turn("", "Lovely."), label=True), Example("b", Turn("", "Lovely."), label=False)]

    class Says:
        def __init__(self, *answers):
            self.answers = answers

        def predict(self, examples):
            return [Prediction(one.id, *answer) for one, answer in zip(examples, self.answers, strict=True)]

    assert _detector_row("d", Says((True, 0.9), (False, 0.1)), pair).apart
    assert not _detector_row("d", Says((False, 0.1), (True, 0.9)), pair).apart
    assert not _detector_row("d", Says((True, 0.9), (True, 0.8)), pair).apart
