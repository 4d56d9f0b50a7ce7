"""Training on votes instead of labels, and on whose label it is.

Every system learns from labels that are True or False. A text that three of five people call sarcastic is
given to it five times, three times as sarcastic: for a logistic loss that is the same as training on the
share itself. The copies share a group, so that no fold or threshold separates them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deadpan.arguments import check_examples, check_progress, check_whole
from deadpan.detect import SYSTEMS
from deadpan.detect.detector import Detector
from deadpan.detect.studies.design import FOLDS, write_study
from deadpan.detect.system import split_variant
from deadpan.errors import DataError
from deadpan.page.numbers import score
from deadpan.page.results import add_figure, add_summary, output_page
from deadpan.progress import Progress, silent
from deadpan.ratings.votes import WHERE, Perception, heard, intended, perceive
from deadpan.records import Example, LabelKind, Turn
from deadpan.results import Result
from deadpan.splits import Fold, folds
from deadpan.stats.calibration import SoftScores, cross_entropy, soft_scores
from deadpan.stats.interval import Interval, cluster_codes
from deadpan.stats.paired import paired_difference
from deadpan.stats.ranking import auc_interval
from deadpan.storage import OutputPage

if TYPE_CHECKING:
    from deadpan.page import Cell
    from deadpan.page.summary import Summary

MAJORITY, VOTES, OTHERS, AUTHOR = "majority", "votes", "both, asked of others", "both, asked of the author"
"""The labels a system was trained on, and the one of the two it was then asked for."""
Answers = dict[str, dict[str, float]]
Train = Callable[[Sequence[Example]], Detector]
COPIES = 5
"""Copies of an example per vote share, at most."""


@dataclass(frozen=True, slots=True, repr=False)
class SoftStudy(Result):
    """The same system trained on majority labels, on votes, and on votes and the author's label.

    All are scored against the votes. `gain` is how much lower the cross-entropy is after training on votes
    than on the majority, paired by item. `conditioned` is trained on the votes and on the author's label,
    told apart by a word, and asked what others would say; `intended` is the AUC of each training against the
    author's own label. They, and `perception`, need examples with both.
    """

    system: str
    hard: SoftScores
    soft: SoftScores
    gain: Interval
    conditioned: SoftScores | None = None
    intended: Mapping[str, Interval] = field(default_factory=dict)
    perception: Perception | None = None
    seed: int = 0

    def __repr__(self) -> str:
        return f"SoftStudy({self.system!r}, {self.hard.n:,} items)"

    @property
    def verdict(self) -> str:
        """One sentence on what training on votes changes."""
        low, high = self.gain.low, self.gain.high
        shown = f"cross-entropy lower by {score(self.gain)} bits than on the majority"
        if low is None or high is None or low <= 0 <= high:
            return f"Training on votes makes no significant difference ({shown})."
        return f"Training on votes is {'better' if low > 0 else 'worse'} ({shown})."

    def as_dict(self) -> dict[str, object]:
        """Return all sets of scores."""
        return {
            "system": self.system,
            "majority": self.hard.as_dict(),
            "votes": self.soft.as_dict(),
            "gain_bits": self.gain.as_dict(),
            "who_said_so": self.conditioned.as_dict() if self.conditioned else None,
            "intended_auc": {name: auc.as_dict() for name, auc in self.intended.items()},
            "perception": self.perception.as_dict() if self.perception else None,
            "verdict": self.verdict,
        }

    def summary(self) -> Summary:
        """Return the scores side by side."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        sides = [self.hard, self.soft, *([self.conditioned] if self.conditioned else [])]
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name.replace("_", " "), *(side.scores[name] for side in sides)) for name in self.hard.scores
        )
        names = (MAJORITY, VOTES, OTHERS)[: len(sides)]
        tables = [Table(("score", *names), rows, "Against the votes, trained on")]
        if self.intended:
            title = "AUC against the author's own label, trained on"
            tables.append(Table(("trained on", "AUC"), tuple(self.intended.items()), title))
        heard_tables = self.perception.summary().tables if self.perception else ()
        return Summary((*tables, *heard_tables), (self.verdict, *self.hard.summary().notes))

    def write(self, out: Path | str, *, inputs: Iterable[Path] = ()) -> None:
        """Write soft-labels.json, report.html with intended against perceived, and manifest.json."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        facts = (f"{self.hard.n:,} texts", self.system, f"seed {self.seed}")
        about = OutputPage("Intended and perceived", self.verdict, facts)
        page = output_page(about)
        if self.perception:
            add_figure(page, out, "perception", self.perception.figure)
        add_summary(page, self)
        write_study(
            out, "soft-labels", self, page, command="detect soft-labels", config={"system": self.system},
            seed=self.seed, inputs=inputs, counts={"examples": self.hard.n}, about=about,
        )  # fmt: skip


def study_soft_labels(
    examples: Sequence[Example],
    system: str = "linear",
    *,
    k: int = FOLDS,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: Progress = silent,
) -> SoftStudy:
    """Cross-validate a `system` trained on majority labels, on votes and on both; score against the votes."""
    check_whole(k, "the number of folds", 2)
    progress = check_progress(progress)
    rows = [example for example in check_examples(examples) if heard(example) is not None]
    if len(rows) < 2 * k:
        raise DataError(f"a study of votes needs at least {2 * k} examples with votes: got {len(rows)}; {WHERE}")
    plain = [replace(e, label=_share(e) > 0.5, split="") for e in rows]
    both = all(intended(example) is not None for example in rows)
    tagged = not SYSTEMS.load(split_variant(system)[0]).library  # one that adds up words, not a network
    answers: Answers = {}
    own = {"seed": seed, **(settings or {})}
    for number, fold in enumerate(folds(plain, k, seed)):
        progress(f"{system}: fold", number, k)
        _fold(fold, answers, both, tagged, lambda train: Detector(system, **own).fit(train))
    shares = np.array([_share(example) for example in rows])
    groups = [example.group or example.sequence for example in rows]
    found = {name: np.array([given[e.id] for e in rows]) for name, given in answers.items()}
    scored = {
        name: soft_scores(shares.tolist(), values.tolist(), groups, seed=seed)
        for name, values in found.items() if name != AUTHOR
    }  # fmt: skip
    clusters = cluster_codes(groups)
    by_majority, by_votes = (cross_entropy(shares, found[name]) for name in (MAJORITY, VOTES))
    less = paired_difference(by_majority, by_votes, clusters, metric="cross-entropy").difference
    meant = np.array([bool(intended(example)) for example in rows])
    aucs = {name: auc_interval(meant, values, clusters, seed=seed) for name, values in found.items()}
    some = any(intended(example) is not None for example in rows)
    return SoftStudy(
        system, scored[MAJORITY], scored[VOTES], less,
        scored.get(OTHERS), aucs if both else {}, perceive(rows, seed=seed) if some else None, seed,
    )  # fmt: skip


def _fold(
    fold: Fold, answers: Answers, both: bool, tagged: bool, train: Callable[[Sequence[Example]], Detector]
) -> None:
    """Train on one fold in each way, and add the probabilities of its test part."""
    _answer(answers, MAJORITY, train(expand_votes(fold.train, majority=True)), fold.test)
    _answer(answers, VOTES, train(expand_votes(fold.train)), fold.test)
    if both:
        told = train(both_labels(fold.train, tagged=tagged))
        _answer(answers, OTHERS, told, with_label_source(fold.test, "perceived", tagged=tagged))
        _answer(answers, AUTHOR, told, with_label_source(fold.test, "author", tagged=tagged))


def _answer(answers: Answers, name: str, detector: Detector, test: Sequence[Example]) -> None:
    mine = answers.setdefault(name, {})
    for prediction in detector.predict(test):
        value = prediction.score
        mine[prediction.example_id] = 0.5 if value is None else min(max(value, 0.0), 1.0)


def _share(example: Example) -> float:
    votes = heard(example)
    return votes.share if votes else 0.0


def expand_votes(examples: Iterable[Example], copies: int = COPIES, *, majority: bool = False) -> list[Example]:
    """Return each example once per vote, labelled as that vote; examples without votes once, as they are.

    More than `copies` votes are scaled down to that many copies. With `majority` all copies have the label
    of most votes: what training on votes is compared with, since copies alone weaken any regularization.
    """
    check_whole(copies, "the number of copies", 1)
    spread: list[Example] = []
    for example in check_examples(examples):
        votes = heard(example)
        if votes is None:
            spread.append(example)
            continue
        total = min(votes.voters, copies)
        yes = total * (votes.share > 0.5) if majority else round(votes.share * total)
        group = example.group or f"votes {example.id}"
        spread += [
            replace(example, id=f"{example.id}~{at}", label=at < yes, group=group, label_kind="perceived")
            for at in range(total)
        ]
    return spread


def both_labels(examples: Iterable[Example], copies: int = COPIES, *, tagged: bool = False) -> list[Example]:
    """Return the votes and the author's own label of each example, with equal weight, and whose they are."""
    rows: list[Example] = []
    for example in check_examples(examples):
        votes = expand_votes([example], copies)
        meant = intended(example)
        own = [] if meant is None else [
            replace(vote, id=f"{vote.id}~author", label=meant, label_kind="author") for vote in votes
        ]  # fmt: skip
        rows += [*votes, *own]
    return prefix_label_source(rows, tagged=tagged)


def with_label_source(examples: Iterable[Example], kind: LabelKind, *, tagged: bool = False) -> list[Example]:
    """Return the examples as a question: would the author ("author"), or would others ("perceived")?"""
    asked = [replace(example, label_kind=kind) for example in check_examples(examples)]
    return prefix_label_source(asked, tagged=tagged)


def prefix_label_source(examples: Iterable[Example], *, tagged: bool = False) -> list[Example]:
    """Return the examples with who gave the label as a word of the text, so that any system can use it.

    At prediction time the word asks a question: would the author, or would others, call this sarcastic? To a
    system that adds up the weights of words, one word more moves all scores alike; with `tagged`, every word
    is also given with the kind in front, so that it can weigh for the author and not for others (Daumé 2007).
    """
    return [
        replace(example, response=Turn(example.response.speaker, _said(example, tagged)))
        for example in check_examples(examples)
    ]


def _said(example: Example, tagged: bool) -> str:
    kind = example.label_kind or "unknown"
    words = [f"{kind}{word}" for word in example.response.text.split()] if tagged else []
    return " ".join([f"labelledby{kind}", example.response.text, *words])
