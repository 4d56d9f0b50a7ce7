"""Detectors: systems that say whether a response is sarcastic."""

from __future__ import annotations

from deadpan.registry import Registry

SYSTEMS = Registry(
    "system",
    {
        "bow": "deadpan.detect.ngrams:BagOfWords",
        "bigrams": "deadpan.detect.ngrams:BagOfBigrams",
    },
)
