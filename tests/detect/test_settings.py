"""Settings: typed as KEY=VALUE, for all systems or for one."""

from __future__ import annotations

import pytest

from deadpan.detect.settings import parse_settings, split_variant
from deadpan.errors import ConfigError


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
