"""The mood of texts as a network reads it: the signals of the linear system, a row of numbers a text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.signals import NAMES, text_signals, word_signals
from deadpan.text import printable

WIDTH = len(NAMES)
LOOKED_AT = 4_000  # characters; the mood of more than that is an average anyway


def moods(texts: Sequence[str]) -> NDArray[np.float32]:
    """One row a text, one column a signal: praise and blame, clashes of the two, shouting, dots, laughter."""
    rows = [printable(text[:LOOKED_AT]).split() for text in texts]
    places: dict[str, int] = {}
    words = [places.setdefault(word, len(places)) for row in rows for word in row]
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    signals = text_signals(word_signals(list(places)), np.array(words, dtype=np.int64), lengths)
    return signals.astype(np.float32)
