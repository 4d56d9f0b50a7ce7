"""deadpan: the whole life of sarcasm data in one program.

The names here are stable; everything else may change. They load on first use, so that importing the
package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    "Comment": "records",
    "Detector": "detect.detector",
    "Example": "records",
    "Item": "records",
    "Judgment": "records",
    "Label": "records",
    "Prediction": "records",
    "Predictor": "records",
    "Run": "records",
    "Turn": "records",
    "agreement": "agreement",
    "compare_systems": "stats",
    "complete": "llm",
    "describe": "datasets.description",
    "find_leaks": "datasets.leaks",
    "folds": "splits",
    "open_dataset": "datasets",
    "read_dataset": "datasets",
    "read_records": "storage",
    "score_predictions": "stats",
    "split": "splits",
    "write_records": "storage",
}
__all__ = [
    "Comment",
    "Detector",
    "Example",
    "Item",
    "Judgment",
    "Label",
    "Prediction",
    "Predictor",
    "Run",
    "Turn",
    "agreement",
    "compare_systems",
    "complete",
    "describe",
    "find_leaks",
    "folds",
    "open_dataset",
    "read_dataset",
    "read_records",
    "score_predictions",
    "split",
    "write_records",
]

if TYPE_CHECKING:
    from deadpan.agreement import agreement
    from deadpan.datasets import open_dataset, read_dataset
    from deadpan.datasets.description import describe
    from deadpan.datasets.leaks import find_leaks
    from deadpan.detect.detector import Detector
    from deadpan.llm import complete
    from deadpan.records import (
        Comment,
        Example,
        Item,
        Judgment,
        Label,
        Prediction,
        Predictor,
        Run,
        Turn,
    )
    from deadpan.splits import folds, split
    from deadpan.stats import compare_systems, score_predictions
    from deadpan.storage import read_records, write_records


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'deadpan' has no attribute {name!r}")
    return getattr(import_module(f"deadpan.{_NAMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
