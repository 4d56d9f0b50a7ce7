"""Findings of the abnormal step."""

from __future__ import annotations

import pytest

from deadpan.generate.checks.abnormal import read_finding
from deadpan.llm import Unreadable


def kind_of(read, *args):
    with pytest.raises(Unreadable) as bad:
        read(*args)
    return bad.value.kind


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("normal - fine", ""),
        ("Abnormal - A contradicts himself.", "A contradicts himself."),
        ("**abnormal**", "abnormal"),
        ("Finding: normal.", ""),
    ],
)
def test_a_finding(english, text, found):
    assert read_finding(english, text) == found


def test_no_finding(english, korean):
    assert kind_of(read_finding, english, "normally I would say") == "no_finding"
    assert read_finding(korean, "비정상 - 말이 어긋난다") == "말이 어긋난다"
    assert read_finding(korean, "정상 - 자연스럽다") == ""
