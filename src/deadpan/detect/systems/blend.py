"""Stacking: a logistic regression on the out-of-fold scores of several systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect import SYSTEMS
from deadpan.detect.features.blocks import DenseBlock
from deadpan.detect.features.logistic import Fitted, fit_logistic
from deadpan.detect.settings import check_settings, make, split_variant
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.thresholds import DEFAULT_THRESHOLD, Threshold, at_threshold, choose_threshold
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.splits import folds as make_folds
from deadpan.storage import read_json, write_json

Member = str | Mapping[str, Any]
STRENGTH = 1.0
FARTHEST = 4.0
"""Log odds are clipped here: one member that is confident and wrong must not decide alone."""


class Blend(System):
    """`systems` are names, also with commas or plus signs, or tables: {"system": "linear", "turns": 2}.

    `turns`, `speakers` and `seed` go to every member that does not set its own.
    """

    about = "a weighted combination of several systems"
    variant = "systems"

    def __init__(
        self,
        *,
        systems: str | Sequence[Member] = ("linear", "bigrams", "cues"),
        folds: int = 3,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if isinstance(systems, str):
            systems = [name.strip() for name in systems.replace("+", ",").split(",") if name.strip()]
        if not isinstance(systems, Sequence) or not all(isinstance(each, str | Mapping) for each in systems):
            raise ConfigError(
                f"systems of a blend are names, or tables of a name and settings: got {systems!r}"
            )
        self.systems = [member if isinstance(member, str) else dict(member) for member in systems]
        self.folds = folds
        if len(self.systems) < 2:
            raise ConfigError("a blend needs at least two systems, such as blend:linear+bigrams")
        for member in self.systems:
            if SYSTEMS.load(_name(member)) is Blend:
                raise ConfigError("a blend of blends is a blend of all their systems: list those")
            check_settings(_name(member), _own(member))

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "systems": self.systems, "folds": self.folds}

    def _make(self, member: Member) -> System:
        system = make(_name(member), {**super().settings, **_own(member)})
        system.progress = partial(self._report, _name(member))
        return system

    def _report(self, member: str, description: str, done: int, total: int) -> None:
        self.progress(f"{member}: {description}", done, total)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn the weights of the members from out-of-fold scores, then train every member on all."""
        kept, _ = labelled(examples)
        rows = {example.id: row for row, example in enumerate(kept)}
        scores = np.zeros((len(kept), len(self.systems)))
        for fold in make_folds(kept, self.folds, seed=self.seed):
            for column, member in enumerate(self.systems):
                for p in self._make(member).fit(fold.train).predict(fold.test):
                    scores[rows[p.example_id], column] = 0.5 if p.score is None else p.score
        labels = np.array([bool(example.label) for example in kept])
        self.trust_ = fit_logistic([DenseBlock(log_odds(scores))], labels, STRENGTH)
        self.members_ = [self._make(member).fit(kept) for member in self.systems]
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the weighted combination of the members' scores."""
        if not examples:
            return []
        scores = [[0.5 if p.score is None else p.score for p in m.predict(examples)] for m in self.members_]
        block = DenseBlock(log_odds(np.array(scores).T))
        return predictions(examples, sigmoid(self.trust_.margins([block])))

    def trust(self) -> dict[str, float]:
        """Return the weight of each member's log odds."""
        return {
            f"{place}-{_name(member)}": float(weight)
            for place, (member, weight) in enumerate(zip(self.systems, self.trust_.weights[0], strict=True))
        }

    def save(self, folder: Path) -> None:
        """Write each member to a folder of its own, and their weights."""
        for place, (name, member) in enumerate(zip(self.trust(), self.members_, strict=True)):
            (folder / name).mkdir(parents=True, exist_ok=True)
            member.save(folder / name)
            self.progress("saving", place + 1, len(self.members_))
        state = {"settings": self.settings, "trust": self.trust(), "intercept": self.trust_.intercept}
        write_json(folder / "blend.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the members and their weights."""
        state = read_json(folder / "blend.json")
        model = cls(**state["settings"])
        model.trust_ = Fitted([np.array(list(state["trust"].values()))], float(state["intercept"]))
        model.members_ = [
            SYSTEMS.load(_name(member)).load(folder / name)
            for member, name in zip(model.systems, state["trust"], strict=True)
        ]
        return model


def blend_scores(
    trials: Sequence[Sequence[Prediction]],
    examples: Sequence[Example],
    k: int = 5,
    *,
    threshold: Threshold = DEFAULT_THRESHOLD,
    prevalence: float | None = None,
) -> tuple[list[Prediction], tuple[float, ...]]:
    """Combine out-of-fold predictions of several systems, each in the order of the examples.

    Weights and threshold are chosen on k - 1 folds and used on the other; the thresholds are returned too. No
    system is trained again, so systems that took hours can be blended in a second.
    """
    kept, _ = labelled(examples)
    if len(kept) != len(examples) or any(len(trial) != len(kept) for trial in trials):
        raise DataError("a blend needs one prediction of each system for each labelled example")
    columns = log_odds(
        np.array(
            [[0.5 if p.score is None else p.score for p in trial] for trial in trials], dtype=np.float64
        ).T
    )
    rows = {example.id: row for row, example in enumerate(kept)}
    said: dict[str, Prediction] = {}
    thresholds = []
    for fold in make_folds(kept, k, seed=0):
        train = [rows[example.id] for example in fold.train]
        test = [rows[example.id] for example in fold.test]
        truth = np.array([bool(example.label) for example in fold.train])
        trust = fit_logistic([DenseBlock(columns[train])], truth, STRENGTH)
        known, new = (sigmoid(trust.margins([DenseBlock(columns[part])])) for part in (train, test))
        thresholds.append(choose_threshold(fold.train, predictions(fold.train, known), threshold, prevalence))
        said |= {p.example_id: p for p in at_threshold(predictions(fold.test, new), thresholds[-1])}
    return [said[example.id] for example in kept], tuple(thresholds)


def _name(member: Member) -> str:
    """Return the registered name of a member."""
    if not isinstance(member, str) and "system" not in member:
        raise ConfigError(f"a member of a blend needs its system: got {dict(member)}")
    return split_variant(member if isinstance(member, str) else str(member["system"]))[0]


def _own(member: Member) -> dict[str, Any]:
    """Return the settings of a member."""
    if isinstance(member, str):
        return split_variant(member)[1]
    own = split_variant(str(member["system"]))[1]
    return {**own, **{key: value for key, value in member.items() if key != "system"}}


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log odds of scores, clipped."""
    kept = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.clip(np.log(kept / (1 - kept)), -FARTHEST, FARTHEST)
