"""Messages that quote damaged input stay readable."""

from __future__ import annotations

import pytest

from deadpan.errors import LONGEST_MESSAGE, LONGEST_WORD, DataError, MissingExtra, need, reason_of


def test_a_long_quoted_word_is_cut_in_its_middle():
    told = str(DataError(f"items.jsonl:2: unknown field '{'a' * 3000}z': see `deadpan bench sets --schema`"))
    assert told.startswith("items.jsonl:2: unknown field 'aaa")
    assert told.endswith("z': see `deadpan bench sets --schema`") and "…" in told
    assert max(map(len, told.split())) == LONGEST_WORD


def test_a_long_message_keeps_its_beginning_and_its_cure():
    told = str(DataError("row 1: not a label " + "so it is " * 900 + "; write 0 or 1"))
    assert len(told) == LONGEST_MESSAGE
    assert told.startswith("row 1: not a label") and told.endswith("; write 0 or 1")


@pytest.mark.parametrize("length", [1, LONGEST_WORD])
def test_a_message_of_usual_length_is_left_alone(length):
    assert str(DataError("x" * length)) == "x" * length


def test_a_missing_library_names_the_extra():
    with pytest.raises(MissingExtra, match=r"deadpan\[excel\].*: pip install "):
        need("no_such_library_at_all", "excel")


def test_an_error_is_quoted_by_its_first_line_or_its_kind():
    assert reason_of(ValueError("\nno such column\nLINE 1: SELECT")) == "no such column"
    assert reason_of(ValueError("x" * 500), 20) == "x" * 20
    assert reason_of(ValueError()) == reason_of(ValueError(" \n ")) == "ValueError"
