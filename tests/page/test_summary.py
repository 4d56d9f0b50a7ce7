"""Plain-text tables: aligned, never cut, never wider than asked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deadpan.page import Link, Summary, Table
from deadpan.page.summary import render_text, text_width, wrap
from deadpan.stats import wilson

ROWS = (
    ("linear", wilson(50, 100), "the best system by far, and then a remark of some length"),
    ("bigrams", wilson(40, 100), "not significantly different"),
)
TABLE = Table(("system", "accuracy", "remark"), ROWS)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_line_is_wider_than_asked_and_no_number_is_cut(width):
    text = render_text(TABLE, width)
    assert all(text_width(line) <= width for line in text.splitlines())
    assert "0.500 [0.404, 0.596]" in text
    assert "linear" in text
    assert "bigrams" in text


def test_numbers_are_right_aligned_with_their_count():
    lines = render_text(Table(("name", "count"), (("a", 5), ("b", 12345)))).splitlines()
    assert lines == ["name   count", "a          5", "b     12,345"]
    assert "100" in render_text(TABLE)


def test_rows_become_blocks_when_columns_do_not_fit():
    text = render_text(TABLE, 40)
    assert "  accuracy  0.500 [0.404, 0.596]" in text.splitlines()
    assert not any("..." in line or "…" in line for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 60])
def test_the_name_of_a_column_in_a_block_does_not_push_its_value_out(width):
    words = "undefined (all answers the same: chance agreement is 1)"
    name = "value, with its 95 % confidence interval"
    rows = (("Cohen's kappa, mean over pairs of raters", words, 2),)
    text = render_text(Table(("coefficient", name, "a_count_of_all_the_items"), rows), width)
    assert all(text_width(line) <= width for line in text.splitlines())
    assert " ".join(text.split()).count(words) == 1


def test_hangul_takes_two_columns():
    lines = render_text(Table(("이름", "n"), (("가나다", 1), ("ab", 2)))).splitlines()
    assert text_width("가나다") == 6
    assert len({text_width(line) for line in lines}) == 1


def test_missing_links_and_truth_values_are_words():
    text = render_text(Table(("a", "b", "c", "d"), ((None, True, False, Link("home", "https://x.org")),)))
    assert text.splitlines()[1].split() == ["-", "yes", "no", "home"]


def test_bold_marks_headers_only():
    assert render_text(TABLE, bold=True).count("\x1b[1m") == 1
    assert "\x1b" not in render_text(TABLE)


def test_a_summary_is_its_tables_and_notes():
    summary = Summary((TABLE, Table(("a",), ())), ("First note.", "Second note."))
    assert summary.text().endswith("(no rows)\n\nFirst note.\nSecond note.")
    assert "<table>" in summary.html()
    assert "<p>First note.</p>" in summary.html()


@given(st.text(max_size=80), st.integers(min_value=4, max_value=40))
def test_wrapping_keeps_every_character_within_the_width(text, width):
    lines = wrap(text, width)
    assert all(text_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == "".join(text.splitlines()).replace(" ", "")
