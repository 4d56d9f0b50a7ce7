"""deadpan: build, label, detect and benchmark sarcasm, in one package.

The names listed in `__all__` are the stable API; docs/python.md shows how to use them. They are imported
on first use, so `import deadpan` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

_NAMES = {
    "Client": "llm",
    "DeadpanError": "errors",
    "Detector": "detect.detector",
    "Example": "records",
    "Item": "records",
    "Judgment": "records",
    "LLMSettings": "llm",
    "Label": "records",
    "Prediction": "records",
    "Predictor": "records",
    "Ratings": "ratings",
    "Turn": "records",
    "ablate": "detect.studies.ablation",
    "agreement": "ratings",
    "audit_corpora": "datasets.audit",
    "audit_sources": "datasets.audit",
    "build_corpus": "corpus.build",
    "clean_dataset": "datasets.cleaning",
    "clean_examples": "datasets.cleaning",
    "compare_logs": "logs.comparison",
    "compare_predictions": "stats",
    "compare_systems": "detect.studies.comparison",
    "complete": "llm",
    "describe": "datasets.description",
    "evaluate": "detect.studies.evaluation",
    "find_leaks": "datasets.leaks",
    "folds": "splits",
    "generate_dialogues": "generate.generation",
    "informative_order": "ordering",
    "mirage": "detect.studies.origin",
    "open_dataset": "datasets",
    "organic_set": "bench.organic",
    "perceive": "ratings.votes",
    "read_dataset": "datasets",
    "read_records": "storage",
    "replay_labelling": "detect.studies.active_learning",
    "run_bench": "bench.api",
    "run_organic": "bench.organic",
    "score_bench": "bench.scores.report",
    "score_predictions": "stats",
    "soft_scores": "stats.soft",
    "split": "splits",
    "study_votes": "detect.studies.soft_labels",
    "transfer": "detect.studies.transfer",
    "write_records": "storage",
}
__all__ = [
    "Client",
    "DeadpanError",
    "Detector",
    "Example",
    "Item",
    "Judgment",
    "LLMSettings",
    "Label",
    "Prediction",
    "Predictor",
    "Ratings",
    "Turn",
    "ablate",
    "agreement",
    "audit_corpora",
    "audit_sources",
    "build_corpus",
    "clean_dataset",
    "clean_examples",
    "compare_logs",
    "compare_predictions",
    "compare_systems",
    "complete",
    "describe",
    "evaluate",
    "find_leaks",
    "folds",
    "generate_dialogues",
    "informative_order",
    "mirage",
    "open_dataset",
    "organic_set",
    "perceive",
    "read_dataset",
    "read_records",
    "replay_labelling",
    "run_bench",
    "run_organic",
    "score_bench",
    "score_predictions",
    "soft_scores",
    "split",
    "study_votes",
    "transfer",
    "write_records",
]

if TYPE_CHECKING:
    from deadpan.bench.api import run_bench
    from deadpan.bench.organic import organic_set, run_organic
    from deadpan.bench.scores.report import score_bench
    from deadpan.corpus.build import build_corpus
    from deadpan.datasets import open_dataset, read_dataset
    from deadpan.datasets.audit import audit_corpora, audit_sources
    from deadpan.datasets.cleaning import clean_dataset, clean_examples
    from deadpan.datasets.description import describe
    from deadpan.datasets.leaks import find_leaks
    from deadpan.detect.detector import Detector
    from deadpan.detect.studies.ablation import ablate
    from deadpan.detect.studies.active_learning import replay_labelling
    from deadpan.detect.studies.comparison import compare_systems
    from deadpan.detect.studies.evaluation import evaluate
    from deadpan.detect.studies.origin import mirage
    from deadpan.detect.studies.soft_labels import study_votes
    from deadpan.detect.studies.transfer import transfer
    from deadpan.errors import DeadpanError
    from deadpan.generate.generation import generate_dialogues
    from deadpan.llm import Client, LLMSettings, complete
    from deadpan.logs.comparison import compare_logs
    from deadpan.ordering import informative_order
    from deadpan.ratings import Ratings, agreement
    from deadpan.ratings.votes import perceive
    from deadpan.records import (
        Example,
        Item,
        Judgment,
        Label,
        Prediction,
        Predictor,
        Turn,
    )
    from deadpan.splits import folds, split
    from deadpan.stats import compare_predictions, score_predictions
    from deadpan.stats.soft import soft_scores
    from deadpan.storage import read_records, write_records


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        from difflib import get_close_matches

        near = get_close_matches(name, _NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'deadpan' has no attribute {name!r}{hint}")
    return getattr(import_module(f"deadpan.{_NAMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
