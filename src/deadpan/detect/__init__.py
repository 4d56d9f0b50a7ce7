"""Detectors: systems that label a response sarcastic or sincere, and studies of them."""

from __future__ import annotations

from deadpan.registry import Registry

SYSTEMS = Registry(
    "system",
    {
        "random": "deadpan.detect.systems.baselines:Random",
        "majority": "deadpan.detect.systems.baselines:Majority",
        "cues": "deadpan.detect.systems.cues:Cues",
        "bow": "deadpan.detect.systems.ngrams:BagOfWords",
        "bigrams": "deadpan.detect.systems.ngrams:BagOfBigrams",
        "embedding": "deadpan.detect.systems.embedding:EmbeddingSystem",
        "linear": "deadpan.detect.systems.linear:Linear",
        "lstm": "deadpan.detect.neural.systems:LstmSystem",
        "att-lstm": "deadpan.detect.neural.systems:AttLstm",
        "cnn": "deadpan.detect.neural.systems:Cnn",
        "siarn": "deadpan.detect.neural.systems:Siarn",
        "miarn": "deadpan.detect.neural.systems:Miarn",
        "3cnn": "deadpan.detect.neural.systems:ThreeCnn",
        "dense-lstm": "deadpan.detect.neural.systems:DenseLstmSystem",
        "transformer": "deadpan.detect.transformer.system:Transformer",
        "frozen": "deadpan.detect.frozen.system:Frozen",
        "prompted": "deadpan.detect.systems.prompted:Prompted",
        "blend": "deadpan.detect.systems.blend:Blend",
        "history": "deadpan.detect.systems.history:History",
        "distilled": "deadpan.detect.systems.distilled:Distilled",
    },
    group="deadpan.detectors",
)
