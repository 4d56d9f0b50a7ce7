"""Presets: one word that sets everything as a paper published it, on every command that it concerns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from deadpan.errors import ConfigError
from deadpan.registry import unknown

_NETWORK = {"hidden": 100, "dropout": 0.3}
_NETWORKS = ("lstm", "att-lstm", "cnn", "siarn", "miarn", "3cnn", "dense-lstm")

# The numbers of the papers are in reproduce/papers/*.toml, each with the words it comes from; a test compares.
PRESETS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "sarc": {
        "corpus build": {
            "settings": None,  # a corpus.toml holds the same rules
            "first_month": "2009-01",
            "last_month": "2017-04",
            "markers": ("/s",),
            "ascii_only": True,
            "aware_authors": True,
            "drop_under_sarcasm": True,
            "siblings": "all",
            "sentences": "strict",
            "min_tokens": 2,
            "max_tokens": 50,
            "test_share": 0.2,
        },
        "corpus figures": {"min_comments": 1_000_000},
        "corpus study noise": {"count": 500, "raters": 3},
        "corpus study pairs": {"count": 100, "raters": 5},
        "detect bow": {"min_count": 5},
        "detect bigrams": {"min_count": 5},
    },
    "isarcasm": {
        "studio create author-survey": {"links": True, "hours": 48, "followers": 30_000, "words": 5, "minutes": 3.0},
        "studio create categorise": {"raters": 1},
        "studio create reader-judgment": {"raters": 3},
        "studio release": {"test_share": 0.2},
        **{f"detect {name}": _NETWORK for name in _NETWORKS},
    },
    "kocosa": {
        "generate run": {
            "language": "ko",
            "source.max_turns": 6,
            "situation.temperature": 1.0,
            "situation.top_p": 1.0,
            "situation.max_tokens": 1000,
            "dialogue.temperature": 1.1,
            "dialogue.top_p": 0.8,
            "dialogue.max_tokens": 3000,
            "dialogue.frequency_penalty": 0.2,
        },
        "studio create annotate": {"wording": "kocosa", "qualification": 20, "threshold": 0.65, "raters": 1},
        "detect transformer": {
            "turns": None,
            "speakers": True,
            "speaker_swap": 0.5,
            "swap_tested": True,
            "epochs": 5,
            "batch_size": 16,
            "learning_rate": 1e-5,
            # The paper names none of these: nothing is added that it does not say.
            "balance": False,
            "validation": 0.0,
            "warmup": 0.0,
            "weight_decay": 0.0,
            "max_tokens": 512,
        },
        "detect prompted": {"prompt": "kocosa-en", "turns": None, "speakers": True},
    },
    "sarcbench": {
        "bench run": {
            "runs": 5,
            "temperature": 0.7,
            "top_p": 0.95,
            "max_tokens": 128,
            "escalate": False,
            "constrain": False,
            "reasoned": False,
            "shuffle_options": False,
        },
        "detect prompted": {"prompt": "budda-2024", "turns": 0, "speakers": False, "max_tokens": 200},
    },
}
"""Preset -> command, or system or protocol of a command -> names of its settings and their values."""


def presets_of(part: str) -> tuple[str, ...]:
    """Return the presets that set something for a command."""
    return tuple(name for name, parts in PRESETS.items() if any(key.startswith(part) for key in parts))


def preset_values(name: str, part: str) -> Mapping[str, Any]:
    """Return what a preset sets for a part; one that sets nothing there is an error that names those that do."""
    if name not in PRESETS:
        raise ConfigError(unknown("preset", name, PRESETS))
    if part not in PRESETS[name]:
        others = ", ".join(each for each in PRESETS if part in PRESETS[each]) or "none does"
        raise ConfigError(f"the preset {name} sets nothing for {part}; presets that do: {others}")
    return PRESETS[name][part]


def with_preset(
    name: str, part: str, given: Mapping[str, Any], typed: Collection[str] = (), spell: Callable[[str], str] = str
) -> dict[str, Any]:
    """Return the given values with the preset's over them; a typed one that differs from the preset is an error.

    `spell` returns how a user typed the name of a value, such as --from for first_month.
    """
    values = preset_values(name, part)
    for key in typed:
        if key in values and given[key] != values[key]:
            published = "full" if key == "turns" and values[key] is None else values[key]
            raise ConfigError(
                f"{spell(key)}: the preset {name} sets {key} to {published!r}, as published; leave out one of the two"
            )
    return {**given, **values}
