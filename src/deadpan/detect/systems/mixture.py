"""Linear models over one set of features: of real posts and of written lines, weighed by the look of a text.

Posts and written lines are sarcastic in different words: one model of both knows neither well. The model of posts has
weights that all share, and others for each sort of post (replies in a forum, tweets): they count as far as a text
looks like one of that sort.
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
_MOST = 8_000
"""Examples of one corpus that count in full: a larger corpus has no more weight than these."""
_MOST_POSTS = 3_000
"""The same for what all posts share, so that small corpora have a say in it."""
GATE_STRENGTH = 1.0
GATE_SLOPE, GATE_SHIFT = 0.5, -0.5
"""Of the gate's log odds: softer than what it learned, and in doubt a text is a post (chosen on held-out parts)."""
GATE_READS = 2
"""Sorts of n-grams that a gate reads: tokens and runs of the response."""
GATE_ROUNDS = 40
"""Steps of the training of a gate: how sure it is of clear cases does not matter."""
_FARTHEST = 6.0
"""Log odds of an expert are clipped here."""


class Mixture(System):
    """`lines` are the sources whose texts were written for the purpose; all others are posts.

    `sorts` are the sources of each sort of post. `strength` is the inverse of regularisation of posts, `line_strength`
    of lines and `sort_strength` of the weights of a sort of post. `pairwise` is the weight of a pair of lines, one
    sarcastic and one sincere, beside that of its two lines. `keep` is the number of n-grams of each sort that are
    kept, 0 for all.
    """

    about = "linear models of posts and of written lines, weighed by the look of a text"

    def __init__(
        self,
        *,
        lines: Sequence[str] = (),
        sorts: Mapping[str, Sequence[str]] | None = None,
        strength: float = 2.0,
        line_strength: float = 4.0,
        sort_strength: float = 1.0,
        pairwise: float = 2.0,
        keep: int = 0,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if min(strength, line_strength, sort_strength) <= 0 or min(pairwise, keep) < 0:
            raise ConfigError("strength, line_strength and sort_strength are above 0; pairwise and keep not below 0")
        self.lines, self.keep, self.pairwise = list(lines), keep, pairwise
        self.sorts = {name: list(sources) for name, sources in (sorts or {}).items()}
        self.strength, self.line_strength, self.sort_strength = strength, line_strength, sort_strength

    # ------------------------------------------------------------ training

    def fit(self, examples: Sequence[Example]) -> Self:
        """Learn the experts, the weights of each sort of post and the gates; `calibrate` afterwards."""
        kept, labels = labelled(examples)
        self.progress("reading", 0, len(kept))
        features = extract(kept, self.context)
        blocks = self._blocks(features)
        sources = np.array([example.source for example in kept])
        columns = self._columns(kept, blocks, labels, sources)
        self._keep(blocks, columns)
        self.named_ = name_grams(kept, features, self.weights_["tokens"], self.weights_["tokens"].push[:, 0])
        self.scales_ = dict.fromkeys((*EXPERTS, *self.sorts), (1.0, 0.0))
        return self

    def _blocks(self, features: Features) -> Blocks:
        self.centre_, self.spread_ = features.dense.mean(axis=0), features.dense.std(axis=0) + 1e-6
        self.look_centre_, self.look_spread_ = features.look.mean(axis=0), features.look.std(axis=0) + 1e-6
        self.kinds_ = list(features.grams)
        grams = [block.valued(block.rarity()) for block in gram_blocks(features)]
        dense = even_columns(features.dense, self.centre_, self.spread_)
        look = even_columns(features.look, self.look_centre_, self.look_spread_)
        return [*grams, DenseBlock(dense), DenseBlock(look)]

    def _columns(
        self, examples: Sequence[Example], blocks: Blocks, labels: Labels, sources: NDArray[np.str_]
    ) -> dict[str, tuple[list[Array], float]]:
        """Return the weights of each block and the intercept, by column: experts, sorts of posts, their gates."""
        columns: dict[str, tuple[list[Array], float]] = {}
        weights, of_posts = corpus_weights(examples), corpus_weights(examples, _MOST_POSTS)
        written = np.isin(sources, self.lines)
        shared = np.zeros(len(labels))
        for number, name in enumerate((*EXPERTS, *self.sorts)):
            self.progress(f"learning {name}", number, 2 * len(self.sorts) + 3)
            rows = written == (name == LINES) if name in EXPERTS else ~written & np.isin(sources, self.sorts[name])
            chosen = np.flatnonzero(rows)
            if not 0 < labels[chosen].sum() < len(chosen):
                columns[name] = [np.zeros(block.width) for block in blocks], 0.0
                continue
            part = [block.rows(chosen) for block in blocks]
            if name == LINES:
                mine = [examples[int(row)] for row in chosen]
                fitted = self._fit_lines(part[:-1], mine, labels[chosen], weights[chosen])
                fitted.weights.append(np.zeros(blocks[-1].width))  # their length tells how they were written
            else:
                strength = self.strength if name == POSTS else self.sort_strength
                fitted = fit_logistic(part, labels[chosen], strength, weights=of_posts[chosen], offset=shared[chosen])
            columns[name] = fitted.weights, fitted.intercept
            if name == POSTS:  # a sort of post adds to the model of all posts
                shared[chosen] = fitted.margins(part)
        columns["gate"] = self._fit_gate(blocks, written, weights)
        posts = np.flatnonzero(~written)
        part = [block.rows(posts) for block in blocks]
        for name, own in self.sorts.items():
            columns[f"gate {name}"] = self._fit_gate(part, np.isin(sources[posts], own), weights[posts])
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
            self.weights_[kind] = self._pruned(table)
        self.dense_weights_ = np.stack([weights[-2] for weights, _ in columns.values()], axis=1)
        self.look_ = np.stack([weights[-1] for weights, _ in columns.values()], axis=1)
        self.intercepts_ = np.array([intercept for _, intercept in columns.values()])

    def _pruned(self, table: GramWeights) -> GramWeights:
        # A push counts for as much as the texts that it moves; the value is the logarithm of their rarity.
        weight = np.abs(table.push.astype(np.float64)).max(axis=1) * np.exp(-table.value.astype(np.float64) / 2)
        kept = np.sort(np.argsort(-weight, kind="stable")[: self.keep or None])
        return GramWeights(table.keys[kept], table.value[kept], table.push[kept], table.share)

    def _fit_gate(self, blocks: Blocks, inside: Labels, weights: Array) -> tuple[list[Array], float]:
        """Learn from words and the look of a text (length, case, links) whether it is of one sort or another."""
        columns = [np.zeros(block.width) for block in blocks]
        if not inside.any() or inside.all():
            return columns, 60.0 if inside.all() else -60.0  # one sort of text only
        sides = np.where(inside, weights / weights[inside].sum(), weights / weights[~inside].sum())
        seen = [*blocks[:GATE_READS], blocks[-1]]
        fitted = fit_logistic(seen, inside, GATE_STRENGTH, GATE_ROUNDS, weights=sides * len(inside) / 2)
        *columns[:GATE_READS], columns[-1] = fitted.weights
        return columns, fitted.intercept

    def calibrate(self, examples: Sequence[Example]) -> Self:
        """Scale each expert, and each sort of post, to log odds on examples that were not trained on."""
        kept, labels = labelled(examples)
        margins, _, _ = self.expert_margins(kept)
        sources = np.array([example.source for example in kept])
        written = np.isin(sources, self.lines)
        weights = corpus_weights(kept)
        for name in self.scales_:
            rows = written == (name == LINES) if name in EXPERTS else ~written & np.isin(sources, self.sorts[name])
            if 0 < labels[rows].sum() < rows.sum():
                self.scales_[name] = fit_scale(margins[rows, int(name == LINES)], labels[rows], weights[rows])
        return self

    # ------------------------------------------------------------ use

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return probabilities where half of the texts are sarcastic."""
        results: list[Prediction] = []
        for start in range(0, len(examples), BATCH):
            batch = examples[start : start + BATCH]
            results += predictions(batch, sigmoid(self._mixed(*self.expert_margins(batch))))
        return results

    def _mixed(self, margins: Array, gate: Array, sorts: Array) -> Array:
        posts, lines, *own = (np.array(scale) for scale in self.scales_.values())
        # A text that looks like no sort of post, or like two, is scaled by what they have in common.
        shares = sorts / np.maximum(sorts.sum(axis=1, keepdims=True), 1)
        scale = posts + sum((shares[:, [at]] * (each - posts) for at, each in enumerate(own)), np.zeros((1, 2)))
        odds = [np.clip(a * margin + b, -_FARTHEST, _FARTHEST)
                for (a, b), margin in ((scale.T, margins[:, 0]), (lines, margins[:, 1]))]  # fmt: skip
        mixed: Array = (1 - gate) * odds[0] + gate * odds[1]
        return mixed

    def expert_margins(self, examples: Sequence[Example]) -> tuple[Array, Array, Array]:
        """Return the margins of both experts, the weight of that of written lines, and those of each sort of post."""
        features = extract(examples, self.context)
        dense = even_columns(features.dense, self.centre_, self.spread_) @ self.dense_weights_
        look = even_columns(features.look, self.look_centre_, self.look_spread_) @ self.look_
        every = dense + look + self.intercepts_ + gram_margins(features, self.weights_)
        experts, sorts = len(EXPERTS), len(self.sorts)
        gate = sigmoid(GATE_SLOPE * every[:, experts + sorts] + GATE_SHIFT)
        likeness = sigmoid(every[:, experts + sorts + 1 :])
        every[:, 0] += (likeness * every[:, experts : experts + sorts]).sum(axis=1)
        return every[:, :experts], gate, likeness

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
