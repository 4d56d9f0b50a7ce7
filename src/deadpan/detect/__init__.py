"""Detectors: systems that label a response sarcastic or sincere, and studies of them."""

from __future__ import annotations

from typing import Any

from deadpan import lazy
from deadpan.registry import Registry

_NAMES = {
    "Detector": "detector",
    "ablate": "studies.ablation",
    "compare_systems": "studies.comparison",
    "evaluate": "studies.evaluation",
    "make_board": "studies.board",
    "study_origin": "studies.origin",
    "replay_active_learning": "studies.active_learning",
    "study_raters": "studies.perspectives",
    "study_soft_labels": "studies.soft_labels",
    "transfer": "studies.transfer",
}

SYSTEMS = Registry(
    "system",
    {
        "random": "deadpan.detect.systems.baselines:Random",
        "majority": "deadpan.detect.systems.baselines:Majority",
        "cues": "deadpan.detect.systems.baselines:Cues",
        "bow": "deadpan.detect.systems.baselines:BagOfWords",
        "bigrams": "deadpan.detect.systems.baselines:BagOfBigrams",
        "noun-phrases": "deadpan.detect.systems.noun_phrases:NounPhrases",
        "embedding": "deadpan.detect.systems.baselines:EmbeddingSystem",
        "linear": "deadpan.detect.systems.linear:Linear",
        "mixture": "deadpan.detect.systems.mixture:Mixture",
        "lstm": "deadpan.detect.neural.system:LstmSystem",
        "att-lstm": "deadpan.detect.neural.system:AttLstm",
        "cnn": "deadpan.detect.neural.system:Cnn",
        "siarn": "deadpan.detect.neural.system:Siarn",
        "miarn": "deadpan.detect.neural.system:Miarn",
        "3cnn": "deadpan.detect.neural.system:ThreeCnn",
        "dense-lstm": "deadpan.detect.neural.system:DenseLstmSystem",
        "transformer": "deadpan.detect.neural.transformer:Transformer",
        "frozen": "deadpan.detect.systems.frozen:Frozen",
        "prompted": "deadpan.detect.systems.prompted:Prompted",
        "blend": "deadpan.detect.systems.ensembles:Blend",
        "history": "deadpan.detect.systems.ensembles:History",
        "distilled": "deadpan.detect.systems.ensembles:Distilled",
    },
    group="deadpan.detectors",
)


def __getattr__(name: str) -> Any:
    """Import a public function on first use: listing systems imports nothing heavy."""
    return lazy(__name__, name, _NAMES)
