"""Text and history: the score of a system, and how often the author (or the forum) was sarcastic before.

The history of an example is counted from training examples only, and never from its own fold: what `fit`
weighs is a history without the example's own label, and `predict` looks at no label at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect import SYSTEMS
from deadpan.detect.features.blocks import DenseBlock
from deadpan.detect.features.logistic import Fitted, fit_logistic
from deadpan.detect.settings import check_settings, make, split_variant
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.splits import Fold
from deadpan.splits import folds as make_folds
from deadpan.storage import read_json, write_json

Array = NDArray[np.float64]
AUTHOR = "author"
PRIOR = 1.0
"""Examples of either label that every author is taken to have: one comment is no habit."""
FARTHEST = 4.0
MOST_ROLES = 4
"""Speakers that take part in all dialogues of a corpus: if there are no more, they are roles, not people."""


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

    @property
    def settings(self) -> dict[str, Any]:
        own = {"text": self.text, "by": self.by, "options": self.options, "folds": self.folds}
        return {**super().settings, **own}

    def _make(self) -> System:
        system = make(self.text, {**super().settings, **self.options})
        system.progress = self.progress
        return system

    def fit(self, examples: Sequence[Example]) -> Self:
        """Weigh out-of-fold scores and out-of-fold histories, then train and count on all."""
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
        """Read what `save` wrote."""
        state = read_json(folder / "history.json")
        model = cls(**state["settings"])
        model.trust_ = Fitted([np.array(state["trust"])], float(state["intercept"]))
        model.habits_ = [
            Habits(
                h["by"], {name: (int(t), int(n)) for name, (t, n) in h["counts"].items()}, float(h["rate"])
            )
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
