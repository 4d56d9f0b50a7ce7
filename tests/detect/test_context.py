"""Context: how many turns a system reads, and how speakers are marked."""

from __future__ import annotations

import pytest

from deadpan.detect.context import Context, name_turns, parse_turns
from deadpan.errors import ConfigError
from deadpan.records import Example, Turn


def test_context_is_cut_marked_and_named():
    example = Example("x", Turn("Chandler", "c"), (Turn("Ross", "a"), Turn("Chandler", "b")))
    assert Context(1, True).texts(example) == ("B: b", "B: c")
    assert Context(None, True).texts(example) == ("A: a\nB: b", "B: c")
    assert Context(0).texts(example) == ("", "c")
    assert Context(None, True).own(example) == (False, True)
    assert [parse_turns(name_turns(turns)) for turns in (0, 3, None)] == [0, 3, None]
    with pytest.raises(ConfigError, match="full"):
        parse_turns("some")
    with pytest.raises(ConfigError, match="give a number, or full"):
        parse_turns("9" * 5000)
