"""Answers of the situation step: a theme and a summary in one line."""

from __future__ import annotations

import pytest

from deadpan.generate.steps.situation import read_situation
from deadpan.llm import Unreadable


def kind_of(read, *args):
    with pytest.raises(Unreadable) as bad:
        read(*args)
    return bad.value.kind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "late train - The train is late and it is cold.",
            ("late train", "The train is late and it is cold."),
        ),
        ("**late train – The train is late.**", ("late train", "The train is late.")),
        ("Situation: late train - The train is late.", ("late train", "The train is late.")),
        ("late train-The train is late.", ("late train", "The train is late.")),
    ],
)
def test_a_situation(english, text, found):
    assert read_situation(english, text) == found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("one\ntwo", "not_one_line"),
        ("no dash here", "no_theme_or_summary"),
        ("a - " + "word " * 80, "too_long"),
        ("기차 - 기차가 늦어서 추운 상황", "wrong_language"),
    ],
)
def test_what_is_no_situation(english, text, kind):
    assert kind_of(read_situation, english, text) == kind


def test_a_korean_situation_with_a_tight_dash(korean):
    found = read_situation(korean, "저녁 메뉴-달걀을 태워 먹지 못하는 상황")
    assert found == ("저녁 메뉴", "달걀을 태워 먹지 못하는 상황")
