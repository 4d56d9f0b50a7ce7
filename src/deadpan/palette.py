"""The colours of terminal, plots and pages.

The hues are Okabe and Ito's, which are distinguishable with every common colour vision deficiency.
Colour is never the only sign: a word or a shape goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

OKABE_ITO: Final[Mapping[str, str]] = MappingProxyType(
    {
        "black": "#000000",
        "orange": "#e69f00",
        "sky blue": "#56b4e9",
        "bluish green": "#009e73",
        "yellow": "#f0e442",
        "blue": "#0072b2",
        "vermillion": "#d55e00",
        "reddish purple": "#cc79a7",
    }
)

SARCASTIC: Final = OKABE_ITO["vermillion"]
SINCERE: Final = OKABE_ITO["blue"]

SERIES: Final = ("series-1", "series-2", "series-3", "series-4")
"""Roles for series other than the two labels. Yellow is not used: it is unreadable on white."""

MARKS: Final[Mapping[str, str]] = MappingProxyType({"sarcastic": "▲", "sincere": "●", "unlabelled": "○"})
"""The shape that goes with the colour of each label."""

LIGHT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ground": "#ffffff",
        "surface": "#f4f5f7",
        "ink": "#1c1f24",
        "muted": "#5a616b",
        "rule": "#d4d8dd",
        "mark": "#3a4049",
        "accent": "#006b4e",
        "sarcastic": SARCASTIC,
        "sincere": SINCERE,
        "sarcastic-text": "#b04d00",
        "sincere-text": "#00699f",
        "sarcastic-wash": "#fdf1e9",
        "sincere-wash": "#eaf4fa",
        "series-1": OKABE_ITO["bluish green"],
        "series-2": OKABE_ITO["reddish purple"],
        "series-3": OKABE_ITO["orange"],
        "series-4": OKABE_ITO["sky blue"],
        "series-1-text": "#00704f",
        "series-2-text": "#96446f",
        "series-3-text": "#8a5f00",
        "series-4-text": "#2a6b94",
    }
)
"""The colour of each role on white. The -text shades are dark enough for text."""

DARK: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ground": "#14161a",
        "surface": "#1e2126",
        "ink": "#e8eaed",
        "muted": "#a4abb5",
        "rule": "#353b44",
        "mark": "#c9ced6",
        "accent": "#35c49a",
        "sarcastic": "#e6762b",
        "sincere": OKABE_ITO["sky blue"],
        "sarcastic-text": "#f08a3c",
        "sincere-text": "#6fbfec",
        "sarcastic-wash": "#2c2018",
        "sincere-wash": "#17252f",
        "series-1": "#1fb98a",
        "series-2": "#d68ab3",
        "series-3": "#f0b429",
        "series-4": "#8fd0f5",
        "series-1-text": "#3cc79d",
        "series-2-text": "#dd9bbf",
        "series-3-text": "#f2be4c",
        "series-4-text": "#a2d9f8",
    }
)
"""The colour of each role on near-black: the same hues, lighter."""


def word_for(label: bool | None) -> str:
    """Return the word for a label, which is also the name of its role."""
    return "unlabelled" if label is None else "sarcastic" if label else "sincere"
