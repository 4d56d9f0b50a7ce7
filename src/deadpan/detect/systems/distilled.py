"""Distillation: a small system learns from the scores of a large one, also on texts without a label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from deadpan.detect import SYSTEMS
from deadpan.detect.settings import check_settings, make, split_variant
from deadpan.detect.system import System, labelled
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.splits import folds as make_folds
from deadpan.storage import read_json, write_json


class Distilled(System):
    """`teacher` is a system, often a blend; `student` is trained on its scores, and is all that is kept.

    The target of a text is its label and the teacher's out-of-fold score, which counts for `trust`. With
    `pseudo`, training examples without a label are labelled by the teacher, and those of which it is at least
    `sure` are used, each with the weight of one of `copies`, the times a labelled text is repeated to express
    its target.
    """

    about = "a small system trained on the scores of a large one"
    variant = "student"

    def __init__(
        self,
        *,
        student: str = "linear",
        teacher: str = "blend:linear+bigrams+cues",
        trust: float = 0.5,
        pseudo: bool = False,
        sure: float = 0.9,
        copies: int = 4,
        folds: int = 3,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        for name in (student, teacher):
            if SYSTEMS.load(split_variant(name)[0]) is Distilled:
                raise ConfigError("a distilled system cannot be distilled again: name its student")
            check_settings(name, {})
        if not 0 <= trust <= 1 or not 0.5 <= sure <= 1:
            raise ConfigError(f"trust is from 0 to 1 and sure from 0.5 to 1: got {trust} and {sure}")
        if copies < 1 or folds < 2:
            raise ConfigError(f"copies is 1 or more and folds 2 or more: got {copies} and {folds}")
        self.student, self.teacher, self.trust = student, teacher, trust
        self.pseudo, self.sure, self.copies, self.folds = pseudo, sure, copies, folds

    @property
    def settings(self) -> dict[str, Any]:
        own = {"student": self.student, "teacher": self.teacher, "trust": self.trust, "pseudo": self.pseudo,
               "sure": self.sure, "copies": self.copies, "folds": self.folds}  # fmt: skip
        return {**super().settings, **own}

    def _make(self, name: str) -> System:
        system = make(name, super().settings)
        system.progress = partial(self._report, name)
        return system

    def _report(self, name: str, description: str, done: int, total: int) -> None:
        self.progress(f"{name}: {description}", done, total)

    def influential(self, examples: Sequence[Example]) -> list[Example]:
        """Return the labelled examples, and with `pseudo` also those without a label."""
        return list(examples) if self.pseudo else super().influential(examples)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Score every text by a teacher that was not trained on it, then train the student."""
        kept, _ = labelled(examples)
        rows = list(self._spread(kept, self._out_of_fold(kept)))
        added = self._pseudo_labelled(kept, [example for example in examples if example.label is None])
        self.pseudo_labelled_ = len(added)
        self.model_ = self._make(self.student).fit([*rows, *added])
        return self

    def _out_of_fold(self, examples: Sequence[Example]) -> dict[str, float]:
        scores: dict[str, float] = {}
        for fold in make_folds(examples, self.folds, seed=self.seed):
            said = self._make(self.teacher).fit(fold.train).predict(fold.test)
            scores |= {p.example_id: 0.5 if p.score is None else p.score for p in said}
        return scores

    def _spread(self, examples: Sequence[Example], scores: dict[str, float]) -> Iterator[Example]:
        """Yield each example `copies` times, as sarcastic in the proportion that its target gives."""
        for example in examples:
            target = (1 - self.trust) * bool(example.label) + self.trust * scores[example.id]
            yes = round(target * self.copies)
            group = example.group or example.sequence or example.id
            for at in range(self.copies):
                yield replace(
                    example, id=f"{example.id}~{at}", label=at < yes, group=group, sequence=""
                )  # a pair whose labels are shared out is no pair any more

    def _pseudo_labelled(self, known: Sequence[Example], unknown: Sequence[Example]) -> list[Example]:
        if not self.pseudo or not unknown:
            return []
        said = self._make(self.teacher).fit(known).predict(unknown)
        return [
            replace(example, label=p.score > 0.5, sequence="")
            for example, p in zip(unknown, said, strict=True)
            if p.score is not None and max(p.score, 1 - p.score) >= self.sure
        ]

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the student's answers."""
        return self.model_.predict(examples)

    def save(self, folder: Path) -> None:
        """Write the student; the teacher is not needed any more."""
        (folder / "student").mkdir(parents=True, exist_ok=True)
        self.model_.save(folder / "student")
        state = {"settings": self.settings, "pseudo_labelled": self.pseudo_labelled_}
        write_json(folder / "distilled.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the student."""
        state = read_json(folder / "distilled.json")
        model = cls(**state["settings"])
        model.pseudo_labelled_ = int(state["pseudo_labelled"])
        model.model_ = SYSTEMS.load(split_variant(model.student)[0]).load(folder / "student")
        return model
