"""Common rules of thumb: sarcasm is short, shouts, opens with "oh" and praises what is bad.

Each rule compares one number per text (a signal, its length, its votes) with a cut; the rules are learned by
boosting, and they can be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.features.grams import cut
from deadpan.detect.features.signals import NAMES, text_signals, word_signals
from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.errors import DataError
from deadpan.records import Example, Prediction
from deadpan.storage import read_json, write_json

CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)
RULES = 12
VOTES = "votes"
PRIOR = 2.0


class Cues(System):
    """At most a dozen rules such as `exclamations > 0.7`, each with its log odds, added up."""

    about = "a dozen rules of thumb that can be read"

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose rules one by one, each on the errors of the earlier ones (boosted decision stumps)."""
        kept, labels = labelled(examples)
        columns = self._columns(kept)
        weight = np.full(len(kept), 1 / len(kept))
        rate = float(labels.mean())
        self.intercept_ = float(np.log(rate / (1 - rate)))
        self.rules_: list[tuple[str, float, float, float]] = []
        margin = np.full(len(kept), self.intercept_)
        for done in range(RULES):
            self.progress("choosing rules", done, RULES)
            rule, gain = _best_rule(columns, labels, weight)
            if rule is None or gain < 1e-4:
                break
            name, cut_at, above, below = rule
            self.rules_.append(rule)
            margin += 0.5 * np.where(columns[name] > cut_at, above, below)
            weight = np.maximum(np.abs(labels - sigmoid(margin)), 1e-6)
            weight /= weight.sum()
        return self

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Add half of each rule's log odds to those of the training rate."""
        columns = self._columns(examples)
        margin = np.full(len(examples), self.intercept_)
        for name, cut_at, above, below in self.rules_:
            margin += 0.5 * np.where(columns[name] > cut_at, above, below)
        return predictions(examples, sigmoid(margin))

    def _columns(self, examples: Sequence[Example]) -> dict[str, NDArray[np.float64]]:
        texts = cut([example.response.text for example in examples])
        table = text_signals(word_signals(texts.words), texts.flat, texts.lengths)
        columns = {name: table[:, place] for place, name in enumerate(NAMES)}
        columns[VOTES] = np.array([_votes(example) for example in examples], dtype=np.float64)
        if self.context.turns != 0:
            seen = [self.context.before(example) for example in examples]
            columns["turns_before"] = np.array([len(turns) for turns in seen], dtype=np.float64)
            columns["letters_before"] = np.log1p([sum(len(t.text) for t in turns) for turns in seen])
        return columns

    def telling(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the rules with the largest weights for sarcastic and for sincere."""
        sides = [
            pair
            for name, cut_at, above, below in self.rules_
            for pair in ((f"{name} > {cut_at:.2g}", above), (f"{name} <= {cut_at:.2g}", below))
        ]
        ranked = sorted(sides, key=lambda pair: -pair[1])
        return [p for p in ranked if p[1] > 0][:top], [p for p in ranked[::-1] if p[1] < 0][:top]

    def save(self, folder: Path) -> None:
        """Write the rules as JSON."""
        state = {"settings": self.settings, "intercept": self.intercept_, "rules": self.rules_}
        write_json(folder / "cues.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the rules."""
        state = read_json(folder / "cues.json")
        model = cls(**state["settings"])
        model.intercept_ = float(state["intercept"])
        model.rules_ = [(name, float(a), float(b), float(c)) for name, a, b, c in state["rules"]]
        if strange := [rule[0] for rule in model.rules_ if rule[0] not in KNOWN]:
            raise DataError(
                f"{folder}: a rule on {strange[0]!r}, which this version does not have; train it again"
            )
        return model


KNOWN = {*NAMES, VOTES, "turns_before", "letters_before"}


def _best_rule(
    columns: dict[str, NDArray[np.float64]], labels: NDArray[np.bool_], weight: NDArray[np.float64]
) -> tuple[tuple[str, float, float, float] | None, float]:
    """Return the rule that reduces the weighted impurity most, and by how much."""
    best: tuple[tuple[str, float, float, float] | None, float] = (None, 0.0)
    total = weight[labels].sum()
    whole = total * (1 - total)
    smooth = PRIOR / len(labels)
    for name, column in columns.items():
        for cut_at in np.unique(np.quantile(column, CUTS)):
            above = column > cut_at
            if not above.any() or above.all():
                continue
            share = float(weight[above].sum())
            true_above = float(weight[above & labels].sum())
            true_below = total - true_above
            false_above, false_below = share - true_above, 1 - share - true_below
            left = true_above * false_above / share + true_below * false_below / (1 - share)
            if whole - left > best[1]:
                odds = (
                    float(np.log((true_above + smooth) / (false_above + smooth))),
                    float(np.log((true_below + smooth) / (false_below + smooth))),
                )
                base = float(np.log((total + smooth) / (1 - total + smooth)))
                best = (name, float(cut_at), odds[0] - base, odds[1] - base), float(whole - left)
    return best


def _votes(example: Example) -> float:
    """Return the signed logarithm of a comment's votes; 0 where the source has none."""
    score = example.meta.get("score", 0)
    number = float(score) if isinstance(score, int | float) and score == score else 0.0
    return float(np.sign(number) * np.log1p(abs(number)))
