"""Linear models over one set of features: of real posts and of written lines, weighed by the look of a text.

Posts and written lines are sarcastic in different words: one model of both knows neither well. The model of posts has
weights that all share and others for each kind of label (who says that a text is sarcastic: its author by a marker,
its author when asked, readers, or whoever wrote it): a text of unknown origin is judged by the shared ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.systems.linear import (
    BATCH,
    FORMAT,
    Blocks,
    Labels,
    even_columns,
    gram_blocks,
    gram_margins,
    name_grams,
    read_grams,
)
from deadpan.detect.systems.logistic import Array, Block, DenseBlock, Fitted, GramBlock, fit_logistic, fit_scale
from deadpan.detect.systems.ngrams import GramWeights
from deadpan.detect.systems.signals import Features, extract
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json

POSTS, LINES = "posts", "lines"
EXPERTS = (POSTS, LINES)
_KINDS = ("marker", "author", "perceived", "generated")
"""Values of `label_kind` that have weights of their own."""
GATE = "gate"
_COLUMNS = (*EXPERTS, *_KINDS, GATE)
_MOST = 8_000
"""Examples of one corpus that count in full: a larger corpus has no more weight than these."""
GATE_STRENGTH = 1.0
GATE_SLOPE, GATE_SHIFT = 0.5, -0.5
"""Of the gate's log odds: softer than what it learned, and in doubt a text is a post (chosen on held-out parts)."""
GATE_READS = 2
"""Sorts of n-grams that the gate reads: tokens and runs of the response."""
_FARTHEST = 6.0
"""Log odds of an expert are clipped here."""


class Mixture(System):
    """`lines` are the sources whose texts were written for the purpose; all others are posts.

    `strength` is the inverse of regularisation of posts, `line_strength` of lines and `kind_strength` of the weights
    of each kind of label. `pairwise` is the weight of a pair of lines, one sarcastic and one sincere, beside that of
    its two lines. `keep` is the number of n-grams of each sort that are kept, 0 for all.
    """

    about = "linear models of posts and of written lines, weighed by the look of a text"

    def __init__(
        self,
        *,
        lines: Sequence[str] = (),
        strength: float = 1.0,
        line_strength: float = 4.0,
        kind_strength: float = 0.1,
        pairwise: float = 2.0,
        keep: int = 0,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if min(strength, line_strength) <= 0 or min(kind_strength, pairwise, keep) < 0:
            raise ConfigError("strength and line_strength are above 0; kind_strength, pairwise and keep not below 0")
        self.lines, self.keep, self.pairwise = list(lines), keep, pairwise
        self.strength, self.line_strength, self.kind_strength = strength, line_strength, kind_strength

    # ------------------------------------------------------------ training

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn the experts, the weights of each kind of label and the gate; `calibrate` afterwards."""
        kept, labels = labelled(examples)
        self.progress("reading", 0, len(kept))
        features = extract(kept, self.context)
        blocks = self._blocks(features)
        written = np.array([example.source in self.lines for example in kept])
        weights = corpus_weights(kept)
        columns = self._columns(kept, blocks, labels, weights, written)
        columns[GATE] = self._fit_gate(blocks, features.look, written, weights)
        self._keep(blocks, columns)
        self.named_ = name_grams(kept, features, self.weights_["tokens"], self.weights_["tokens"].push[:, 0])
        self.scales_ = dict.fromkeys(EXPERTS, (1.0, 0.0))
        return self

    def _blocks(self, features: Features) -> Blocks:
        self.centre_, self.spread_ = features.dense.mean(axis=0), features.dense.std(axis=0) + 1e-6
        self.kinds_ = list(features.grams)
        grams = [block.valued(block.rarity()) for block in gram_blocks(features)]
        return [*grams, DenseBlock(even_columns(features.dense, self.centre_, self.spread_))]

    def _columns(
        self, examples: Sequence[Example], blocks: Blocks, labels: Labels, weights: Array, written: Labels
    ) -> dict[str, tuple[list[Array], float]]:
        """Return the weights of each block and the intercept, by column."""
        columns: dict[str, tuple[list[Array], float]] = {}
        kinds = np.array([example.label_kind for example in examples])
        shared = np.zeros(len(labels))
        for number, name in enumerate((*EXPERTS, *_KINDS)):
            self.progress(f"learning {name}", number, len(_COLUMNS))
            rows = written == (name == LINES) if name in EXPERTS else ~written & (kinds == name)
            chosen = np.flatnonzero(rows)
            if not 0 < labels[chosen].sum() < len(chosen) or (name in _KINDS and not self.kind_strength):
                columns[name] = [np.zeros(block.width) for block in blocks], 0.0
                continue
            part = [block.rows(chosen) for block in blocks]
            if name == LINES:
                fitted = self._fit_lines(part, [examples[int(row)] for row in chosen], labels[chosen], weights[chosen])
            else:
                strength = self.strength if name == POSTS else self.kind_strength
                fitted = fit_logistic(part, labels[chosen], strength, weights=weights[chosen], offset=shared[chosen])
            columns[name] = fitted.weights, fitted.intercept
            if name == POSTS:  # a kind of label adds to the model of all posts
                shared[chosen] = fitted.margins(part)
        return columns

    def _fit_lines(self, blocks: Blocks, examples: Sequence[Example], labels: Labels, weights: Array) -> Fitted:
        """Fit rows and the differences of pairs together: the same words may stand in both texts of a pair."""
        sides: dict[str, tuple[list[int], list[int]]] = {}
        for row, example in enumerate(examples):
            if example.sequence:
                sides.setdefault(example.sequence, ([], []))[int(labels[row])].append(row)
        pairs = np.array([(a, b) for sincere, sarcastic in sides.values() for a in sarcastic for b in sincere])
        if not self.pairwise or not len(pairs):
            return fit_logistic(blocks, labels, self.line_strength, weights=weights)
        # Each difference both ways, so that the intercept has no part in it.
        truth = np.concatenate([labels, np.ones(len(pairs), bool), np.zeros(len(pairs), bool)])
        costs = np.concatenate([weights, np.full(2 * len(pairs), self.pairwise / 2)])
        paired = [PairedBlock(block, pairs[:, 0], pairs[:, 1], len(labels)) for block in blocks]
        return fit_logistic(paired, truth, self.line_strength, weights=costs)

    def _keep(self, blocks: Blocks, columns: Mapping[str, tuple[list[Array], float]]) -> None:
        self.weights_ = {}
        tables = [block for block in blocks if isinstance(block, GramBlock)]
        for place, (kind, block) in enumerate(zip(self.kinds_, tables, strict=True)):
            push = np.stack([block.value * weights[place] for weights, _ in columns.values()], axis=1)
            table = GramWeights(block.keys, block.value.astype(np.float16), push.astype(np.float16), block.share)
            self.weights_[kind] = table.pruned(self.keep) if self.keep else table
        self.dense_weights_ = np.stack([weights[-1] for weights, _ in columns.values()], axis=1)
        self.intercepts_ = np.array([intercept for _, intercept in columns.values()])

    def _fit_gate(self, blocks: Blocks, look: Array, written: Labels, weights: Array) -> tuple[list[Array], float]:
        """Learn from words and the look of a text (length, case, links) whether it is a post or a written line."""
        self.look_centre_, self.look_spread_ = look.mean(axis=0), look.std(axis=0) + 1e-6
        self.look_ = np.zeros(look.shape[1])
        columns = [np.zeros(block.width) for block in blocks]
        if not written.any() or written.all():
            return columns, 60.0 if written.all() else -60.0  # one sort of text only
        sides = np.where(written, weights / weights[written].sum(), weights / weights[~written].sum())
        seen = [*blocks[:GATE_READS], DenseBlock(even_columns(look, self.look_centre_, self.look_spread_))]
        fitted = fit_logistic(seen, written, GATE_STRENGTH, weights=sides * len(written) / 2)
        *columns[:GATE_READS], self.look_ = fitted.weights
        return columns, fitted.intercept

    def calibrate(self, examples: Sequence[Example]) -> Self:
        """Scale each expert to log odds on examples of its own that were not trained on."""
        kept, labels = labelled(examples)
        margins, _ = self.expert_margins(kept)
        written = np.array([example.source in self.lines for example in kept])
        weights = corpus_weights(kept)
        for column, expert in enumerate(EXPERTS):
            rows = written == (expert == LINES)
            if 0 < labels[rows].sum() < rows.sum():
                self.scales_[expert] = fit_scale(margins[rows, column], labels[rows], weights[rows])
        return self

    # ------------------------------------------------------------ use

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return probabilities where half of the texts are sarcastic."""
        results: list[Prediction] = []
        for start in range(0, len(examples), BATCH):
            batch = examples[start : start + BATCH]
            margins, gate = self.expert_margins(batch)
            results += predictions(batch, sigmoid(self._mixed(margins, gate)))
        return results

    def _mixed(self, margins: Array, gate: Array) -> Array:
        odds = [np.clip(a * margins[:, column] + b, -_FARTHEST, _FARTHEST)
                for column, (a, b) in enumerate(self.scales_[expert] for expert in EXPERTS)]  # fmt: skip
        mixed: Array = (1 - gate) * odds[0] + gate * odds[1]
        return mixed

    def expert_margins(self, examples: Sequence[Example]) -> tuple[Array, Array]:
        """Return the margins of both experts, and the weight of that of written lines."""
        features = extract(examples, self.context)
        dense = even_columns(features.dense, self.centre_, self.spread_) @ self.dense_weights_
        every = dense + self.intercepts_ + gram_margins(features, self.weights_)
        place = {kind: len(EXPERTS) + number for number, kind in enumerate(_KINDS)}
        own = np.array([place.get(example.label_kind, -1) for example in examples], dtype=np.int64)
        known = np.flatnonzero(own >= 0)
        every[known, 0] += every[known, own[known]]
        even = even_columns(features.look, self.look_centre_, self.look_spread_)
        gate = GATE_SLOPE * (every[:, -1] + even @ self.look_) + GATE_SHIFT
        return every[:, : len(EXPERTS)], sigmoid(gate)

    def top_features(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n-grams with the largest weights for sarcastic and for sincere posts."""
        for_it = [pair for pair in self.named_ if pair[1] > 0]
        against = [pair for pair in self.named_[::-1] if pair[1] < 0]
        return for_it[:top], against[:top]

    # ------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        """Write the arrays as one npz file, the rest as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, NDArray[Any]] = {name: getattr(self, f"{name}_") for name in ARRAYS}
        for kind, weights in self.weights_.items():
            arrays |= weights.arrays(kind)
        with atomic(folder / "weights.npz") as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        state = {"format": FORMAT, "settings": self.settings, "scales": self.scales_, "named": self.named_}
        write_json(folder / "mixture.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "mixture.json")
        try:
            if state["format"] != FORMAT:
                raise ValueError(f"format {state['format']}")
            model = cls(**state["settings"])
            model.scales_ = {expert: (float(a), float(b)) for expert, (a, b) in state["scales"].items()}
            model.named_ = [(str(name), float(push)) for name, push in state["named"]]
            with np.load(folder / "weights.npz", allow_pickle=False) as file:
                arrays = dict(file)
            for name in ARRAYS:
                setattr(model, f"{name}_", arrays[name])
        except (KeyError, TypeError, ValueError, OSError) as bad:
            raise DataError(f"{folder}: not a mixture of this version ({bad}); train it again") from None
        model.weights_ = read_grams(arrays)
        model.kinds_ = list(model.weights_)
        return model


ARRAYS = ("centre", "spread", "dense_weights", "intercepts", "look_centre", "look_spread", "look")
"""Arrays of a saved mixture besides those of its n-grams."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedBlock:
    """A block, and below its rows the differences of pairs of them, both ways."""

    block: Block
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    n: int

    @property
    def width(self) -> int:
        return self.block.width

    def forward(self, weights: Array) -> Array:
        """Return the margins of rows and of differences."""
        rows = self.block.forward(weights)
        apart = rows[self.first] - rows[self.second]
        return np.concatenate([rows, apart, -apart])

    def backward(self, slopes: Array) -> Array:
        there, back = np.split(slopes[self.n :], 2)
        of_pairs = [np.bincount(rows, weights=there - back, minlength=self.n) for rows in (self.first, self.second)]
        return self.block.backward(slopes[: self.n] + of_pairs[0] - of_pairs[1])


def corpus_weights(examples: Sequence[Example], most: int = _MOST) -> Array:
    """Return weights under which both labels of a corpus count equally, and a large corpus as one of `most`."""
    names = [(example.source.removesuffix("-c"), example.language) for example in examples]
    sizes = Counter(names)
    sides = Counter(zip(names, (bool(example.label) for example in examples), strict=True))
    return np.array(
        [
            min(1.0, most / sizes[name]) * 0.5 * sizes[name] / sides[name, bool(example.label)]
            for name, example in zip(names, examples, strict=True)
        ]
    )
