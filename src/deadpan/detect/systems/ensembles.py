"""Systems made of other systems: a blend, a small one trained on a large one, text with history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect import SYSTEMS
from deadpan.detect.system import System, check_settings, labelled, make, predictions, sigmoid, split_variant
from deadpan.detect.systems.logistic import DenseBlock, Fitted, fit_logistic
from deadpan.detect.verdicts import DEFAULT_THRESHOLD, Threshold, at_threshold, choose_threshold
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.storage import read_json, write_json

if TYPE_CHECKING:
    from deadpan.splits import Fold

Member = str | Mapping[str, Any]
STRENGTH = 1.0
FARTHEST = 4.0
"""Log odds are clipped here: one member that is confident and wrong must not decide alone."""
Array = NDArray[np.float64]
AUTHOR = "author"
PRIOR = 1.0
"""Examples of either label that every author is taken to have: one comment is no habit."""
MOST_ROLES = 4
"""Speakers that take part in all dialogues of a corpus: if there are no more, they are roles, not people."""


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
            raise ConfigError(f"systems of a blend are names, or tables of a name and settings: got {systems!r}")
        self.systems = [member if isinstance(member, str) else dict(member) for member in systems]
        self.folds = folds
        if len(self.systems) < 2:
            raise ConfigError("a blend needs at least two systems, such as blend:linear+bigrams")
        for member in self.systems:
            if SYSTEMS.load(_name(member)) is Blend:
                raise ConfigError("a blend of blends is a blend of all their systems: list those")
            check_settings(_name(member), _own(member))

    def _make(self, member: Member) -> System:
        system = make(_name(member), {**self.shared, **_own(member)})
        system.progress = partial(self._report, _name(member))
        return system

    def _report(self, member: str, description: str, done: int, total: int) -> None:
        self.progress(f"{member}: {description}", done, total)

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn the weights of the members from out-of-fold scores, then train every member on all."""
        from deadpan.splits import folds as make_folds

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

    def save(self, folder: Path, beside: Mapping[str, str] | None = None) -> None:
        """Write each member to a folder of its own, and their weights.

        `beside` names members that are saved already, by their folders relative to this one.
        """
        known = beside or {}
        for place, (name, member) in enumerate(zip(self.trust(), self.members_, strict=True)):
            if name not in known:
                (folder / name).mkdir(parents=True, exist_ok=True)
                member.save(folder / name)
            self.progress("saving", place + 1, len(self.members_))
        trust = {known.get(name, name): weight for name, weight in self.trust().items()}
        write_json(
            folder / "blend.json", {"settings": self.settings, "trust": trust, "intercept": self.trust_.intercept}
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
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
    from deadpan.splits import folds as make_folds

    kept, _ = labelled(examples)
    if len(kept) != len(examples) or any(len(trial) != len(kept) for trial in trials):
        raise DataError("a blend needs one prediction of each system for each labelled example")
    columns = log_odds(
        np.array([[0.5 if p.score is None else p.score for p in trial] for trial in trials], dtype=np.float64).T
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

    def _make(self, name: str) -> System:
        system = make(name, self.shared)
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
        from deadpan.splits import folds as make_folds

        scores: dict[str, float] = {}
        for fold in make_folds(examples, self.folds, seed=self.seed):
            said = self._make(self.teacher).fit(fold.train).predict(fold.test)
            scores |= {p.example_id: 0.5 if p.score is None else p.score for p in said}
        return scores

    def _spread(self, examples: Sequence[Example], scores: dict[str, float]) -> Iterator[Example]:
        """Yield each example `copies` times, as sarcastic in the proportion that its target gives."""
        for example in examples:
            target = (1 - self.trust) * bool(example.label) + self.trust * scores[example.id]
            # The student takes labels only: a target of 0.75 is three sarcastic copies and a sincere one.
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
        return self.model_.predict(examples)

    def save(self, folder: Path) -> None:
        """Write the student; the teacher is not needed any more."""
        (folder / "student").mkdir(parents=True, exist_ok=True)
        self.model_.save(folder / "student")
        state = {"settings": self.settings, "pseudo_labelled": self.pseudo_labelled_}
        write_json(folder / "distilled.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "distilled.json")
        model = cls(**state["settings"])
        model.pseudo_labelled_ = int(state["pseudo_labelled"])
        model.model_ = SYSTEMS.load(split_variant(model.student)[0]).load(folder / "student")
        return model


def who(example: Example, by: str) -> str:
    """Return the author of a response, or a fact of its `meta` such as its subreddit; empty if unknown."""
    name = example.response.speaker if by == AUTHOR else example.meta.get(by, "")
    return "" if name in (None, "[deleted]") else str(name)


def roles(examples: Sequence[Example]) -> list[str]:
    """Return the speakers of a corpus if they are roles in its dialogues (A, B) and not authors."""
    names = {turn.speaker for example in examples for turn in (example.response, *example.context)} - {""}
    fixed = len(names) <= MOST_ROLES and any(example.context for example in examples)
    return sorted(names) if fixed or all(len(name) == 1 for name in names) else []


class Habits:
    """Counts of sarcastic and of all training examples by author (or by forum)."""

    def __init__(self, by: str, counts: Mapping[str, tuple[int, int]], rate: float) -> None:
        self.by, self.counts, self.rate = by, dict(counts), rate

    @classmethod
    def of(cls, examples: Sequence[Example], by: str) -> Self:
        """Count the labelled examples."""
        sarcastic: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for example in examples:
            if name := who(example, by):
                total[name] += 1
                sarcastic[name] += bool(example.label)
        rate = sum(bool(e.label) for e in examples) / max(len(examples), 1)
        return cls(by, {name: (sarcastic[name], count) for name, count in total.items()}, rate)

    def log_odds(self, example: Example) -> float:
        """Return the smoothed log odds of sarcasm of an author above those of all; 0 for an unknown one."""
        true, total = self.counts.get(who(example, self.by), (0, 0))
        share = (true + 2 * PRIOR * self.rate) / (total + 2 * PRIOR)
        return float(np.log(share / (1 - share)) - np.log(self.rate / (1 - self.rate)))

    def knows(self, example: Example) -> bool:
        """Return True if the author has training examples."""
        return who(example, self.by) in self.counts


class History(System):
    """`text` is a system with `settings` for the words; `by` names what has a history: author, subreddit.

    Annotators see no history: compare this with the text alone, never instead of it.
    """

    about = "a text system, and the author's sarcasm in the training data"
    variant = "text"

    def __init__(
        self,
        *,
        text: str = "linear",
        by: str | Sequence[str] = (AUTHOR,),
        options: Mapping[str, Any] | None = None,
        folds: int = 5,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.by = [name.strip() for name in by.split(",")] if isinstance(by, str) else list(by)
        self.text, self.folds, self.options = text, folds, dict(options or {})
        if not self.by or not all(self.by):
            raise ConfigError("by names what has a history: author, subreddit, or both")
        check_settings(self.text, self.options)

    def _make(self) -> System:
        system = make(self.text, {**self.shared, **self.options})
        system.progress = self.progress
        return system

    def fit(self, examples: Sequence[Example]) -> Self:
        """Weigh out-of-fold scores and out-of-fold histories, then train and count on all."""
        from deadpan.splits import folds as make_folds

        kept, _ = labelled(examples)
        said: dict[str, Prediction] = {}
        for fold in make_folds(kept, self.folds, seed=self.seed):
            said |= {p.example_id: p for p in self._make().fit(fold.train).predict(fold.test)}
        self.trust_, self.habits_ = _weigh(kept, said, self.by, self.folds, self.seed)
        self.model_ = self._make().fit(kept)
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability given words and history; an author unknown in training adds nothing."""
        if not examples:
            return []
        block = DenseBlock(_columns(examples, self.model_.predict(examples), self.habits_))
        return predictions(examples, sigmoid(self.trust_.margins([block])))

    def save(self, folder: Path) -> None:
        """Write the text system to a folder of its own, and the counts as JSON."""
        (folder / "text").mkdir(parents=True, exist_ok=True)
        self.model_.save(folder / "text")
        state = {
            "settings": self.settings, "trust": self.trust_.weights[0].tolist(),
            "intercept": self.trust_.intercept,
            "habits": [{"by": h.by, "rate": h.rate, "counts": h.counts} for h in self.habits_],
        }  # fmt: skip
        write_json(folder / "history.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "history.json")
        model = cls(**state["settings"])
        model.trust_ = Fitted([np.array(state["trust"])], float(state["intercept"]))
        model.habits_ = [
            Habits(h["by"], {name: (int(t), int(n)) for name, (t, n) in h["counts"].items()}, float(h["rate"]))
            for h in state["habits"]
        ]
        model.model_ = SYSTEMS.load(split_variant(model.text)[0]).load(folder / "text")
        return model


def add_history(
    said: Mapping[str, Prediction], fold: Fold, by: Sequence[str], *, folds: int = 5, seed: int = 0
) -> list[Prediction]:
    """Add the history of the training part to finished predictions of the test part.

    `said` has out-of-fold predictions of both parts. No label of the test part is counted or weighed.
    """
    known = [example for example in fold.train if example.id in said]
    trust, habits = _weigh(known, said, by, folds, seed)
    block = DenseBlock(_columns(fold.test, [said[example.id] for example in fold.test], habits))
    return predictions(fold.test, sigmoid(trust.margins([block])))


def _weigh(
    examples: Sequence[Example], said: Mapping[str, Prediction], by: Sequence[str], folds: int, seed: int
) -> tuple[Fitted, list[Habits]]:
    """Return weights of out-of-fold scores and out-of-fold histories, and the histories of all."""
    from deadpan.splits import folds as make_folds

    kept, labels = labelled(examples)
    rows = {example.id: row for row, example in enumerate(kept)}
    columns = np.zeros((len(kept), 1 + len(by)))
    for fold in make_folds(kept, folds, seed=seed):
        habits = [Habits.of(fold.train, name) for name in by]
        scores = [said[example.id] for example in fold.test]
        columns[[rows[example.id] for example in fold.test]] = _columns(fold.test, scores, habits)
    return fit_logistic([DenseBlock(columns)], labels, 1.0), [Habits.of(kept, name) for name in by]


def _columns(examples: Sequence[Example], said: Sequence[Prediction], habits: Sequence[Habits]) -> Array:
    scores = np.clip([0.5 if p.score is None else p.score for p in said], 1e-6, 1 - 1e-6)
    text = np.clip(np.log(scores / (1 - scores)), -FARTHEST, FARTHEST)
    return np.stack([text, *(np.array([h.log_odds(e) for e in examples]) for h in habits)], axis=1)
