"""Answers of people: the studies that papers had, the commands that ask them again, and their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from deadpan.errors import ConfigError
from deadpan.formats.judgments import Export, Submission, read_export
from deadpan.formats.study import read_study
from deadpan.ratings import Ratings, cohen_kappa, fleiss_kappa, majority, ratings_from_judgments
from deadpan.records import Example, Prediction
from deadpan.reproduce.published import MissingPeople
from deadpan.reproduce.trials import ReproductionOptions, TrialRunner
from deadpan.stats import Interval, ScoreTable, score_predictions, wilson

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


@dataclass(frozen=True, slots=True)
class AskedStudy:
    """A study of a paper: the question that is read, and the commands that ask it again.

    `made` writes a study folder first; without it, `source` is the corpus whose examples are asked about.
    """

    protocol: str
    question: str
    made: str = ""
    source: str = ""
    options: str = ""

    def commands(self, name: str) -> str:
        """Return the commands, to be pasted: before people answer, and after."""
        folder = f"PEOPLE/{name}/study"
        first = f"deadpan {self.made} {'--study' if self.made.startswith('generate') else '--out'} {folder} && "
        asked = f"{folder} " if self.made else f"{self.source} " if self.source else ""
        named = f"--name {name} --open --setting contact=WHO"
        create = f"deadpan studio create {self.protocol} {asked}{self.options} {named}".replace("  ", " ")
        export = f"deadpan studio export {name} --out PEOPLE/{name}/export"
        return f"{first if self.made else ''}{create}; when people have answered: {export}; then --people PEOPLE"


STUDIES: Mapping[str, AskedStudy] = {
    "pairs-main": AskedStudy("pairwise", "choice", "corpus study pairs CORPUS --preset sarc"),
    "pairs-pol": AskedStudy("pairwise", "choice", "corpus study pairs CORPUS --preset sarc --subset pol"),
    "audit": AskedStudy("audit", "sarcastic", "corpus study noise CORPUS --preset sarc"),
    "author-survey": AskedStudy("author-survey", "", options="--preset isarcasm"),
    "reader-judgment": AskedStudy(
        "reader-judgment", "sarcastic", source="isarcasm", options="--split test --preset isarcasm"
    ),
    "kocosa": AskedStudy("reader-judgment", "sarcastic", source="kocosa", options="--split test"),
    "kocosa-response": AskedStudy("reader-judgment", "sarcastic", source="kocosa", options="--split test --turns none"),
    "kocosa-kind": AskedStudy("annotate", "kind", source="kocosa", options="--label sincere --sample 50"),
    "kocosa-generated": AskedStudy("annotate", "kind", "generate people PLAN"),
}
"""By the folder in --people that holds the answers."""


def check_people(options: ReproductionOptions) -> None:
    """Refuse a folder without any of the studies, and answers of another protocol, before anything is measured."""
    root = options.people
    if root is None:
        return
    found = [name for name in STUDIES if (root / name / "export").is_dir()]
    if not found:
        raise ConfigError(f"--people {root}: no NAME/export in it; NAME is one of {', '.join(STUDIES)}")
    for name in found:
        study, export = STUDIES[name], read_export(root / name / "export")
        asked = sorted({judgment.question for judgment in export.judgments})
        if study.question and study.question not in asked:
            raise ConfigError(
                f"--people {root / name}: answers to {', '.join(asked) or 'nothing'}, not to {study.question}; "
                f"the study {name} is of the protocol {study.protocol}"
            )


def open_people(runner: TrialRunner, name: str) -> PeopleStudy:
    """Return a study that people answered; where there is none, an error with the commands that ask them.

    Its items are those of the study folder, or of the corpus that was asked about.
    """
    folder, study = _answered(runner, name), STUDIES[name]
    items: dict[str, Any] = {}
    if (folder / "study").is_dir():
        items = {item.id: item for item in read_study(folder / "study")[1]}
        runner.read.add(folder / "study" / "manifest.json")
    elif study.source:
        items = {example.id: example for example in runner.corpus(study.source).examples}
    export = read_export(folder / "export")
    return PeopleStudy(items, export, ratings_from_judgments(list(export.judgments), study.question))


def open_survey(runner: TrialRunner, name: str) -> tuple[Submission, ...]:
    """Return the submissions of a survey."""
    return read_export(_answered(runner, name) / "export").submissions


def _answered(runner: TrialRunner, name: str) -> Path:
    root = runner.options.people
    if root is None or not (root / name / "export").is_dir():
        raise MissingPeople(STUDIES[name].commands(name))
    runner.read.add(root / name / "export" / "manifest.json")
    return root / name


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
