"""Letters are read where they stand for sure, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.bench.answers import place_of, read_letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Final Answer: B", "B"),
        ("final answer: b", "B"),
        ("Final Answer: **B**", "B"),
        ("**Final Answer:** B", "B"),
        ("**Final Answer**: (B)", "B"),
        ("Final Answer: $B$", "B"),
        ("Final Answer: \\boxed{B}", "B"),
        ("Final Answer: B.", "B"),
        ("Final Answer: B) It rains", "B"),
        ("Final Answer: A. It rains", "A"),
        ("Final Answer: B because of the rain", "B"),
        ("Final Answer: A\nThat is all.", "A"),
        ("Final Answer: Option C", "C"),
        ("I first thought Final Answer: A. No.\nFinal Answer: D", "D"),
        ("최종 답: F", "F"),
        ("Final Answer： E", "E"),
        ("B", "B"),
        (" (c). ", "C"),
        ("Final Answer: all of them", None),
        ("Final Answer: A good question", None),
        ("Final Answer: a man", None),
        ("Final Answer: B or C", None),
        ("Final Answer: **B** and **C**", None),
        ("Final Answer: A, B", None),
        ("Final Answer: G", None),
        ("Final Answer: Because", None),
        ("Final Answer:", None),
        ("Final Answer: A\nFinal Answer: none", None),
        ("The answer is B", None),
        ("A cat", None),
        ("", None),
    ],
)
def test_letters(text, letter):
    assert read_letter(text) == letter


@given(st.text(max_size=80), st.sampled_from("ABCDEF"))
def test_what_stands_last_counts_whatever_came_before(before, letter):
    assert read_letter(f"{before}\nFinal Answer: {letter}") == letter


@given(st.text(max_size=200))
def test_any_text_is_read_or_not(text):
    assert read_letter(text) in {None, *"ABCDEF"}


def test_a_letter_means_the_option_that_was_shown_there():
    assert place_of("B", (5, 2, 0, 1, 3, 4)) == 2
    assert place_of(None, (0, 1, 2, 3, 4, 5)) is None
