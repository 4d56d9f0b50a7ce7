"""A detector as people use it: texts or Examples in, Predictions out, one folder on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from deadpan.detect import SYSTEMS
from deadpan.detect.settings import make
from deadpan.detect.system import Progress, System
from deadpan.errors import ConfigError, DataError, ModelError
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import digest, read_json, read_manifest, write_json, write_manifest

DEFAULT = "default"
DEFAULT_FOLDER = Path(__file__).with_name("shipped")


class Detector:
    """A system by its name, trained or yet to be: `Detector("linear").fit(examples).predict(["Sure."])`.

    A score above `threshold` is called sarcastic; scores themselves stay what they are.
    """

    def __init__(self, system: str = "linear", *, threshold: float = 0.5, **settings: Any) -> None:
        self.system = SYSTEMS.check(system)
        self.threshold = threshold
        self.predictor: System = make(system, settings)

    @property
    def settings(self) -> dict[str, Any]:
        """What the system was made with."""
        return self.predictor.settings

    def fit(self, examples: Iterable[Example], progress: Progress | None = None) -> Self:
        """Learn from labelled examples; `progress` hears what is done and how much is left."""
        if progress is not None:
            self.predictor.progress = progress
        self.predictor = self.predictor.fit(list(examples))
        return self

    def predict(self, texts: Iterable[str | Example], progress: Progress | None = None) -> list[Prediction]:
        """One prediction a text, in the same order."""
        self._need_fit()
        if isinstance(texts, str):  # its letters would be judged one by one
            raise ConfigError("predict takes a list of texts: put the text in one, as in predict([text])")
        if progress is not None:
            self.predictor.progress = progress
        examples = [_example(number, text) for number, text in enumerate(texts)]
        said = self.predictor.predict(examples)
        return said if self.threshold == 0.5 else at_threshold(said, self.threshold)

    def save(
        self,
        folder: Path | str,
        *,
        command: str = "detect save",
        about: Mapping[str, Any] | None = None,
        inputs: Iterable[Path] = (),
    ) -> None:
        """Write the model; nothing in it is code, and the manifest's hashes tell if a file was changed.

        `about` goes into the manifest's config: what it was trained on.
        """
        self._need_fit()
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").unlink(missing_ok=True)  # a folder half written has none
        self.predictor.save(folder)
        state = {"system": self.system, "threshold": self.threshold, "settings": self.settings}
        write_json(folder / "detector.json", state)
        seed = self.settings.get("seed")
        write_manifest(folder, command=command, config={**state, **(about or {})}, seed=seed, inputs=inputs)

    @classmethod
    def load(cls, folder: Path | str) -> Self:
        """Read what `save` wrote, after checking that every file is the one that was written.

        "default" is the detector that comes with the package.
        """
        folder = DEFAULT_FOLDER if folder == DEFAULT else Path(folder)
        if not (folder / "detector.json").is_file():
            raise ModelError(f"{folder}: no detector here; expected the folder a detector was saved to")
        if not (folder / "manifest.json").is_file():
            raise ModelError(f"{folder}: has no manifest.json, so it was not saved to its end; train again")
        for name, facts in read_manifest(folder).files.items():
            if not (folder / name).is_file() or digest(folder / name) != facts["sha256"]:
                raise ModelError(
                    f"{folder / name}: changed or missing since the model was saved; train again"
                )
        state = read_json(folder / "detector.json")
        detector = cls.__new__(cls)
        try:
            detector.system = SYSTEMS.check(state["system"])
            detector.threshold = float(state["threshold"])
            detector.predictor = SYSTEMS.load(detector.system).load(folder)
        except (KeyError, TypeError) as bad:
            raise DataError(f"{folder}: not a model of this version ({bad!r}); train again") from None
        return detector

    def _need_fit(self) -> None:
        """What is learnt ends in an underscore, so a system with none of it has learnt nothing."""
        if not any(name.endswith("_") for name in vars(self.predictor)):
            raise ConfigError(f"{self.system} has not learnt anything yet: fit it first, or load a model")


def _example(number: int, text: str | Example) -> Example:
    if isinstance(text, Example):
        return text
    if not isinstance(text, str):
        raise DataError(f"text {number} is {type(text).__name__}: predict takes texts and Examples")
    return Example(str(number), Turn("", text))


def clear(folder: Path) -> None:
    """Take away the files of a model saved there before: none must stay beside those of another system."""
    if not (folder / "manifest.json").is_file():
        return
    for name in read_manifest(folder).files:
        path = folder / name
        outside = Path(name).is_absolute() or ".." in Path(name).parts
        if outside or not path.is_file():  # a manifest may come from somebody else
            continue
        path.unlink()
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()


def at_threshold(predictions: Iterable[Prediction], threshold: float) -> list[Prediction]:
    """The same scores with labels by another threshold; an answer without a score keeps its label."""
    return [
        said if said.score is None else replace(said, label=said.score > threshold) for said in predictions
    ]
