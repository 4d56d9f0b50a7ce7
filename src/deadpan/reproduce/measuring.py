"""Measurements that papers share: sizes of corpora, and answers of people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from deadpan.formats.judgments import Export, Submission, read_export
from deadpan.formats.study import read_study
from deadpan.ratings import Ratings, cohen_kappa, fleiss_kappa, majority, ratings_from_judgments
from deadpan.records import Example, Prediction
from deadpan.reproduce.published import Measured, MissingPeople, read_paper, same_count
from deadpan.reproduce.trials import Job, TrialRunner, cells_of
from deadpan.stats import Interval, ScoreTable, bootstrap_interval, score_predictions, wilson
from deadpan.stats.interval import LEVEL

_COLUMNS = ("Sarcastic", "Total")


def exact(value: float, n: int = 0) -> Interval:
    """Return a count, which has no interval."""
    return Interval(float(value), None, None, LEVEL, n or int(value))


def mean_of(values: Sequence[float]) -> Interval:
    """Return a mean with its bootstrap interval."""
    numbers = np.asarray(values, dtype=np.float64)
    return bootstrap_interval(lambda rows: float(numbers[rows].mean()), [""] * len(numbers), resamples=500)


def size_jobs(paper: str, exhibit: str, corpora: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> list[Job]:
    """Return a job per corpus: how many of its examples are sarcastic, and how many there are.

    `corpora` maps rows of the table to readers whose examples are added up; `notes` why a release of today
    has another size than the paper.
    """
    return [_job(paper, exhibit, row, sources, notes.get(row, "")) for row, sources in corpora.items()]


def _job(paper: str, exhibit: str, row: str, sources: Sequence[str], note: str) -> Job:
    ids = cells_of(exhibit, [row], _COLUMNS)

    def work(runner: TrialRunner) -> dict[str, Measured]:
        counts = {"sarcastic": 0, "all": 0}
        for source in sources:
            found = sizes_of(runner, source)
            counts = {name: counts[name] + found[name] for name in counts}
        gone = "; ".join(filter(None, (runner.missing(source) for source in sources)))
        how = f"counted in {', '.join(sources)} as read here"
        cells = {cell.id: cell for cell in read_paper(paper).cells() if cell.id in ids}
        # A copy that is as large as published is whole, whatever files it consists of.
        whole = all(same_count(n, cells[id]) for id, n in zip(ids, counts.values(), strict=True))
        need = "" if whole else f"data: {gone or note}" if gone or note else ""
        return {
            id: Measured(exact(n), how=how, needs=need, reason="another release of the corpus")
            for id, n in zip(ids, counts.values(), strict=True)
        }

    return Job(f"{exhibit} {row}", ids, work)


def sizes_of(runner: TrialRunner, source: str) -> dict[str, int]:
    """Return how many examples of a corpus are sarcastic, and how many there are."""
    found = runner.once(f"size {source}", {}, lambda: count(runner, source), sources=(source,))
    return {"sarcastic": found["sarcastic"], "all": found["all"]}


def count(runner: TrialRunner, source: str) -> dict[str, int]:
    """Count the examples of a corpus by label."""
    counts = runner.corpus(source).counts
    return {"sarcastic": counts["sarcastic"], "all": sum(counts.values())}


SARCASTIC = "sarcastic"
"""The answer of studies that ask whether a text is sarcastic."""


@dataclass(frozen=True, slots=True)
class PeopleStudy:
    """The items of a study with their hidden fields, and the answers to one question."""

    items: dict[str, Any]
    export: Export
    ratings: Ratings

    def votes(self) -> dict[str, str]:
        """Return the majority answer per item; ties are left out."""
        return {label.item_id: label.value for label in majority(self.ratings) if label.value is not None}

    def kappa(self) -> Interval:
        """Return Fleiss' kappa."""
        return fleiss_kappa(self.ratings)

    def pairwise(self) -> list[Interval]:
        """Return Cohen's kappa of every pair of the three most active raters."""
        judgments = [j for j in self.export.judgments if j.question == self.ratings.question]
        names = [name for name, _ in Counter(j.annotator for j in judgments).most_common(3)]
        pairs = [[j for j in judgments if j.annotator in pair] for pair in combinations(sorted(names), 2)]
        return [cohen_kappa(ratings_from_judgments(pair, self.ratings.question)) for pair in pairs]


def open_people(runner: TrialRunner, name: str, question: str, command: str) -> PeopleStudy:
    """Return a study that people answered; where there is none, an error with the command that starts it."""
    root = runner.options.people
    folder = root / name if root is not None else None
    if folder is None or not (folder / "export").is_dir() or not (folder / "study").is_dir():
        where = f"put its study and export into --people FOLDER/{name}/"
        raise MissingPeople(f"{command}; {where}")
    _, items = read_study(folder / "study")
    export = read_export(folder / "export")
    runner.read |= {folder / "study" / "manifest.json", folder / "export" / "manifest.json"}
    ratings = ratings_from_judgments(list(export.judgments), question)
    return PeopleStudy({item.id: item for item in items}, export, ratings)


def open_survey(runner: TrialRunner, name: str, command: str) -> tuple[Submission, ...]:
    """Return the submissions of a survey; where there is none, an error with the command that starts it."""
    root = runner.options.people
    folder = root / name / "export" if root is not None else None
    if folder is None or not folder.is_dir():
        raise MissingPeople(f"{command}; put its export into --people FOLDER/{name}/export")
    runner.read.add(folder / "manifest.json")
    return read_export(folder).submissions


def chosen_right(study: PeopleStudy) -> tuple[Interval, Interval]:
    """Return how often single people, and their majority, choose the sarcastic one of two."""
    truth = {id: str(item.answer + 1) for id, item in study.items.items() if item.answer is not None}
    given = [j for j in study.export.judgments if j.question == study.ratings.question and j.item_id in truth]
    right = sum(j.answer == truth[j.item_id] for j in given)
    votes = {id: value for id, value in study.votes().items() if id in truth}
    return wilson(right, len(given)), wilson(sum(v == truth[i] for i, v in votes.items()), len(votes))


def against_authors(study: PeopleStudy, yes: str = SARCASTIC) -> ScoreTable:
    """Score the majority of people against the label of the author."""
    votes = study.votes()
    known = [item for id, item in study.items.items() if id in votes and item.label is not None]
    examples = [Example(item.id, item.response, label=item.label) for item in known]
    return score_predictions(examples, [Prediction(item.id, votes[item.id] == yes) for item in known])
