"""deadpan: build, label, detect and benchmark sarcasm, in one package.

The names listed in `__all__` are the stable API; docs/python.md shows how to use them. They are imported
on first use, so `import deadpan` is fast. What they do not cover is in its stage: `deadpan.bench.run`,
`deadpan.detect.transfer`, `deadpan.stats.compare_predictions`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.3.0"

# The module of each name, and its name there if that differs.
_NAMES = {
    "DeadpanError": "errors",
    "Detector": "detect.detector",
    "Example": "records",
    "Judgment": "records",
    "LLMSettings": "llm",
    "Label": "records",
    "Prediction": "records",
    "Ratings": "ratings",
    "Turn": "records",
    "agreement": "ratings",
    "audit": "datasets.audit:audit_corpora",
    "build_corpus": "corpus:build_corpus",
    "clean": "datasets.cleaning:clean_examples",
    "compare": "detect.studies.comparison:compare_systems",
    "complete": "llm",
    "describe": "datasets.description",
    "evaluate": "detect.studies.evaluation",
    "find_leaks": "datasets.leaks",
    "folds": "splits",
    "generate_dialogues": "generate.generation",
    "read_dataset": "datasets",
    "read_records": "storage",
    "score": "stats:score_predictions",
    "split": "splits",
    "write_records": "storage",
}
_STAGES = ("bench", "corpus", "datasets", "detect", "generate", "llm", "logs", "ratings", "records", "stats")
__all__ = [
    "DeadpanError",
    "Detector",
    "Example",
    "Judgment",
    "LLMSettings",
    "Label",
    "Prediction",
    "Ratings",
    "Turn",
    "agreement",
    "audit",
    "build_corpus",
    "clean",
    "compare",
    "complete",
    "describe",
    "evaluate",
    "find_leaks",
    "folds",
    "generate_dialogues",
    "read_dataset",
    "read_records",
    "score",
    "split",
    "write_records",
]

if TYPE_CHECKING:
    from deadpan.corpus.build import build_corpus
    from deadpan.datasets import read_dataset
    from deadpan.datasets.audit import audit_corpora as audit
    from deadpan.datasets.cleaning import clean_examples as clean
    from deadpan.datasets.description import describe
    from deadpan.datasets.leaks import find_leaks
    from deadpan.detect.detector import Detector
    from deadpan.detect.studies.comparison import compare_systems as compare
    from deadpan.detect.studies.evaluation import evaluate
    from deadpan.errors import DeadpanError
    from deadpan.generate.generation import generate_dialogues
    from deadpan.llm import LLMSettings, complete
    from deadpan.ratings import Ratings, agreement
    from deadpan.records import Example, Judgment, Label, Prediction, Turn
    from deadpan.splits import folds, split
    from deadpan.stats import score_predictions as score
    from deadpan.storage import read_records, write_records


def __getattr__(name: str) -> Any:
    return lazy(__name__, name, _NAMES, _STAGES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def lazy(package: str, name: str, names: dict[str, str], modules: tuple[str, ...] = ()) -> Any:
    """Return what a package means by a name, imported now; the `__getattr__` of packages calls it."""
    if name in modules:
        return import_module(f"{package}.{name}")
    if name not in names:
        from difflib import get_close_matches

        near = get_close_matches(name, [*names, *modules], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}")
    module, _, attribute = names[name].partition(":")
    return getattr(import_module(f"{package}.{module}"), attribute or name)
