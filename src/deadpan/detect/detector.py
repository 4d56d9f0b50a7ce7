"""A detector as people use it: texts or Examples in, labels or Predictions out, one folder on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from deadpan.arguments import check_path
from deadpan.detect import SYSTEMS
from deadpan.detect.card import Card, read_card
from deadpan.detect.inputs import BOOLEANS, SeenTexts, class_labels, examples_from, in_plain_letters
from deadpan.detect.system import System, labelled, make, split_variant
from deadpan.detect.verdicts import (
    DEFAULT_THRESHOLD,
    Bands,
    Threshold,
    at_threshold,
    check_choice,
    check_prevalence,
    check_threshold,
    guess_language,
    out_of_fold_threshold,
)
from deadpan.errors import ConfigError, DataError, ModelError, need
from deadpan.progress import Progress, silent
from deadpan.records import Example, Prediction, Turn
from deadpan.storage import digest, file_marks, read_json, read_manifest, write_json, write_manifest

if TYPE_CHECKING:
    from deadpan.detect.explanation import Explanation

BASE, ENCODER, FAST, AUTO = "base", "encoder", "encoder-fast", "auto"
SHIPPED = {name: Path(__file__).parent / "shipped" / name for name in (BASE, ENCODER, FAST)}
"""The detectors that come with the package: n-grams for three languages, an encoder for English, and a small one that
takes its place where the weights of the large one have not been pulled. "auto" is for each text the best of them."""
ENCODER_LANGUAGE = "en"
ENCODER_NEEDS = {FAST: ("minilm-l6", ("safetensors", "tokenizers")), ENCODER: ("mpnet-base", ("torch", "transformers"))}
"""Weights and libraries of the encoders."""
NOT_CALIBRATED = (
    "its scores are not calibrated for a prevalence: use the detector `base`, or train with a prevalence and "
    "the threshold f1, which is then chosen for it"
)
ALREADY_TRAINED = "the detectors that come with the package are trained already: load `encoder` or `base`"


class Detector:
    """A system by name, with scikit-learn's conventions: `Detector("linear").fit(texts, labels)`.

    `fit` takes texts and labels, or labelled Examples. `predict` returns labels for texts and Predictions
    for Examples. A score above `threshold` is labelled sarcastic: a number, or "f1" or "balanced" to have
    `fit` choose it from out-of-fold scores (5 folds) of the training data, for a target where
    `prevalence` of the texts are sarcastic, if given; beside a number, `prevalence` is an error.
    `threshold_` is the number in use, `classes_` the two labels, `rate_` the sarcastic share of the training
    data, and `seen_` the training texts, as hashes.

    A detector with `bands`, such as those in the package, also answers "cannot tell", and nothing at all in
    languages it was not trained for; `explain` says which phrases its score depends on.
    `category` is the kind of sarcasm that a detector of `classify_categories` judges: its True is "irony",
    its False "not irony".
    """

    _estimator_type = "classifier"

    def __init__(
        self,
        system: str = "linear",
        *,
        threshold: Threshold = DEFAULT_THRESHOLD,
        prevalence: float | None = None,
        **settings: Any,
    ) -> None:
        self.system, variant = split_variant(system)
        self.threshold = check_threshold(threshold)
        self.prevalence = None if prevalence is None else check_prevalence(prevalence)
        check_choice(threshold, prevalence)
        self._given = {**settings, **variant}
        self.predictor: System = make(self.system, self._given)
        self.threshold_ = DEFAULT_THRESHOLD if isinstance(threshold, str) else float(threshold)
        self.seen_: SeenTexts | None = None
        self.rate_: float | None = None
        self.bands: Bands | None = None
        self.category = ""
        self.card: Card | None = None

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self.get_params().items() if name != "system")
        state = f" trained on {len(self.seen_):,} texts" if self.seen_ is not None else ""
        return f"<Detector {self.system!r}{given}{state}>"

    # ------------------------------------------------------------ scikit-learn's conventions

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        known = {} if self.prevalence is None else {"prevalence": self.prevalence}
        return {"system": self.system, "threshold": self.threshold, **known, **self._given}

    def set_params(self, **params: Any) -> Self:
        """Change arguments of the constructor; what was learned is forgotten."""
        merged = {**self.get_params(), **params}
        vars(self).clear()
        vars(self).update(vars(Detector(**merged)))
        return self

    def __sklearn_tags__(self) -> Any:
        """Describe the detector to scikit-learn: a binary classifier of strings."""
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True, one_d_labels=True),
            classifier_tags=ClassifierTags(multi_class=False),
            input_tags=InputTags(one_d_array=True, two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return self.predictor.is_fitted

    @property
    def settings(self) -> dict[str, Any]:
        """All settings of the system, defaults included."""
        return self.predictor.settings

    # ------------------------------------------------------------ training and use

    def fit(
        self, texts: Iterable[str | Example], labels: Iterable[Any] | None = None, *, progress: Progress | None = None
    ) -> Self:
        """Train on texts and their labels, or on labelled Examples.

        Labels are any two values: True, 1, "sarcastic" and "ironic" mean sarcastic; of two others the larger
        one, as in scikit-learn, takes its place. The texts are remembered as hashes, so that `evaluate` can exclude
        them.
        """
        examples, classes = examples_from(texts, labels)
        self.rate_ = float(labelled(examples)[1].mean())
        self.predictor = self._make(progress).fit(examples)
        self.threshold_ = out_of_fold_threshold(
            lambda: self._make(progress), examples, self.threshold, prevalence=self.prevalence,
            progress=progress or silent,
        )  # fmt: skip
        self.seen_ = SeenTexts.of(self.predictor.influential(examples))
        self.classes_ = classes
        return self

    def _make(self, progress: Progress | None) -> System:
        system = make(self.system, self._given)
        if progress is not None:
            system.progress = progress
        return system

    @overload
    def predict(
        self, texts: Iterable[Example], progress: Progress | None = None, *, abstain: bool = False
    ) -> list[Prediction]: ...
    @overload
    def predict(
        self, texts: Iterable[str], progress: Progress | None = None, *, abstain: bool = False
    ) -> NDArray[Any]: ...
    def predict(
        self, texts: Iterable[str] | Iterable[Example], progress: Progress | None = None, *, abstain: bool = False
    ) -> list[Prediction] | NDArray[Any]:
        """Return an array of labels for texts, or Predictions for Examples, in the same order.

        Labels are True and False, or those that `fit` was given. With `abstain`, they are None where the
        detector cannot tell or does not know the language; otherwise the more probable label, and the negative
        one without a score. A Prediction has the label None there, and `raw` says why.
        """
        examples, are_texts = self._read(texts)
        predictions = self._predict(examples, progress)
        return class_labels(predictions, self._classes, abstain) if are_texts else predictions

    def predict_proba(self, texts: Iterable[str] | Iterable[Example]) -> NDArray[np.float64]:
        """Return the probabilities of sincere and sarcastic, one row per text; NaN where there is none."""
        examples, _ = self._read(texts)
        scores = [np.nan if p.score is None else p.score for p in self._predict(examples, None)]
        sarcastic = np.array(scores, dtype=np.float64)
        return np.stack([1 - sarcastic, sarcastic], axis=1)

    def score(self, texts: Iterable[str] | Iterable[Example], labels: Iterable[Any] | None = None) -> float:
        """Return the accuracy on texts and labels, or on labelled Examples."""
        self._check_fitted()
        examples, _ = examples_from(texts, labels, self._classes)
        kept, _ = labelled_only(examples)
        said = class_labels(self._predict(kept, None), BOOLEANS, abstain=False)
        return float(np.mean(said == np.array([example.label for example in kept])))

    def _read(self, texts: Iterable[str] | Iterable[Example]) -> tuple[list[Example], bool]:
        self._check_fitted()
        wrong = isinstance(texts, str) or hasattr(texts, "columns") or not isinstance(texts, Iterable)
        rows: Any = texts if wrong else list(texts)
        examples, _ = examples_from(rows)
        return examples, bool(rows) and isinstance(rows[0], str)

    @property
    def _classes(self) -> NDArray[Any]:
        return getattr(self, "classes_", BOOLEANS)

    def _check_fitted(self) -> None:
        if not self.predictor.is_fitted:
            raise need("sklearn.exceptions", "train").NotFittedError(
                f"{self.system} is not trained: fit it first, or load a model"
            )

    def predict_in(self, language: str, examples: Sequence[Example]) -> list[Prediction]:
        """Return Predictions for Examples that are all in one language, which is then not guessed."""
        return self._predict(list(examples), None, [language] * len(examples))

    def _predict(
        self, examples: list[Example], progress: Progress | None, languages: Sequence[str] | None = None
    ) -> list[Prediction]:
        if progress is not None:
            self.predictor.progress = progress
        if self.bands is not None:
            if languages is None:
                languages = [guess_language(example.response.text) for example in examples]
            plain = [in_plain_letters(example) for example in examples]
            if isinstance(self.predictor, ByLanguage):
                scored = self.predictor.predict_known(plain, languages)
            else:
                scored = self.predictor.predict(plain)
            return self.bands.judge(examples, scored, languages)
        predictions = self.predictor.predict(examples)
        if self.threshold_ == DEFAULT_THRESHOLD:
            return predictions
        return at_threshold(predictions, self.threshold_)

    def explain(
        self,
        text: str | Example,
        *,
        context: Sequence[str] = (),
        model: str = "",
        notes: Sequence[str] = (),
        in_detail: bool = False,
    ) -> Explanation:
        """Answer a text, and name the phrases and the turns before it (`context`) that its score depends on.

        print(Detector.load("base").explain("Oh great, another delay."))
        """
        from deadpan.detect.explanation import explain

        self._check_fitted()
        if not isinstance(text, Example):
            (example,), _ = examples_from([text])
            turns = [context] if isinstance(context, str) else context
            text = replace(example, context=tuple(Turn("", turn) for turn in turns))
        return replace(explain(self, text, model=model or self.system, notes=notes), in_detail=in_detail)

    def at(self, prevalence: float) -> Detector:
        """Return this detector with scores for another share of sarcastic texts; it must have bands.

        The threshold is then 0.5, since an answer never contradicts its score.
        """
        if self.bands is None:
            raise ConfigError(f"{self.system}: {NOT_CALIBRATED}")
        other = copy(self)
        other.bands = self.bands.at(prevalence)
        if prevalence != self.bands.prevalence:
            other.threshold_ = DEFAULT_THRESHOLD
        return other

    # ------------------------------------------------------------ files

    def save(
        self,
        folder: Path | str,
        *,
        command: str = "Detector.save",
        about: Mapping[str, Any] | None = None,
        inputs: Iterable[Path] = (),
    ) -> None:
        """Write the model; nothing in it is code, and the manifest's hashes show if a file was changed.

        `about` is added to the manifest's config: what it was trained on.
        """
        self._check_fitted()
        folder = check_path(folder, "the folder")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: is a file; a model is saved to a folder: choose another name")
        if (folder / "manifest.json").exists() and not (folder / "detector.json").exists():
            raise ConfigError(f"{folder}: its manifest.json is not a detector's: choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "manifest.json").unlink(missing_ok=True)  # a folder half written has none
        before = file_marks(folder)
        self.predictor.save(folder)
        if self.seen_ is not None:
            self.seen_.write(folder)
        state: dict[str, Any] = {
            "system": self.system, "threshold": self.threshold_, "settings": self.settings,
            "rate": self.rate_, "classes": self._classes.tolist(),
        }  # fmt: skip
        if self.bands is not None:
            state["bands"] = self.bands.as_dict()
        if self.category:
            state["category"] = self.category
        write_json(folder / "detector.json", state)
        seed = self.settings.get("seed")
        config = {**state, **(about or {})}
        write_manifest(folder, command=command, config=config, seed=seed, inputs=inputs, before=before)

    def export(self, form: str, folder: Path | str) -> Path:
        """Write the encoder for others: "safetensors" (a Hugging Face folder) or "onnx"."""
        from deadpan.detect.neural.transformer import export_model

        return export_model(self.predictor, form, Path(folder))

    @classmethod
    def load(cls, folder: Path | str) -> Detector:
        """Read what `save` wrote, after checking that no file was changed.

        These come with the package: "base", and for English "encoder", which needs deadpan[neural] and
        `deadpan models pull mpnet-base`, or "encoder-fast", which needs minilm-l6 and takes its place where
        mpnet-base is not there. "auto" answers each text with the best one that is installed.
        """
        if str(folder) == AUTO:
            return auto_detector()
        folder = shipped_folder(str(folder)) or check_path(folder, "the folder")
        _check_files(folder)
        state = read_json(folder / "detector.json")
        try:
            system, threshold = SYSTEMS.check(state["system"]), float(state["threshold"])
            predictor = SYSTEMS.load(system).load(folder)
        except (KeyError, TypeError) as bad:
            raise DataError(f"{folder}: not a model of this version ({bad!r}); train again") from None
        defaults = make(system, {}).settings
        changed = {key: value for key, value in predictor.settings.items() if value != defaults.get(key)}
        detector = cls(system, threshold=threshold, **changed)
        detector.predictor = predictor
        detector.rate_ = None if state.get("rate") is None else float(state["rate"])
        detector.bands = Bands.from_dict(state["bands"]) if "bands" in state else None
        detector.category = str(state.get("category", ""))
        detector.card = read_card(folder.name) if folder in SHIPPED.values() else None
        detector.seen_ = SeenTexts.read(folder)
        detector.classes_ = np.array(state["classes"]) if "classes" in state else BOOLEANS
        return detector


def _check_files(folder: Path) -> None:
    if not (folder / "detector.json").is_file():
        raise ModelError(f"{folder}: no detector here; expected the folder a detector was saved to")
    if not (folder / "manifest.json").is_file():
        raise ModelError(f"{folder}: has no manifest.json, so saving was interrupted; train again")
    for name, facts in read_manifest(folder).files.items():
        if not (folder / name).is_file() or digest(folder / name) != facts.get("sha256"):
            raise ModelError(f"{folder / name}: changed or missing since the model was saved; train again")


def labelled_only(examples: Iterable[Example]) -> tuple[list[Example], int]:
    """Return the labelled examples, and how many have no label; none at all is an error."""
    rows = list(examples)
    kept = [example for example in rows if example.label is not None]
    if not kept:
        raise DataError("nothing to score: no example has a label")
    return kept, len(rows) - len(kept)


def check_model_folder(folder: Path, *, overwrite: bool) -> None:
    """Refuse to write a model into a folder that holds something else, or a detector that may not be replaced."""
    if not folder.exists():
        return
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "detector.json").exists()):
        raise ConfigError(f"{folder}: holds something that is not a detector; choose another folder")
    if (folder / "detector.json").exists() and not overwrite:
        raise ConfigError(f"{folder}: a detector was saved there before; choose another folder, or ask to overwrite it")


def clear_model_folder(folder: Path) -> None:
    """Remove the files of the model saved there before, so that none remain beside those of another."""
    if not (folder / "manifest.json").is_file():
        return
    for name in read_manifest(folder, any_version=True).files:
        path = folder / name
        outside = Path(name).is_absolute() or ".." in Path(name).parts
        if outside or not path.is_file():  # the manifest may come from somewhere else
            continue
        path.unlink()
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()
    (folder / "manifest.json").unlink()


# ------------------------------------------------------------ the detectors in the package


def load_at(name: str, prevalence: float | None) -> Detector:
    """Load a detector; with a prevalence, its scores are for that share of sarcastic texts."""
    detector = Detector.load(name)
    return detector if prevalence is None else detector.at(prevalence)


def encoder_is_ready() -> bool:
    """Return True if the weights of an encoder have been pulled and what reads them is installed."""
    return any(map(_can_run, ENCODER_NEEDS))


def _can_run(name: str) -> bool:
    from deadpan.models import installed

    weights, libraries = ENCODER_NEEDS[name]
    return weights in installed() and all(map(find_spec, libraries))


def shipped_folder(name: str) -> Path | None:
    """Return the folder of a detector in the package; of `encoder` the small one where only that one can run."""
    if name == ENCODER and not _can_run(ENCODER):
        name = FAST
    return SHIPPED.get(name)


def best_detector(text: str, name: str = AUTO) -> str:
    """Return the name itself, or for "auto" `encoder` where it can read the text, else `base`."""
    if name != AUTO:
        return name
    return ENCODER if guess_language(text) == ENCODER_LANGUAGE and encoder_is_ready() else BASE


def auto_detector() -> Detector:
    """Return a detector that answers each text as `encoder` or as `base` would alone."""
    base = Detector.load(BASE)
    if not encoder_is_ready():
        return base
    encoder = Detector.load(ENCODER)
    if encoder.bands is None or base.bands is None or encoder.bands.prevalence != base.bands.prevalence:
        raise ConfigError("the detectors that come with the package do not fit: install deadpan again")
    own = {ENCODER_LANGUAGE: encoder.bands.languages[ENCODER_LANGUAGE]}
    scales = {name: scale for name, scale in base.bands.scales.items() if name != ENCODER_LANGUAGE}
    scales |= {name: scale for name, scale in encoder.bands.scales.items() if name == ENCODER_LANGUAGE}
    known = [each.seen_.hashes for each in (encoder, base) if each.seen_ is not None]
    auto = copy(base)
    auto.system, auto.rate_ = AUTO, None
    auto.predictor = ByLanguage(encoder.predictor, base.predictor)
    auto.bands = replace(base.bands, languages={**base.bands.languages, **own}, scales=scales)
    auto.seen_ = SeenTexts(np.unique(np.concatenate(known))) if known else None
    return auto


class ByLanguage(System):
    """One system for English texts, another one for the rest."""

    about = "the detectors that come with the package"

    def __init__(self, english: System, other: System) -> None:
        super().__init__(turns=english.context.turns, speakers=english.context.speakers)
        self.english_, self.other_ = english, other

    @property
    def settings(self) -> dict[str, Any]:
        return {}

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the predictions of both systems, in the order of the examples."""
        return self.predict_known(examples, [guess_language(e.response.text) for e in examples])

    def predict_known(self, examples: Sequence[Example], languages: Sequence[str]) -> list[Prediction]:
        """Return the same for texts whose languages are known."""
        answers: dict[int, Prediction] = {}
        for system, is_english in ((self.english_, True), (self.other_, False)):
            system.progress = self.progress
            places = [at for at, name in enumerate(languages) if (name == ENCODER_LANGUAGE) is is_english]
            answers |= zip(places, system.predict([examples[place] for place in places]), strict=True)
        return [answers[place] for place in range(len(examples))]

    def fit(self, examples: Sequence[Example]) -> Self:
        """Refuse: both systems are trained."""
        raise ConfigError(ALREADY_TRAINED)

    def save(self, folder: Path) -> None:
        """Refuse: it comes with the package."""
        raise ConfigError(ALREADY_TRAINED)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Refuse: it has no folder of its own."""
        raise ConfigError(ALREADY_TRAINED)
