"""The scores of several systems on the same examples, and their paired comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deadpan.arguments import check_mapping
from deadpan.errors import ConfigError
from deadpan.records import Example, Prediction
from deadpan.results import Result
from deadpan.stats.bootstrap import RESAMPLES
from deadpan.stats.comparison import Comparisons, compare_predictions
from deadpan.stats.constant import CONSTANT, NOTE, constant_scores
from deadpan.stats.interval import LEVEL, interval_name
from deadpan.stats.outcomes import score_named
from deadpan.stats.table import ScoreTable, score_predictions

if TYPE_CHECKING:
    from deadpan.page.summary import Summary


@dataclass(frozen=True, slots=True, repr=False)
class SystemScores(Result):
    """A ScoreTable per system, the comparisons of all pairs, and the scores of a constant answer."""

    tables: Mapping[str, ScoreTable]
    comparisons: Comparisons
    constant: Mapping[str, float]

    def __repr__(self) -> str:
        return f"SystemScores({len(self.tables)} systems, {len(self.comparisons)} comparisons)"

    def as_dict(self) -> dict[str, object]:
        """Return scores and comparisons, for `--json`."""
        return {
            "systems": {name: table.as_dict() for name, table in self.tables.items()},
            "constant_answer": dict(self.constant),
            **self.comparisons.as_dict(),
        }

    def summary(self) -> Summary:
        """Return the scores with one column per system, then the comparisons."""
        from deadpan.page.summary import Summary
        from deadpan.page.table import Table

        names = list(dict.fromkeys(name for table in self.tables.values() for name in table.scores))
        rows = tuple(
            (name, *(table.scores.get(name) for table in self.tables.values()), self.constant.get(name))
            for name in names
        )
        notes = [f"{name}: {table.counts()}" for name, table in self.tables.items()]
        levels = {score.level for table in self.tables.values() for score in table.scores.values()}
        notes += [f"In brackets: the {interval_name(level)}." for level in levels]
        tables = [Table(("score", *self.tables, CONSTANT), rows)]
        notes.append(f"{NOTE}.")
        if self.comparisons:
            compared = self.comparisons.summary()
            tables += compared.tables
            notes += compared.notes
        return Summary(tuple(tables), tuple(notes))


def score_systems(
    examples: Sequence[Example],
    systems: Mapping[str, Sequence[Prediction]],
    metric: str = "macro_f1",
    seed: int = 0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> SystemScores:
    """Score the predictions of each system, and compare all pairs of systems by `metric`."""
    check_mapping(systems, "systems", "pass {name: predictions}")
    score_named(metric)
    if not systems:
        raise ConfigError("there are no systems to score: pass {name: predictions}")
    tables = {
        name: score_predictions(examples, predictions, seed, level, resamples)
        for name, predictions in systems.items()
    }
    constant = constant_scores(examples)
    if len(systems) == 1:
        return SystemScores(tables, Comparisons(()), constant)
    comparisons = compare_predictions(examples, systems, metric, seed, level, resamples)
    return SystemScores(tables, comparisons, constant)
