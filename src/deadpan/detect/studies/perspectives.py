"""Prediction of each rater's answer, and of the distribution of answers, scored as in LeWiDi 2025.

An answer is a number on a scale (0 and 1, or 1 to 6). A system learns for each step of the scale whether an answer
is above it (Frank and Hall 2001); a logistic regression then adds how high each rater answers and how much the text
moves them. It is fitted to scores of texts that the system was not trained on, since those of others are too sure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadpan.arguments import check_examples, check_progress, check_whole
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, Design, divide, write_study
from deadpan.errors import DataError
from deadpan.formats.judgments import JUDGMENTS, read_judgments
from deadpan.formats.labels import EVERYDAY, read_label
from deadpan.page.results import add_summary, output_page
from deadpan.progress import Progress, silent
from deadpan.records import Example, Judgment
from deadpan.results import Result
from deadpan.splits import folds
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval, cluster_codes, interval_name
from deadpan.stats.paired import METHOD, Comparisons, mean_over_clusters, paired_difference
from deadpan.storage import OutputPage

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

ANSWERS, SCALE = "answers", "scale"
"""Names in an Example's metadata: the answer of each rater, and the ends of the scale if it is known."""
COMMON, OWN, TEXT, BOTH = "most frequent", "rater's most frequent", "text", "text and rater"
ERROR = "rater_distance"
MANHATTAN, WASSERSTEIN = "manhattan", "wasserstein"
_STEPS = 20  # most steps of a scale: one system is trained for each
_FEW = 10  # answers above a step, or below it, that can be learnt from; of fewer, their share is the prediction
_INNER = 3  # folds of the training part that give the scores which the raters are fitted to
_WHERE = (
    "answers of named raters are in csc and multipico (LeWiDi 2025), or in judgments.jsonl of a studio export (--votes)"
)


@dataclass(frozen=True, slots=True, repr=False)
class RaterStudy(Result):
    """Four ways to predict the answer of each rater, each with its mean distances (lower is better).

    `rater_distance` is the distance of the predicted from the given answer, as a share of the scale: the error
    rate where there are two answers. `manhattan` and `wasserstein` compare the distribution of an item's answers
    with the predicted one. `pairs` tests the system with raters against the others by `rater_distance`.
    """

    system: str
    scores: Mapping[str, Mapping[str, Interval]]
    pairs: Comparisons
    scale: tuple[int, int]
    raters: int
    new_raters: int
    answers: int
    design: Design
    seed: int = 0

    def __repr__(self) -> str:
        return f"RaterStudy({self.system!r}, {self.answers:,} answers of {self.raters} raters)"

    @property
    def verdict(self) -> str:
        """One sentence: whether knowing the rater helps a system that reads the text."""
        pair = next(pair for pair in self.pairs if TEXT in (pair.first, pair.second))
        gain = -(pair.difference.value or 0.0)
        if pair.better == BOTH:
            return f"Knowing the rater helps {self.system}: {gain:.3f} less distance from each answer."
        word = f"harms {self.system}" if pair.better else f"makes no significant difference to {self.system}"
        return f"Knowing the rater {word}."

    def as_dict(self) -> dict[str, object]:
        """Return every distance with its interval, and the tests."""
        return {
            "system": self.system, "scale": list(self.scale), "raters": self.raters, "new_raters": self.new_raters,
            "answers": self.answers, **self.design.as_dict(),
            "scores": {row: {name: each.as_dict() for name, each in own.items()} for row, own in self.scores.items()},
            "comparisons": [pair.as_dict() for pair in self.pairs], "verdict": self.verdict,
        }  # fmt: skip

    def summary(self) -> Summary:
        """Return a row per way to predict, then the tests."""
        from deadpan.page.numbers import PValue
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        # Of two answers, Wasserstein is half of Manhattan; LeWiDi reports the second.
        soft = MANHATTAN if self.scale[1] - self.scale[0] == 1 else WASSERSTEIN
        error = "error rate" if soft == MANHATTAN else "distance / scale"
        p = {pair.second: None if pair.p_holm is None else PValue(pair.p_holm) for pair in self.pairs}
        rows = tuple((name, own[ERROR], own[soft], p.get(name, "")) for name, own in self.scores.items())
        notes = [
            self.verdict,
            f"{self.answers:,} answers of {self.raters} raters to {len(self.design.tested):,} texts, "
            f"{self.scale[0]} to {self.scale[1]}, {self.design.describe()}. Lower is better.",
            *self.design.notes(),
        ]
        if self.new_raters:
            notes.append(f"{self.new_raters} raters have no answer in a training part: they get the text's answer.")
        test = (
            f"p: {BOTH} against each other row by {error}, paired ({METHOD}), adjusted by Holm's method. In brackets: "
            f"the {interval_name()} over threads or pairs."
        )
        table = Table(("predicted by", error, soft, "p"), rows, f"Distance from each rater's answer, {self.system}")
        return Summary((table,), (*notes, test))

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write per-rater.json, report.html and manifest.json."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        facts = (f"{self.answers:,} answers", f"{self.raters} raters", self.system, f"seed {self.seed}")
        about = OutputPage("Each rater's answer", self.verdict, facts)
        page = output_page(about)
        add_summary(page, self)
        write_study(
            out, "per-rater", self, page, command="detect soft-labels", config={"system": self.system}, seed=self.seed,
            inputs=inputs, counts={"examples": len(self.design.tested), "answers": self.answers}, about=about,
        )  # fmt: skip


def rater_answers(example: Example) -> dict[str, int]:
    """Return the answer of each rater; empty if the example has none."""
    given = example.meta.get(ANSWERS)
    return {str(r): a for r, a in given.items() if isinstance(a, int)} if isinstance(given, Mapping) else {}


def read_answers(examples: Iterable[Example], path: Path | str) -> list[Example]:
    """Return the examples with the answers in judgments.jsonl of a studio export, or of its folder."""
    path = Path(path)
    return with_answers(examples, read_judgments(path / JUDGMENTS if path.is_dir() else path))


def with_answers(examples: Iterable[Example], judgments: Iterable[Judgment]) -> list[Example]:
    """Return the examples with the answers of raters; an item's id is that of the example.

    Answers are whole numbers, or words such as sarcastic and no; others, such as "unsure", are left out. Of several
    questions, the one with the most such answers counts.
    """
    by_question: dict[str, dict[str, dict[str, int]]] = {}
    for each in judgments:
        if (value := _number(each.answer)) is not None:
            by_question.setdefault(each.question, {}).setdefault(each.item_id, {})[each.annotator] = value
    found = max(by_question.values(), key=lambda items: sum(map(len, items.values())), default={})
    rows = check_examples(examples)
    if not any(example.id in found for example in rows):
        raise DataError("no judgment is about any of the examples: their item_id must be the examples' id")
    return [replace(e, meta={**e.meta, ANSWERS: found[e.id]}) if e.id in found else e for e in rows]


def _number(answer: str) -> int | None:
    word = answer.strip()
    if word.removeprefix("-").isdecimal() and len(word) < 20:
        return int(word)
    label = read_label(word, EVERYDAY)
    return None if label is None else int(label)


def study_raters(
    examples: Sequence[Example],
    system: str = "linear",
    *,
    k: int = FOLDS,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> RaterStudy:
    """Predict each rater's answer to texts that were not trained on, with and without knowing the rater.

    Published train and test splits are used as they are, otherwise folds. The guards are those of `divide`.
    """
    check_whole(k, "the number of folds", 2)
    progress = check_progress(progress)
    rows = [example for example in check_examples(examples) if rater_answers(example)]
    if len(rows) < 2 * k:
        raise DataError(f"a study of raters needs at least {2 * k} texts with answers: got {len(rows)}; {_WHERE}")
    low, high = _scale(rows)
    middle = (low + high) / 2
    plain = [replace(e, label=float(np.mean([*rater_answers(e).values()])) > middle) for e in rows]
    design = divide(plain, k=k)
    steps = range(low + 1, high + 1)
    own_settings = {"seed": seed, **(settings or {})}
    tested, predicted, new = _Answers(design.tested), dict[str, FloatArray](), set[str]()
    for number, fold in enumerate(design.folds):
        progress(f"{system}: fold", number, len(design.folds))
        train, test = _Answers(fold.train), _Answers(fold.test)
        new |= set(test.raters) - set(train.raters)
        own = _predict(train, test, steps, lambda part: Detector(system, **own_settings).fit(part))
        for name, above in own.items():
            predicted.setdefault(name, np.zeros((len(tested.value), len(steps))))[tested.rows_of(test)] = above
    clusters = cluster_codes([e.group for e in design.tested], [e.sequence for e in design.tested])
    distances = {name: _distances(tested, above, (low, high)) for name, above in predicted.items()}
    scores = {
        name: {score: mean_over_clusters(values, clusters) for score, values in own.items()}
        for name, own in distances.items()
    }
    pairs = Comparisons.adjusted(
        paired_difference(distances[BOTH][ERROR], own[ERROR], clusters, names=(BOTH, name), metric=ERROR)
        for name, own in distances.items() if name != BOTH
    )  # fmt: skip
    raters = set(tested.raters)
    return RaterStudy(system, scores, pairs, (low, high), len(raters), len(new), len(tested.value), design, seed)


def _scale(rows: Sequence[Example]) -> tuple[int, int]:
    given = [answer for example in rows for answer in rater_answers(example).values()]
    ends = [end for example in rows for end in example.meta.get(SCALE, ())]
    low, high = min([*given, *ends]), max([*given, *ends])
    if not 1 <= high - low <= _STEPS:
        raise DataError(
            f"answers from {low} to {high}: a scale has 2 to {_STEPS + 1} values; leave out other questions"
        )
    return low, high


class _Answers:
    """The answers to some examples as columns: one row per example and rater."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples
        self.given = [rater_answers(example) for example in examples]
        self.item = np.repeat(np.arange(len(examples)), [len(own) for own in self.given])
        self.raters = [rater for own in self.given for rater in own]
        self.value = np.array([value for own in self.given for value in own.values()])

    def row_names(self) -> list[tuple[str, str]]:
        """Return the example and the rater of each row."""
        return [(self.examples[item].id, rater) for item, rater in zip(self.item.tolist(), self.raters, strict=True)]

    def rows_of(self, part: _Answers) -> IntArray:
        """Return the rows here of the answers in a part of the examples."""
        at = {key: row for row, key in enumerate(self.row_names())}
        return np.array([at[key] for key in part.row_names()])


Train = Callable[[Sequence[Example]], Detector]


def _predict(train: _Answers, test: _Answers, steps: Sequence[int], fit: Train) -> dict[str, FloatArray]:
    """Return, for each way to predict, how probable it is that an answer reaches each step: one row per answer."""
    most = Counter(train.value.tolist()).most_common(1)[0][0]
    own: dict[str, Counter[int]] = {}
    for rater, value in zip(train.raters, train.value.tolist(), strict=True):
        own.setdefault(rater, Counter())[value] += 1
    usual = np.array([own[rater].most_common(1)[0][0] if rater in own else most for rater in test.raters])
    reach = np.array(steps)
    found = {
        COMMON: np.repeat([(most >= reach).astype(float)], len(test.value), axis=0),
        OWN: (usual[:, None] >= reach).astype(float),
        TEXT: np.zeros((len(test.value), len(steps))),
        BOTH: np.zeros((len(test.value), len(steps))),
    }
    numbers = {rater: at for at, rater in enumerate(own)}
    for at, step in enumerate(steps):
        yes = train.value >= step
        if min(yes.sum(), (~yes).sum()) < _FEW:
            found[TEXT][:, at] = found[BOTH][:, at] = yes.mean()
            continue
        known, asked = _text_scores(train, test, step, fit)
        for name, raters in ((TEXT, {}), (BOTH, numbers)):
            found[name][:, at] = _logistic(_columns(train, known, raters), yes, _columns(test, asked, raters))
    return {name: np.minimum.accumulate(above, axis=1) for name, above in found.items()}


def _text_scores(train: _Answers, test: _Answers, step: int, fit: Train) -> tuple[FloatArray, FloatArray]:
    """Return the logit of each text's score: of training texts out of fold, of test texts after all training."""
    labelled = [replace(e, label=2 * sum(value >= step for value in given.values()) > len(given), split="")
                for e, given in zip(train.examples, train.given, strict=True)]  # fmt: skip

    def answers(part: Sequence[Example]) -> list[Example]:
        """Return each example once per answer, labelled as that answer; copies stay in one group."""
        return [
            replace(e, id=f"{e.id}~{rater}", label=value >= step, group=e.group or e.id, label_kind="perceived")
            for e in part for rater, value in rater_answers(e).items()
        ]  # fmt: skip

    scored: dict[str, float] = {}
    for fold in folds(labelled, _INNER, 0):
        scored |= _logits(fit(answers(fold.train)), fold.test)
    asked = _logits(fit(answers(labelled)), test.examples)
    return np.array([scored[e.id] for e in labelled]), np.array([asked[e.id] for e in test.examples])


def _logits(detector: Detector, examples: Sequence[Example]) -> dict[str, float]:
    scores = {p.example_id: 0.5 if p.score is None else min(max(p.score, 0.001), 0.999) for p in
              detector.predict(examples)}  # fmt: skip
    return {id: float(np.log(score / (1 - score))) for id, score in scores.items()}


def _columns(answers: _Answers, logits: FloatArray, raters: Mapping[str, int]) -> Any:
    """Return the text's logit, and for each known rater an intercept and a slope; an unknown one has neither."""
    from scipy.sparse import coo_matrix, csr_matrix, hstack

    text = logits[answers.item]
    if not raters:
        return csr_matrix(text[:, None])
    known = [(row, raters[rater]) for row, rater in enumerate(answers.raters) if rater in raters]
    at = np.array(known, dtype=np.int64).reshape(-1, 2).T
    shape = (len(text), len(raters))
    each = [coo_matrix((data, (at[0], at[1])), shape) for data in (np.ones(len(known)), text[at[0]])]
    return hstack([text[:, None], *each], format="csr")


def _logistic(known: Any, yes: BoolArray, asked: Any) -> FloatArray:
    from sklearn.linear_model import LogisticRegression

    found: FloatArray = LogisticRegression(max_iter=1000).fit(known, yes).predict_proba(asked)[:, 1]
    return found


def _distances(answers: _Answers, above: FloatArray, scale: tuple[int, int]) -> dict[str, FloatArray]:
    """Return the distances of each item from its answers and from their distribution."""
    low, high = scale
    n = np.bincount(answers.item, minlength=len(answers.examples))

    def mean(rows: FloatArray) -> FloatArray:
        sums = np.zeros((len(n), *rows.shape[1:]))
        np.add.at(sums, answers.item, rows)
        return sums / n.reshape(-1, *[1] * (rows.ndim - 1))

    # The median has the least expected distance; of two answers it is the more probable one.
    median = low + (above > 0.5).sum(axis=1)
    steps = np.arange(low + 1, high + 1)
    # One minus a cumulative distribution: Wasserstein's distance is the sum of their differences.
    apart = mean((answers.value[:, None] >= steps).astype(float)) - mean(above)
    ends = np.zeros((len(n), 1))
    each = np.diff(np.concatenate([ends, apart, ends], axis=1), axis=1)
    return {
        ERROR: mean(np.abs(median - answers.value) / (high - low)),
        MANHATTAN: np.abs(each).sum(axis=1),
        WASSERSTEIN: np.abs(apart).sum(axis=1),
    }
