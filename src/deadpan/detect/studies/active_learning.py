"""Replay of labelling on a corpus with known labels: how many are needed, in which order.

A detector is trained on labels as they would come in: in random order, or in the order of
`deadpan.ordering`, with its control stratum and recomputed after every round.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadpan.arguments import check_examples, check_seed, check_whole
from deadpan.detect.studies.design import write_study
from deadpan.draws import draw
from deadpan.errors import DataError
from deadpan.ordering import informative_order
from deadpan.page import Table
from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.page.summary import Summary
from deadpan.probes import clusters_of, fold_numbers, word_matrix
from deadpan.progress import Progress, silent
from deadpan.records import Example
from deadpan.results import Result
from deadpan.stats.interval import BoolArray, FloatArray, IntArray, Interval
from deadpan.stats.paired import t_quantile
from deadpan.stats.scores import confusion, macro_f1
from deadpan.storage import OutputPage

if TYPE_CHECKING:
    from deadpan.figures import Figure

START, ROUND, REPEATS = 100, 100, 10
"""Labels before the first round, per round, and replays with other draws."""
Curve = list[float]


@dataclass(frozen=True, slots=True, repr=False)
class ActiveLearningReplay(Result):
    """Macro F1 by number of labels in both orders, and how many labels each needs for the same F1.

    The goal is the F1 that random order reaches in the end, on average. `needed` and `needed_random` are the
    labels at which each order first reaches it: both, since a curve that wavers reaches it early by chance
    too. `saved` is the difference as a share, below 0 if the informative order needs more; intervals are
    over replays. `prevalence` is the share sarcastic among
    the labels so far: of all, of the control stratum, and the truth.
    """

    sizes: tuple[int, ...]
    random: tuple[Interval, ...]
    informative: tuple[Interval, ...]
    needed: Interval
    needed_random: Interval
    saved: Interval
    prevalence: dict[str, Interval]
    truth: float
    seed: int = 0

    def __repr__(self) -> str:
        return f"ActiveLearningReplay({self.sizes[-1]:,} labels, saved {self.saved})"

    def as_dict(self) -> dict[str, object]:
        """Return the curves and what was saved."""
        return {
            "sizes": list(self.sizes),
            "random": [one.as_dict() for one in self.random],
            "informative": [one.as_dict() for one in self.informative],
            "needed": self.needed.as_dict(),
            "needed_random": self.needed_random.as_dict(),
            "saved": self.saved.as_dict(),
            "prevalence": {name: share.as_dict() for name, share in self.prevalence.items()},
            "true_prevalence": self.truth,
            "verdict": self.verdict,
            "seed": self.seed,
        }

    def summary(self) -> Summary:
        """Return the curves, the saving and the prevalence of both strata."""
        rows = tuple(zip(self.sizes, self.random, self.informative, strict=True))
        shares = tuple((name, share) for name, share in self.prevalence.items())
        return Summary(
            (
                Table(("labels", "random order", "informative order"), rows, "Macro F1 on held-out examples"),
                Table(("labels", "share sarcastic"), (*shares, ("truth", self.truth))),
            ),
            (self.verdict,),
        )

    @property
    def verdict(self) -> str:
        """One sentence on what the order saves."""
        low, high = self.saved.low or 0.0, self.saved.high or 0.0
        share = 100 * (self.saved.value or 0.0)
        bounds = f"{100 * low:.0f} to {100 * high:.0f} %"
        said = (
            f"To reach the final F1 of random order, random order needs {self.needed_random.value:,.0f} "
            f"labels and informative order {self.needed.value:,.0f}"
        )
        if low <= 0 <= high:
            return f"{said}: no saving is shown ({share:.0f} %, {bounds})."
        return f"{said}: {abs(share):.0f} % {'fewer' if share > 0 else 'more'} ({bounds})."

    def figure(self) -> Figure:
        """Draw both curves with their intervals."""
        from deadpan.figures.plots import lines

        series = {
            name: [(float(x), y) for x, y in zip(self.sizes, curve, strict=True)]
            for name, curve in (("informative", self.informative), ("random", self.random))
        }
        return lines(self.verdict, series, x_unit="labels", y_unit="macro F1")

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write active-learning.json, report.html with the figure, and manifest.json."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        facts = (f"{self.sizes[-1]:,} labels", f"seed {self.seed}")
        about = OutputPage("Labelling less", self.verdict, facts)
        page = output_page(about)
        add_figure(page, out, "active-learning", self.figure)
        add_summary(page, self)
        write_study(
            out, "active-learning", self, page, command="detect active-learning",
            config={"labels": self.sizes[-1]}, seed=self.seed, inputs=inputs, about=about,
        )  # fmt: skip


def replay_active_learning(
    examples: Sequence[Example],
    *,
    labels: int = 1_000,
    repeats: int = REPEATS,
    seed: int = 0,
    progress: Progress = silent,
) -> ActiveLearningReplay:
    """Replay labelling in random and in informative order on examples with known labels.

    In every replay a third of the clusters is held out for scores; the rest is the pool, of which `labels`
    are labelled in rounds. Both orders start with the same random labels.
    """
    check_seed(seed)
    check_whole(repeats, "the number of replays", 2)
    rows = [example for example in check_examples(examples) if example.label is not None]
    truth = np.array([bool(example.label) for example in rows])
    if len(rows) < 3 * START or truth.all() or not truth.any():
        raise DataError(f"a replay needs {3 * START} labelled examples of both labels: got {len(rows)}")
    matrix = word_matrix([example.response.text for example in rows])
    clusters = clusters_of(rows)
    curves: dict[str, list[Curve]] = {"random": [], "informative": []}
    shares: dict[str, list[float]] = {"all": [], "control": []}
    for number in range(repeats):
        progress("replays", number, repeats)
        test = fold_numbers(clusters, seed + number, 3) == 0
        pool = np.flatnonzero(~test)
        total = min(labels, len(pool) - ROUND)
        chance = pool[np.argsort([draw(seed + number, rows[at].id) for at in pool])]
        curves["random"].append(_curve(matrix, truth, test, chance, total))
        order, control = _informative(rows, matrix, truth, chance, total, seed + number)
        curves["informative"].append(_curve(matrix, truth, test, order, total))
        shares["all"].append(float(truth[order[:total]].mean()))
        shares["control"].append(float(truth[control].mean()))
    sizes = tuple(range(START, total + 1, ROUND))
    goal = float(np.mean([curve[-1] for curve in curves["random"]]))
    needed = {order: np.array([_needed(curve, goal, sizes) for curve in found])
              for order, found in curves.items()}  # fmt: skip
    saved = (needed["random"] - needed["informative"]) / needed["random"].mean()
    return ActiveLearningReplay(
        sizes,
        tuple(_over([curve[at] for curve in curves["random"]]) for at in range(len(sizes))),
        tuple(_over([curve[at] for curve in curves["informative"]]) for at in range(len(sizes))),
        _over(needed["informative"]),
        _over(needed["random"]),
        _over(saved),
        {"all, informative order": _over(shares["all"]), "control stratum": _over(shares["control"])},
        float(truth.mean()),
        seed,
    )


def _model(matrix: Any, truth: BoolArray, rows: IntArray) -> Any:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=4.0, solver="liblinear", class_weight="balanced", tol=1e-3, dual=True)
    return model.fit(matrix[rows], truth[rows]) if len(set(truth[rows].tolist())) == 2 else None


def _curve(matrix: Any, truth: BoolArray, test: BoolArray, order: IntArray, total: int) -> Curve:
    """Return macro F1 on the test rows after each round."""
    curve = []
    for size in range(START, total + 1, ROUND):
        model = _model(matrix, truth, order[:size])
        answers = model.predict(matrix[np.flatnonzero(test)]) if model is not None else np.ones(int(test.sum()))
        table = confusion(truth[test].tolist(), [bool(answer) for answer in answers])
        curve.append(float(macro_f1(table)))
    return curve


def _informative(
    rows: Sequence[Example], matrix: Any, truth: BoolArray, chance: IntArray, total: int, seed: int
) -> tuple[IntArray, IntArray]:
    """Return the pool in informative order, recomputed after every round, and the control rows."""
    done: list[int] = chance[:START].tolist()
    control: list[int] = list(done)
    left = chance[START:].tolist()
    while len(done) < total:
        model = _model(matrix, truth, np.array(done))
        scores = model.predict_proba(matrix[left])[:, 1] if model is not None else np.full(len(left), 0.5)
        texts = [rows[at].response.text for at in left]
        ordering = informative_order([str(at) for at in left], texts, scores.tolist(), seed=seed, first=ROUND)
        batch = [int(name) for name in ordering.ids[:ROUND]]
        control += [at for at in batch if str(at) in set(ordering.control)]
        done += batch
        gone = set(batch)
        left = [at for at in left if at not in gone]
    return np.array(done + left), np.array(control)


def _needed(curve: Curve, goal: float, sizes: Sequence[int]) -> float:
    """Return the labels at which a curve first reaches the goal, interpolated."""
    for at, value in enumerate(curve):
        if value >= goal:
            if at == 0 or value == curve[at - 1]:
                return float(sizes[at])
            part = (goal - curve[at - 1]) / (value - curve[at - 1])
            return sizes[at - 1] + part * (sizes[at] - sizes[at - 1])
    return float(sizes[-1] + ROUND)


def _over(values: Sequence[float] | FloatArray) -> Interval:
    """Return the mean over replays with a t interval."""
    found = np.array(values)
    mean = float(found.mean())
    half = t_quantile(0.975, len(found) - 1) * float(found.std(ddof=1)) / len(found) ** 0.5
    return Interval(mean, mean - half, mean + half, 0.95, len(found))
