"""Sentiment signals as input of a network: those of the linear system, one row per text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.signals import NAMES, text_signals, word_signals
from deadpan.text import printable

WIDTH = len(NAMES)
LOOKED_AT = 4_000  # characters: enough for the sentiment of any text


def moods(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return one row per text and one column per signal: praise, blame, clashes, shouting, laughter."""
    rows = [printable(text[:LOOKED_AT]).split() for text in texts]
    places: dict[str, int] = {}
    words = [places.setdefault(word, len(places)) for row in rows for word in row]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    signals = text_signals(word_signals(list(places)), np.array(words, dtype=np.int64), lengths)
    return signals.astype(np.float32)
