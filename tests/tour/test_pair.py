"""The pair: the same words twice, and answers that were recorded, not made up."""

from __future__ import annotations

import pytest

from deadpan.bench.items.sets import open_set
from deadpan.page import Page
from deadpan.records import Example, Prediction, Turn
from deadpan.tour.guide import Guide
from deadpan.tour.pair import PAIR, _choices, _detector_row, stop
from deadpan.tour.recorded import read_recorded


def test_what_was_recorded_is_about_the_present_set():
    recorded, items = read_recorded(), {item.id: item for item in open_set("public").items}
    assert recorded.reading["items"] == len(items)
    assert set(recorded.missed) <= set(items) and set(recorded.answers) <= set(items)
    for name, answers in recorded.answers.items():
        assert all(answer is None or 0 <= answer < len(items[name].options) for answer in answers)
    if recorded.dialogues:
        assert recorded.dialogues["date"] in recorded.origin
        kept = {one.id for one in recorded.kept()}
        assert recorded.sarcastic <= kept and len(kept) + len(recorded.dropped()) > 0


def test_the_pair_says_the_same_words_in_two_scenes():
    first, second = (item for item in open_set("public").items if item.pair_id == PAIR)
    assert first.utterance == second.utterance and first.context != second.context
    assert first.options[first.answer] != second.options[second.answer]


@pytest.mark.slow
def test_words_cannot_tell_the_scenes_apart_and_a_reader_can(tmp_path):
    guide = Guide(Page("Tour"), tmp_path)
    stop(guide)
    recorded, page = read_recorded(), guide.page.html()
    assert "for both, since the words are the same" in page
    assert f"{recorded.reader} is a language model, not a person" in page
    assert f"{recorded.reader}, which reads the scene, solved 199 of 201" in guide.finding


def test_a_pair_is_solved_only_if_every_try_is_right():
    assert _choices("embedded/a", [3, 3], 3).apart
    assert not _choices("embedded/a", [3, 2], 3).apart and not _choices("embedded/a", [0, 0], 0).apart


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
