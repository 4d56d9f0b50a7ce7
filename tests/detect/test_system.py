"""Settings of systems, and the part of a conversation that they read."""

from __future__ import annotations

import pytest

from deadpan.detect.system import Context, name_turns, parse_settings, parse_turns, split_variant
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


def test_settings_go_to_all_or_to_one():
    parsed = parse_settings(["seed=3", "bow.min_count=2", "linear.weighting=rarity"], ["bow", "linear"])
    assert parsed == {"bow": {"seed": 3, "min_count": 2}, "linear": {"seed": 3, "weighting": "rarity"}}
    for bad in ("seed", "cnn.x=1"):
        with pytest.raises(ConfigError):
            parse_settings([bad], ["bow"])


def test_a_variant_is_a_system_with_one_setting():
    assert split_variant("frozen:qwen2.5-coder-1.5b") == ("frozen", {"encoder": "qwen2.5-coder-1.5b"})
    assert split_variant("blend:bow+cues") == ("blend", {"systems": "bow+cues"})
    for bad in ("bow:3", "frozen:", "nothing:x"):
        with pytest.raises(ConfigError):
            split_variant(bad)
    systems = ["frozen:qwen2.5-coder-1.5b", "bow"]
    parsed = parse_settings(["frozen:qwen2.5-coder-1.5b.strength=3", "seed=1"], systems)
    assert parsed == {"frozen:qwen2.5-coder-1.5b": {"strength": 3, "seed": 1}, "bow": {"seed": 1}}
