"""Baselines: chance, the more frequent label, rules of thumb, and SARC's word counts and word vectors."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from deadpan.detect.system import System, labelled, predictions, sigmoid
from deadpan.detect.systems.logistic import DenseBlock, Fitted, fit_logistic
from deadpan.detect.systems.ngrams import cut
from deadpan.detect.systems.signals import NAMES, text_signals, word_signals
from deadpan.draws import draw
from deadpan.errors import ConfigError, DataError, ModelError, need
from deadpan.records import Example, Prediction
from deadpan.storage import atomic, digest, read_json, write_json
from deadpan.text import sarc_tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from deadpan.vectors import Vectors

CUTS = (0.1, 0.25, 0.5, 0.75, 0.9)
RULES = 12
VOTES = "votes"
PRIOR = 2.0
STRENGTHS = tuple(10.0**power for power in range(-2, 3))
HELD_BACK = 5
"""One example in this many is held out to choose the regularisation."""
Array = NDArray[np.float64]


class Rate(System):
    """A system that knows one number: the share of sarcastic training examples."""

    name: ClassVar[str]

    def fit(self, examples: Sequence[Example]) -> Self:
        _, labels = labelled(examples)
        self.rate_ = float(labels.mean())
        return self

    def save(self, folder: Path) -> None:
        write_json(folder / f"{self.name}.json", {"settings": self.settings, "rate": self.rate_})

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / f"{cls.name}.json")
        model = cls(**state["settings"])
        model.rate_ = float(state["rate"])
        return model


class Random(Rate):
    """Label at random at the rate of the training data; a draw depends on (seed, id) alone."""

    about = "chance, at the rate of the training data"
    name = "random"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return uniform random scores, scaled so that the training rate of them exceeds 0.5."""
        draws = [int.from_bytes(draw(self.seed, example.id)[:8], "big") / 2**64 for example in examples]
        sarcastic = 1 - self.rate_
        # Scaled so that the training rate of scores exceeds the threshold of 0.5.
        scores = [0.5 * x / sarcastic if x < sarcastic else 0.5 + 0.5 * (x - sarcastic) / self.rate_ for x in draws]
        return predictions(examples, [min(score, 1.0) for score in scores])


class Majority(Rate):
    """Always the more frequent training label; on a tie, sincere. The score is the sarcastic share."""

    about = "always the more frequent label"
    name = "majority"

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the same prediction for all."""
        return predictions(examples, [self.rate_] * len(examples))


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

    def top_features(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the rules with the largest weights for sarcastic and for sincere."""
        sides = [
            pair
            for name, cut_at, above, below in self.rules_
            for pair in ((f"{name} > {cut_at:.2g}", above), (f"{name} <= {cut_at:.2g}", below))
        ]
        ranked = sorted(sides, key=lambda pair: -pair[1])
        return [p for p in ranked if p[1] > 0][:top], [p for p in ranked[::-1] if p[1] < 0][:top]

    def save(self, folder: Path) -> None:
        state = {"settings": self.settings, "intercept": self.intercept_, "rules": self.rules_}
        write_json(folder / "cues.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        state = read_json(folder / "cues.json")
        model = cls(**state["settings"])
        model.intercept_ = float(state["intercept"])
        model.rules_ = [(name, float(a), float(b), float(c)) for name, a, b, c in state["rules"]]
        if strange := [rule[0] for rule in model.rules_ if rule[0] not in KNOWN]:
            raise DataError(f"{folder}: a rule on {strange[0]!r}, which this version does not have; train it again")
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


class NGrams(System):
    """The official SARC procedure: no intercept, C from 10^-2 to 10^2 by two-fold cross-validation.

    The n-grams of earlier turns are separate features, so that a word of the context is not confused with
    one of the response; with `speakers`, so are those of earlier turns by the same speaker.
    """

    longest: ClassVar[int]

    def __init__(self, *, min_count: int = 1, turns: int | None = 0, speakers: bool = False, seed: int = 0) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        if min_count < 1:
            raise ConfigError(f"min_count is 1 or more: got {min_count}")
        self.min_count = min_count

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the vocabulary and the weights from the labelled examples."""
        kept_examples, labels = labelled(examples)
        self.progress("counting n-grams", 0, len(kept_examples))
        grams = [self._grams(example) for example in kept_examples]
        counts = Counter(gram for text in grams for gram in text)
        kept = sorted(gram for gram, count in counts.items() if count >= self.min_count)
        if not kept:
            raise DataError(f"no n-gram occurs {self.min_count} times: lower min_count or give more text")
        self.vocabulary_ = {gram: column for column, gram in enumerate(kept)}
        features = self._matrix(grams)
        self.strength_ = self._choose_strength(features, labels)
        self.weights_ = self._weights(features, labels, self.strength_)
        return self

    def _choose_strength(self, features: csr_matrix, labels: NDArray[np.bool_]) -> float:
        """Return the C with the best accuracy in two-fold cross-validation; of equal ones the smallest."""
        from sklearn.model_selection import StratifiedKFold

        if min(labels.sum(), (~labels).sum()) < 2:
            return 1.0
        right = dict.fromkeys(STRENGTHS, 0)
        done = 0
        for train, test in StratifiedKFold(2).split(features, labels):
            for strength in STRENGTHS:
                self.progress("choosing C", done, 2 * len(STRENGTHS))
                done += 1
                weights = self._weights(features[train], labels[train], strength)
                right[strength] += int(((features[test] @ weights > 0) == labels[test]).sum())
        return max(STRENGTHS, key=lambda strength: right[strength])

    def _weights(self, features: csr_matrix, labels: NDArray[np.bool_], strength: float) -> NDArray[np.float64]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        # The solver of the official code: this system is SARC's procedure, not the best one.
        model = LogisticRegression(
            C=strength,
            fit_intercept=False,
            solver="liblinear",
            dual=features.shape[0] < features.shape[1],  # as in the official code; the faster of the two
            random_state=self.seed,
        )
        with warnings.catch_warnings():
            # The largest C does not converge in the official procedure either, and is rarely chosen.
            warnings.simplefilter("ignore", ConvergenceWarning)
            weights: NDArray[np.float64] = model.fit(features, labels).coef_[0]
        return weights

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        """Return the probability of sarcasm; above 0.5 is labelled sarcastic."""
        margins = self._matrix([self._grams(example) for example in examples]) @ self.weights_
        return predictions(examples, sigmoid(margins))

    def top_features(self, top: int = 10) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n-grams with the largest weights for sarcastic and for sincere (SARC's Table 3)."""
        names = list(self.vocabulary_)
        order = np.argsort(self.weights_, kind="stable")
        ranked = [(names[i], float(self.weights_[i])) for i in order]
        return ranked[::-1][:top], ranked[:top]

    def _grams(self, example: Example) -> list[str]:
        grams = _grams_of(example.response.text, self.longest)
        for turn, own in zip(self.context.before(example), self.context.own(example), strict=True):
            where = "own before" if own else "before"
            grams += [f"{where}: {gram}" for gram in _grams_of(turn.text, self.longest)]
        return grams

    def _matrix(self, texts: Iterable[list[str]]) -> csr_matrix:
        csr_matrix = need("scipy.sparse", "train").csr_matrix

        columns: list[int] = []
        values: list[int] = []
        ends = [0]
        for grams in texts:
            counts = Counter(self.vocabulary_[gram] for gram in grams if gram in self.vocabulary_)
            columns += counts.keys()
            values += counts.values()
            ends.append(len(columns))
        shape = (len(ends) - 1, len(self.vocabulary_))
        return csr_matrix((np.array(values, float), np.array(columns, int), np.array(ends)), shape=shape)

    def save(self, folder: Path) -> None:
        """Write the vocabulary and settings as JSON, the weights as a plain array."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "weights.npy") as temporary, temporary.open("wb") as file:
            np.save(file, self.weights_, allow_pickle=False)
        write_json(
            folder / "ngrams.json",
            {
                "longest": self.longest,
                "settings": self.settings,
                "strength": self.strength_,
                "vocabulary": list(self.vocabulary_),
            },
        )

    @classmethod
    def load(cls, folder: Path) -> Self:
        state: dict[str, Any] = read_json(folder / "ngrams.json")
        if state.get("longest") != cls.longest:
            raise DataError(f"{folder}: holds {state.get('longest')}-grams, not {cls.longest}-grams")
        model = cls(**state["settings"])
        model.strength_ = state["strength"]
        model.vocabulary_ = {gram: column for column, gram in enumerate(state["vocabulary"])}
        model.weights_ = np.load(folder / "weights.npy", allow_pickle=False)
        if len(model.weights_) != len(model.vocabulary_):
            raise DataError(f"{folder}: weights and vocabulary differ in length; train it again")
        return model


def _grams_of(text: str, longest: int) -> list[str]:
    tokens = sarc_tokens(text)
    return tokens + [f"{a} {b}" for a, b in pairwise(tokens)] if longest == 2 else tokens


class BagOfWords(NGrams):
    """Counts of words."""

    about = "SARC: counts of words"
    longest = 1


class BagOfBigrams(NGrams):
    """Counts of words and of pairs of neighbouring words."""

    about = "SARC: counts of words and bigrams"
    longest = 2


class EmbeddingSystem(System):
    """Summed vectors of the response, concatenated with those of the turns before it.

    `vectors` is a GloVe or word2vec text file; empty for the embedded ones (`deadpan models pull
    wordllama-256`). The file is not copied into the model: its hash is saved and checked.
    """

    about = "SARC: summed word vectors"

    def __init__(self, *, vectors: str = "", turns: int | None = 0, speakers: bool = False, seed: int = 0) -> None:
        super().__init__(turns=turns, speakers=speakers, seed=seed)
        self.vectors = vectors

    @cached_property
    def _table(self) -> Vectors:
        from deadpan.vectors import Vectors

        return Vectors.read(Path(self.vectors)) if self.vectors else Vectors.embedded()

    def fit(self, examples: Sequence[Example]) -> Self:
        """Choose the strength on held-out examples, then train on all."""
        kept, labels = labelled(examples)
        self.progress("summing vectors", 0, len(kept))
        columns = self._columns(kept)
        self.centre_, self.spread_ = columns.mean(axis=0), columns.std(axis=0) + 1e-6
        block = DenseBlock(self._scaled(columns))
        held = np.array([draw(self.seed, e.group or e.sequence or e.id)[0] % HELD_BACK == 0 for e in kept])
        self.strength_ = self._choose(block, labels, held)
        self.model_ = fit_logistic([block], labels, self.strength_)
        return self

    def _choose(self, block: DenseBlock, labels: NDArray[np.bool_], held: NDArray[np.bool_]) -> float:
        from deadpan.stats.ranking import area_under_curve

        train, test = np.flatnonzero(~held), np.flatnonzero(held)
        if any(not 0 < labels[part].sum() < len(part) for part in (train, test)):
            return 1.0
        best = (-1.0, 1.0)
        for done, strength in enumerate(STRENGTHS):
            self.progress("choosing C", done, len(STRENGTHS))
            fitted = fit_logistic([block.rows(train)], labels[train], strength)
            best = max(best, (area_under_curve(labels[test], fitted.margins([block.rows(test)])), strength))
        return best[1]

    def predict(self, examples: Sequence[Example]) -> list[Prediction]:
        block = DenseBlock(self._scaled(self._columns(examples)))
        return predictions(examples, sigmoid(self.model_.margins([block])) if len(examples) else [])

    def _columns(self, examples: Sequence[Example]) -> Array:
        texts = [[example.response.text for example in examples]]
        if self.context.turns != 0:
            texts.append([self.context.texts(example)[0] for example in examples])
        sums = [self._table.sentences(each, pool="sum", normalise=False) for each in texts]
        return np.hstack(sums).astype(np.float64)

    def _scaled(self, columns: Array) -> Array:
        # A text of a megabyte has sums a thousand times longer than any in training.
        even: Array = np.clip((columns - self.centre_) / self.spread_, -10, 10) / np.sqrt(len(self.centre_))
        return even

    def save(self, folder: Path) -> None:
        """Write the weights as arrays, and the hash of the vectors they belong to."""
        folder.mkdir(parents=True, exist_ok=True)
        with atomic(folder / "embedding.npz") as temporary, temporary.open("wb") as file:
            np.savez(file, centre=self.centre_, spread=self.spread_, weights=self.model_.weights[0])
        state = {
            "settings": self.settings, "strength": self.strength_, "intercept": self.model_.intercept,
            "sha256": digest(Path(self.vectors)) if self.vectors else "",
        }  # fmt: skip
        write_json(folder / "embedding.json", state)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote, if the vectors are unchanged."""
        state = read_json(folder / "embedding.json")
        model = cls(**state["settings"])
        if model.vectors:
            path = Path(model.vectors)
            if not path.is_file():
                raise DataError(f"{path}: no such file; the model in {folder} needs these word vectors")
            if digest(path) != state["sha256"]:
                raise ModelError(f"{path}: not the word vectors the model in {folder} was trained with")
        model.strength_ = float(state["strength"])
        with np.load(folder / "embedding.npz", allow_pickle=False) as file:
            model.centre_, model.spread_ = file["centre"], file["spread"]
            model.model_ = Fitted([file["weights"]], float(state["intercept"]))
        return model
