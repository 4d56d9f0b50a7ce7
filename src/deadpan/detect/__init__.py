"""Detectors: systems that say whether a response is sarcastic."""

from __future__ import annotations

from deadpan.registry import Registry

SYSTEMS = Registry(
    "system",
    {
        "random": "deadpan.detect.baselines:Random",
        "majority": "deadpan.detect.baselines:Majority",
        "cues": "deadpan.detect.cues:Cues",
        "bow": "deadpan.detect.ngrams:BagOfWords",
        "bigrams": "deadpan.detect.ngrams:BagOfBigrams",
        "embedding": "deadpan.detect.embedding:Embedding",
        "linear": "deadpan.detect.linear:Linear",
        "lstm": "deadpan.detect.neural.systems:Lstm",
        "att-lstm": "deadpan.detect.neural.systems:AttLstm",
        "cnn": "deadpan.detect.neural.systems:Cnn",
        "siarn": "deadpan.detect.neural.systems:Siarn",
        "miarn": "deadpan.detect.neural.systems:Miarn",
        "3cnn": "deadpan.detect.neural.systems:ThreeCnn",
        "dense-lstm": "deadpan.detect.neural.systems:DenseLstm",
        "transformer": "deadpan.detect.transformer.system:Transformer",
        "prompted": "deadpan.detect.prompted:Prompted",
        "blend": "deadpan.detect.blend:Blend",
    },
)
