"""A detector as people use it: texts or Examples in, Predictions out, one folder on disk."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from deadpan.detect import SYSTEMS
from deadpan.errors import DataError, ModelError
from deadpan.records import Example, Prediction, Predictor, Turn
from deadpan.storage import digest, read_json, read_manifest, write_json, write_manifest


class Detector:
    """A system by its name, trained or yet to be: `Detector("bigrams").fit(examples).predict(["Sure."])`."""

    def __init__(self, system: str = "bigrams", **settings: Any) -> None:
        self.system = SYSTEMS.check(system)
        self.settings = settings
        self.predictor: Predictor = SYSTEMS.load(system)(**settings)

    def fit(self, examples: Iterable[Example]) -> Self:
        """Learn from labelled examples."""
        self.predictor = self.predictor.fit(list(examples))
        return self

    def predict(self, texts: Iterable[str | Example]) -> list[Prediction]:
        """One prediction a text, in the same order."""
        examples = [
            text if isinstance(text, Example) else Example(str(number), Turn("", text))
            for number, text in enumerate(texts)
        ]
        return self.predictor.predict(examples)

    def save(self, folder: Path | str) -> None:
        """Write the model; nothing in it is code, and the manifest's hashes tell if a file was changed."""
        folder = Path(folder)
        self.predictor.save(folder)
        write_json(folder / "detector.json", {"system": self.system, "settings": self.settings})
        write_manifest(folder, command="detect save", config={"system": self.system, **self.settings})

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """Read what `save` wrote, after checking that every file is the one that was written."""
        folder = Path(folder)
        if not (folder / "detector.json").is_file():
            raise ModelError(f"{folder}: no detector here; expected the folder a detector was saved to")
        for name, facts in read_manifest(folder).files.items():
            if not (folder / name).is_file() or digest(folder / name) != facts["sha256"]:
                raise ModelError(
                    f"{folder / name}: changed or missing since the model was saved; train again"
                )
        state = read_json(folder / "detector.json")
        try:
            detector = cls(state["system"], **state["settings"])
        except (KeyError, TypeError) as bad:
            raise DataError(f"{folder}/detector.json: not of this version ({bad}); train again") from None
        detector.predictor = SYSTEMS.load(detector.system).load(folder)
        return detector
