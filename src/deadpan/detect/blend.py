"""Several systems as one: a logistic regression on what each says of examples it did not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect import SYSTEMS
from deadpan.detect.blocks import DenseBlock
from deadpan.detect.logistic import Fitted, fit_logistic
from deadpan.detect.settings import check_settings, make
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.splits import folds as deal
from deadpan.storage import read_json, write_json

Member = str | Mapping[str, Any]
STRENGTH = 1.0
FARTHEST = 4.0
"""Log odds a member may claim: one that is sure and wrong must not decide alone."""


class Blend(System):
    """Stacking. `systems` are names, also with commas, or tables: {"system": "linear", "turns": 2}.

    `turns`, `speakers` and `seed` go to every member that does not set its own.
    """

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
            systems = [name.strip() for name in systems.split(",") if name.strip()]
        if not isinstance(systems, Sequence) or not all(isinstance(each, str | Mapping) for each in systems):
            raise ConfigError(
                f"systems of a blend are names, or tables of a name and settings: got {systems!r}"
            )
        self.systems = [member if isinstance(member, str) else dict(member) for member in systems]
        self.folds = folds
        if len(self.systems) < 2:
            raise ConfigError("a blend needs at least two systems, such as linear,bigrams")
        for member in self.systems:
            if _name(member) == "blend":
                raise ConfigError("a blend of blends is a blend of all their systems: list those")
            check_settings(_name(member), _own(member))

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "systems": self.systems, "folds": self.folds}

    def _make(self, member: Member) -> System:
        system = make(_name(member), {**super().settings, **_own(member)})
        system.progress = lambda what, done, total: self.progress(f"{_name(member)}: {what}", done, total)
        return system

    def fit(self, examples: Sequence[Example]) -> Self:
        """Score every example with members that did not see its fold, learn whom to trust, fit all on all."""
        kept, _ = labelled(examples)
        dealt = deal(kept, self.folds, seed=self.seed)
        rows = {example.id: row for row, example in enumerate(kept)}
        scores = np.zeros((len(kept), len(self.systems)))
        for fold in dealt:
            for column, member in enumerate(self.systems):
                for said in self._make(member).fit(fold.train).predict(fold.test):
                    scores[rows[said.example_id], column] = 0.5 if said.score is None else said.score
        labels = np.array([bool(example.label) for example in kept])
        self.trust_ = fit_logistic([DenseBlock(_log_odds(scores))], labels, STRENGTH)
        self.members_ = [self._make(member).fit(kept) for member in self.systems]
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """What the members say, weighed."""
        if not examples:
            return []
        said = [[0.5 if p.score is None else p.score for p in m.predict(examples)] for m in self.members_]
        block = DenseBlock(_log_odds(np.array(said).T))
        return predictions(examples, sigmoid(self.trust_.margins([block])))

    def trust(self) -> dict[str, float]:
        """How much each member's log odds count."""
        return {
            f"{place}-{_name(member)}": float(weight)
            for place, (member, weight) in enumerate(zip(self.systems, self.trust_.weights[0], strict=True))
        }

    def save(self, folder: Path) -> None:
        """Each member in a folder of its own, and the weights between them."""
        for place, (name, member) in enumerate(zip(self.trust(), self.members_, strict=True)):
            (folder / name).mkdir(parents=True, exist_ok=True)
            member.save(folder / name)
            self.progress("saving", place + 1, len(self.members_))
        state = {"settings": self.settings, "trust": self.trust(), "intercept": self.trust_.intercept}
        write_json(folder / "blend.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Every member, and the weights."""
        state = read_json(folder / "blend.json")
        model = cls(**state["settings"])
        model.trust_ = Fitted([np.array(list(state["trust"].values()))], float(state["intercept"]))
        model.members_ = [
            SYSTEMS.load(_name(member)).load(folder / name)
            for member, name in zip(model.systems, state["trust"], strict=True)
        ]
        return model


def blend_scores(
    said: Sequence[Sequence[Prediction]], examples: Sequence[Example], k: int = 5
) -> list[Prediction]:
    """Out-of-fold predictions of several systems (each in the order of the examples) as one.

    How much to trust each is learnt on k - 1 folds and used on the other. Nothing is trained again, so
    systems that took hours can be blended in a second.
    """
    kept, _ = labelled(examples)
    if len(kept) != len(examples) or any(len(each) != len(kept) for each in said):
        raise DataError("a blend needs one prediction of each system for each labelled example")
    columns = _log_odds(
        np.array([[0.5 if p.score is None else p.score for p in each] for each in said], dtype=np.float64).T
    )
    rows = {example.id: row for row, example in enumerate(kept)}
    scores = np.zeros(len(kept))
    for fold in deal(kept, k, seed=0):
        train = [rows[example.id] for example in fold.train]
        test = [rows[example.id] for example in fold.test]
        truth = np.array([bool(example.label) for example in fold.train])
        trust = fit_logistic([DenseBlock(columns[train])], truth, STRENGTH)
        scores[test] = sigmoid(trust.margins([DenseBlock(columns[test])]))
    return predictions(kept, scores)


def _name(member: Member) -> str:
    if isinstance(member, str):
        return member
    if "system" not in member:
        raise ConfigError(f"a member of a blend needs its system: got {dict(member)}")
    return str(member["system"])


def _own(member: Member) -> dict[str, Any]:
    """The settings a member brings of its own."""
    if isinstance(member, str):
        return {}
    return {key: value for key, value in member.items() if key != "system"}


def _log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    kept = np.clip(scores, 1e-6, 1 - 1e-6)
    return np.clip(np.log(kept / (1 - kept)), -FARTHEST, FARTHEST)
