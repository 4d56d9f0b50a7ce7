"""A linear model of n-grams of tokens and characters, signals and context; calibrated and fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.systems.logistic import Array, DenseBlock, Fitted, GramBlock, fit_logistic, fit_scale
from deadpan.detect.systems.ngrams import GramWeights, Halves, gram_names
from deadpan.detect.systems.signals import SHARES, TOKENS, Features, Signals, extract
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, read_json, write_json

Weighting = Literal["contrast", "rarity"]
WEIGHTINGS: tuple[Weighting, ...] = ("rarity", "contrast")
CLEARLY = 0.005
"""Contrast fits the words of one corpus and loses on the next, so it must rank clearly better to be used."""
STRENGTHS = (0.3, 3.0)
FOLDS = 3
HELD_BACK = 10
"""With many examples, one in this many is held out for calibration."""
MANY = 15_000
"""With more examples the settings are chosen on a sample, and a part is held out for calibration."""
TRIED_ON = 8_000
BATCH = 8_192
NAMED = 200
FORMAT = 4
"""Of a saved model: since 2 an n-gram counts once per text, since 3 the lexicon has words for mishaps, since 4
responses after good and bad words are features."""
DENSE_SCALE = 0.2
DENSE_LIMIT = 4.0

Blocks = list[GramBlock | DenseBlock]
Labels = NDArray[np.bool_]
Rows = NDArray[np.int64]


class Linear(System):
    """Logistic regression. Settings that are None are chosen by cross-validation inside the training data.

    `strength` is the inverse of regularisation; `weighting` of a token n-gram is by the contrast of its two
    labels or by its rarity; `least` is the number of times an n-gram must occur. `signals` are those that
    point the same way in most corpora ("steady"), "all" or "none".
    """

    about = "n-grams of tokens and characters, signals, context; the default"

    def __init__(
        self,
        *,
        turns: int | None = 0,
        speakers: bool = False,
        seed: int = 0,
        strength: float | None = None,
        weighting: Weighting | None = None,
        least: int | None = None,
        signals: Signals = "steady",
    ) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if weighting not in (None, *WEIGHTINGS):
            raise ConfigError(f"unknown weighting {weighting!r}: choose from {', '.join(WEIGHTINGS)}")
        if strength is not None and strength <= 0:
            raise ConfigError(f"strength is a number above 0: got {strength}")
        if least is not None and least < 1:
            raise ConfigError(f"least is 1 or more: got {least}")
        if signals not in get_args(Signals):
            raise ConfigError(f"unknown signals {signals!r}: choose from {', '.join(get_args(Signals))}")
        self.strength, self.weighting, self.least, self.signals = strength, weighting, least, signals

    # ------------------------------------------------------------ training

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the settings, learn the weights, and calibrate on held-out examples."""
        kept, labels = labelled(examples)
        if len(kept) > MANY:
            self._choose_on_some(kept, labels)
        self.progress("reading", 0, len(kept))
        features = self._extract(kept)
        blocks = self._blocks(features)
        if len(kept) > MANY:
            held = _folds(kept, self.seed, HELD_BACK) == 0
            fitted, margins = self._fit_and_hold(blocks, labels, held)
            labels = labels[held]
        else:
            margins = self._choose(blocks, labels, _folds(kept, self.seed))
            fitted = self._fit(blocks, labels, *self.chosen_)
        self.scale_ = fit_scale(margins, labels)
        self._keep(fitted, blocks)
        self.named_ = name_grams(kept, features, self.weights_[TOKENS], self.weights_[TOKENS].push)
        return self

    def _choose_on_some(self, examples: Sequence[Example], labels: Labels) -> None:
        """Choose the settings on a sample of many examples."""
        tried = _by_draw(examples, self.seed, TRIED_ON)
        some = [examples[row] for row in tried]
        self._choose(self._blocks(self._extract(some)), labels[tried], _folds(some, self.seed))

    def _extract(self, examples: Sequence[Example]) -> Features:
        return extract(examples, self.context, self.signals)

    def _blocks(self, features: Features) -> Blocks:
        """Return one block per kind of n-gram, then the dense columns."""
        self.centre_, self.spread_ = features.dense.mean(axis=0), features.dense.std(axis=0) + 1e-6
        self.kinds_ = list(features.grams)
        return [
            *gram_blocks(features, self.least),
            DenseBlock(even_columns(features.dense, self.centre_, self.spread_)),
        ]

    def _fit(self, blocks: Blocks, labels: Labels, weighting: Weighting, strength: float) -> Fitted:
        valued = self._valued(blocks, blocks, labels, weighting)
        self._values = [block.value for block in valued if isinstance(block, GramBlock)]
        return fit_logistic(valued, labels, strength)

    def _valued(self, blocks: Blocks, known: Blocks, labels: Labels, weighting: Weighting) -> Blocks:
        """Return the blocks with n-gram values computed from `known` rows and their labels."""
        out: Blocks = []
        for kind, block, source in zip([*self.kinds_, ""], blocks, known, strict=True):
            if isinstance(block, GramBlock) and isinstance(source, GramBlock):
                by_label = weighting == "contrast" and kind == TOKENS
                out.append(block.valued(source.contrast(labels) if by_label else source.rarity()))
            else:
                out.append(block)
        return out

    def _choose(self, blocks: Blocks, labels: Labels, fold: Rows) -> Array:
        """Choose the settings by the AUC of out-of-fold margins, and return those margins."""
        from deadpan.stats.ranking import area_under_curve

        self.chosen_: tuple[Weighting, float]
        best: tuple[float, Array] = (-1.0, np.zeros(len(labels)))
        weightings = (self.weighting,) if self.weighting else WEIGHTINGS
        trials = [(weighting, self.strength or 1.0) for weighting in weightings]
        total = len(trials) + (0 if self.strength else len(STRENGTHS))
        done = 0
        while done < len(trials):
            self.progress("choosing settings", done, total)
            margins = self._out_of_fold(blocks, labels, fold, *trials[done])
            quality = area_under_curve(labels, margins)
            if quality > best[0] + (CLEARLY if done and done < len(weightings) else 0):
                best, self.chosen_ = (quality, margins), trials[done]
            done += 1
            if done == len(weightings) and not self.strength:
                trials += [(self.chosen_[0], strength) for strength in STRENGTHS]
        self.quality_ = best[0]
        return best[1]

    def _out_of_fold(self, blocks: Blocks, labels: Labels, fold: Rows, weighting: Weighting, strength: float) -> Array:
        """Return the margins of every row by a model not trained on its fold."""
        margins = np.zeros(len(labels))
        for number in np.unique(fold):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            if not 0 < labels[train].sum() < len(train):
                continue  # too few examples to hold some out
            seen = [block.rows(train) for block in blocks]
            fitted = fit_logistic(self._valued(seen, seen, labels[train], weighting), labels[train], strength)
            unseen = [block.rows(test) for block in blocks]
            margins[test] = fitted.margins(self._valued(unseen, seen, labels[train], weighting))
        return margins

    def _fit_and_hold(self, blocks: Blocks, labels: Labels, held: Labels) -> tuple[Fitted, Array]:
        """Train on all but the held-out rows; return the model and the margins of those rows."""
        self.progress("learning", 0, 1)
        seen, unseen = np.flatnonzero(~held), np.flatnonzero(held)
        part = [block.rows(seen) for block in blocks]
        fitted = self._fit(part, labels[seen], *self.chosen_)
        rest = [block.rows(unseen) for block in blocks]
        return fitted, fitted.margins(self._valued(rest, part, labels[seen], self.chosen_[0]))

    def _keep(self, fitted: Fitted, blocks: Blocks) -> None:
        grams = [block for block in blocks if isinstance(block, GramBlock)]
        self.weights_ = {
            kind: GramWeights(block.keys, value.astype(np.float32), (value * weight).astype(np.float32), block.share)
            for kind, block, value, weight in zip(self.kinds_, grams, self._values, fitted.weights, strict=False)
        }
        self.dense_weights_, self.intercept_ = fitted.weights[-1], fitted.intercept
        del self._values

    # ------------------------------------------------------------ use

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return calibrated probabilities."""
        results: list[Prediction] = []
        for start in range(0, len(examples), BATCH):
            batch = examples[start : start + BATCH]
            slope, shift = self.scale_
            results += predictions(batch, sigmoid(slope * self._margins(batch) + shift))
        return results

    def _margins(self, examples: Sequence[Example]) -> Array:
        features = self._extract(examples)
        dense = even_columns(features.dense, self.centre_, self.spread_) @ self.dense_weights_
        margins: Array = dense + self.intercept_ + gram_margins(features, self.weights_)
        return margins

    def top_features(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n-grams with the largest weights for sarcastic and for sincere."""
        for_it = [pair for pair in self.named_ if pair[1] > 0]
        against = [pair for pair in self.named_[::-1] if pair[1] < 0]
        return for_it[:top], against[:top]

    # ------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        """Write the arrays as one npz file, the rest as JSON."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, NDArray[Any]] = {
            "centre": self.centre_, "spread": self.spread_, "dense": self.dense_weights_
        }  # fmt: skip
        for kind, weights in self.weights_.items():
            arrays |= weights.arrays(kind)
        with atomic(folder / "weights.npz") as temporary, temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
        learned = {
            "format": FORMAT,
            "weighting": self.chosen_[0], "strength": self.chosen_[1], "ranking": self.quality_,
            "scale": self.scale_, "intercept": self.intercept_, "named": self.named_,
        }  # fmt: skip
        write_json(folder / "linear.json", {"settings": self.settings, **learned})

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "linear.json")
        try:
            if state["format"] != FORMAT:
                raise ValueError(f"format {state['format']}")
            model = cls(**state["settings"])
            model.chosen_ = state["weighting"], float(state["strength"])
            model.quality_, model.intercept_ = float(state["ranking"]), float(state["intercept"])
            model.scale_ = float(state["scale"][0]), float(state["scale"][1])
            model.named_ = [(str(name), float(push)) for name, push in state["named"]]
            with np.load(folder / "weights.npz", allow_pickle=False) as file:
                arrays = dict(file)
        except (KeyError, TypeError, ValueError, OSError) as bad:
            raise DataError(f"{folder}: not a linear model of this version ({bad}); train it again") from None
        model.centre_, model.spread_, model.dense_weights_ = (arrays[k] for k in ("centre", "spread", "dense"))
        model.weights_ = read_grams(arrays)
        model.kinds_ = list(model.weights_)
        return model


def gram_blocks(features: Features, least: int | None = None) -> list[GramBlock]:
    """Return the n-grams of each kind that occur `least` times, by default as often as the number of texts asks."""
    blocks = []
    for kind, (rows, keys) in features.grams.items():
        often = least or least_count(features.n, by_word=kind in features.cuts)
        if kind in features.cuts:
            texts = features.cuts[kind]
            words = texts.rows, texts.flat, len(texts.words)
            blocks.append(GramBlock.by_word(words, (rows, keys), often, SHARES[kind]).sized(features.n))
        else:
            blocks.append(GramBlock.of(rows, keys, features.n, often, SHARES[kind]))
    return blocks


def gram_margins(features: Features, weights: Mapping[str, GramWeights]) -> Any:
    """Return the margin that the n-grams of all kinds give to each text, in a column per model."""
    return sum(
        weights[kind].score_by_word(features.cuts[kind], rows, keys)
        if kind in features.cuts
        else weights[kind].score(rows, keys, features.n)
        for kind, (rows, keys) in features.grams.items()
    )


def read_grams(arrays: Mapping[str, NDArray[Any]]) -> dict[str, GramWeights]:
    """Return the weights of each kind of n-gram from the arrays of a saved model."""
    return {
        kind: GramWeights(
            arrays[f"{kind}_keys"].astype(np.uint64), arrays[f"{kind}_value"].astype(np.float32),
            arrays[f"{kind}_push"].astype(np.float32), share,
        )
        for kind, share in SHARES.items() if f"{kind}_keys" in arrays
    }  # fmt: skip


def even_columns(columns: Array, centre: Array, spread: Array) -> Array:
    """Return standardised columns, clipped, and small beside a row of n-grams."""
    even: Array = DENSE_SCALE * np.clip((columns - centre) / spread, -DENSE_LIMIT, DENSE_LIMIT)
    return even


def name_grams(
    examples: Sequence[Example], features: Features, known: GramWeights, push: Halves
) -> list[tuple[str, float]]:
    """Return the token n-grams with the largest pushes, each named from a text it occurs in."""
    order = np.argsort(push, kind="stable")
    chosen = np.unique(np.concatenate([order[:NAMED], order[len(order) - NAMED :] if len(order) > NAMED else order]))
    rows, keys = features.grams[TOKENS]
    place = np.searchsorted(known.keys[chosen], keys)
    place[place == len(chosen)] = 0
    hits = np.flatnonzero(known.keys[chosen][place] == keys)
    _, first = np.unique(place[hits], return_index=True)
    names: dict[int, str] = {}
    for row in np.unique(rows[hits[first]]):
        for name, key in gram_names(examples[row].response.text, 3):
            names.setdefault(int(key[0]), name)
    named = [
        (names[int(k)], float(p)) for k, p in zip(known.keys[chosen], push[chosen], strict=True) if int(k) in names
    ]
    return sorted(named, key=lambda pair: (-pair[1], pair[0]))


def least_count(n: int, by_word: bool) -> int:
    """Return how often an n-gram must occur: in many texts, rare ones only take memory."""
    return 2 if by_word else 1 if n < 50_000 else 2 if n < 150_000 else 3


def _folds(examples: Sequence[Example], seed: int, count: int = FOLDS) -> Rows:
    """Return a fold per example; none crosses a group or a sequence, and sizes are nearly equal."""
    from deadpan.stats.interval import cluster_codes

    clusters = cluster_codes([e.group for e in examples], [e.sequence for e in examples])
    first = np.unique(clusters, return_index=True)[1]
    order = sorted(range(len(first)), key=lambda cluster: draw(seed, examples[int(first[cluster])].id))
    fold_of = np.empty(len(first), dtype=np.int64)
    fold_of[order] = np.arange(len(first)) % count
    return fold_of[clusters]


def _by_draw(examples: Sequence[Example], seed: int, count: int) -> Rows:
    """Return a sample of rows by a hash of their ids, in order."""
    order = sorted(range(len(examples)), key=lambda row: draw(seed + 1, examples[row].id))
    return np.array(sorted(order[:count]), dtype=np.int64)
