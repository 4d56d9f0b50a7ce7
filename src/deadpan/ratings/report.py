"""Agreement of the raters in a file of judgments, and the labels aggregated from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from deadpan.errors import ConfigError
from deadpan.formats.judgments import read_answers, read_judgments
from deadpan.ratings.alternative import EPSILON, AlternativeTest, alternative_test
from deadpan.ratings.coefficients import Agreement, Metric, agreement
from deadpan.ratings.consensus import Match, dawid_skene, majority, match_majority
from deadpan.ratings.mace import mace
from deadpan.ratings.ratings import Ratings, ratings_from_judgments
from deadpan.records import Label
from deadpan.results import Result
from deadpan.stats.interval import LEVEL, interval_name
from deadpan.storage import write_manifest, write_records

if TYPE_CHECKING:
    from deadpan.page.summary import Summary

Method = Literal["majority", "dawid-skene", "mace"]

_METHODS: Mapping[str, Callable[[Ratings], list[Label]]] = {
    "majority": majority,
    "dawid-skene": lambda ratings: dawid_skene(ratings).labels,
    "mace": lambda ratings: mace(ratings).labels,
}


@dataclass(frozen=True, slots=True, repr=False)
class AgreementReport(Result):
    """The agreement on one question, each annotator against the others, and the file of labels."""

    question: str
    agreement: Agreement
    matches: Sequence[Match]
    labels: Path | None
    alternative: AlternativeTest | None = None

    def __repr__(self) -> str:
        return f"AgreementReport({self.agreement.n_items:,} items, {self.agreement.n_raters:,} raters)"

    def as_dict(self) -> dict[str, object]:
        """Return all of it, for `--json`."""
        return {
            "question": self.question,
            "items": self.agreement.n_items,
            "raters": self.agreement.n_raters,
            "agreement": self.agreement.as_dict(),
            "match_majority": {match.annotator: match.share.as_dict() for match in self.matches},
            "labels": str(self.labels) if self.labels else None,
            "alternative": self.alternative.as_dict() if self.alternative else None,
        }

    def summary(self) -> Summary:
        """Return the coefficients, and the annotators against the majority of the others."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        coefficients = self.agreement.summary()
        columns = ("annotator", f"agrees with the majority of the others, {interval_name(LEVEL)}")
        matches = Table(columns, tuple((match.annotator, match.share) for match in self.matches))
        written = (f"Labels written to {self.labels}",) if self.labels else ()
        tables, notes = [*coefficients.tables, matches], [*coefficients.notes, *written]
        if self.alternative:
            test = self.alternative.summary()
            tables, notes = [*tables, *test.tables], [*notes, *test.notes]
        return Summary(tuple(tables), tuple(notes))


def report_agreement(
    judgments: Path,
    question: str | None = None,
    metric: Metric = "nominal",
    labels: Path | None = None,
    method: Method = "majority",
    seed: int = 0,
    *,
    order: Sequence[str] | None = None,
    singles: bool = False,
    candidate: Path | None = None,
    epsilon: float = EPSILON,
) -> AgreementReport:
    """Compute the agreement on one question of a file of judgments: an export, or any table of answers.

    `order` lists the answers from low to high, for scales of words. `candidate` is a file of a model's answers
    (columns item and answer): it is tested as an alternative annotator. `singles`: see `agreement`.
    With `labels`, also aggregate the answers by `method` and write them there as Labels.
    """
    if method not in get_args(Method):
        raise ConfigError(f"unknown method {method!r}: choose from {', '.join(get_args(Method))}")
    ratings = ratings_from_judgments(read_judgments(judgments), question, order)
    found = agreement(ratings, metric, seed=seed, singles=singles)
    test = None
    if candidate is not None:
        answers = read_answers(candidate)
        test = alternative_test(ratings, answers, epsilon=epsilon, metric=metric, seed=seed)
    report = AgreementReport(ratings.question, found, match_majority(ratings), labels, test)
    if labels is not None:
        write_records(labels, _METHODS[method](ratings), Label)
        write_manifest(labels, command="agree", config={"method": method}, inputs=[judgments])
    return report
