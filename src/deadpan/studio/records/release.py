"""Release a study as a data set: ids or gated text, data card and Croissant, without withdrawals."""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal

from deadpan.cards import DataFacts, Sizes, write_dataset_folder
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.page.summary import Summary
from deadpan.presets import preset_values
from deadpan.records import Example, Turn
from deadpan.registry import unknown
from deadpan.results import Result
from deadpan.splits import split
from deadpan.storage import write_records, write_text
from deadpan.studio.models import Event, Identity
from deadpan.studio.people.demographics import SMALLEST_GROUP, safe_groups
from deadpan.studio.records.export import excluded_judgments, source_columns, tally_notes, valid_labels
from deadpan.studio.records.journal import accepted_submissions, latest_records, tally_submissions
from deadpan.studio.records.labels import answers_of, choice_questions
from deadpan.studio.records.studies import protocol_of, settings_of
from deadpan.text import plural

Mode = Literal["ids", "gated"]
Raters = Literal["auto", "same", "per-item"]
MODES: dict[str, str] = {
    "ids": "ids and labels only; texts stay with their authors",
    "gated": "texts, to be given on request only",
}
SPLIT = "train"
"""A study has one split. Hugging Face `datasets` reserves the name "all"."""


@dataclass(frozen=True, slots=True)
class ReleasedJudgment:
    """One answer as it is published: without times, which would tell people apart."""

    item_id: str
    annotator: str
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class RaterGroup:
    """Facts of the questionnaire: facts that at least five share, and how many people do."""

    facts: Mapping[str, str]
    people: int


def rater_groups(study: Any) -> list[RaterGroup]:
    """Return the answers to the questionnaire in groups; facts that would make a smaller group are left out."""
    given = Identity.objects.filter(member__study=study).exclude(facts={}).values_list("facts", flat=True)
    kept, _ = safe_groups([{name: value for name, value in facts.items() if value} for facts in given], SMALLEST_GROUP)
    sizes = Counter(tuple(sorted(group.items())) for group in kept)
    return [RaterGroup(dict(facts), people) for facts, people in sorted(sizes.items()) if facts]


@dataclass(frozen=True, slots=True)
class ReleasedStudy(Result):
    """A release: how many examples, in which mode, what was excluded, and the k-anonymity check."""

    folder: Path
    mode: str
    sizes: Sizes
    tally: Tally
    anonymity: Anonymity
    people_per_item: Mapping[int, int]

    def summary(self) -> Summary:
        """Return the number of examples, what was excluded and the check."""
        count = f"{self.sizes.total:,} examples in {self.folder} ({self.mode})"
        people = people_note(self.people_per_item)
        return Summary(notes=(count, *people, *tally_notes(self.tally), *self.anonymity.notes))

    def as_dict(self) -> dict[str, object]:
        """Return the counts."""
        counts: dict[str, object] = {"examples": self.sizes.total, "mode": self.mode}
        counts["people_per_item"] = {str(people): items for people, items in self.people_per_item.items()}
        return {**counts, "anonymity": self.anonymity.as_dict(), **self.tally.as_dict()}


def people_note(people_per_item: Mapping[int, int]) -> tuple[str, ...]:
    """Return how many people answered an item, perhaps fewer than planned; nothing for a survey."""
    counts = ", ".join(f"{people} ({plural(items, 'item')})" for people, items in people_per_item.items())
    return (f"People who answered an item: {counts}.",) if counts else ()


def release_facts(study: Any, mode: str, *, version: str, licence: str, citation: str, published: date) -> DataFacts:
    """Return the facts of a release's data card."""
    return DataFacts(
        title=study.title,
        version=version,
        language=(study.language,),
        licence=licence,
        citation=citation,
        summary=f"{study.title}: judgments of people in the {study.protocol} protocol; {MODES[mode]}.",
        how_made=(
            f"deadpan studio, protocol {study.protocol}, planned for {study.raters_per_item} people per "
            "item; majority or adjudication."
        ),
        personal_data=("Pseudonyms new in this release; demographics in groups of five or more; withdrawals applied."),
        known_limits=("Labels are opinions of a few people; see judgments.parquet for each.",),
        published=published.isoformat(),
    )


def release_study(
    study: Any,
    out: Path,
    facts: DataFacts,
    mode: Mode,
    *,
    raters: Raters = "auto",
    columns: Sequence[str] = (),
    actor: str = "release",
    new_name: Callable[[], str] = lambda: secrets.token_hex(6),
    linguist: Any = None,
) -> ReleasedStudy:
    """Write the release. Every pseudonym in it is new, and no times are in it.

    `linguist` is the study in which the sarcastic posts of a survey were categorised: the release is then
    iSarcasm's, labels of authors with categories, in two parts.

    The first release keeps a rater's pseudonym across items. The answers themselves would join a second one
    to it, so later releases give raters a new pseudonym for every item, unless `raters` is "same". `columns`
    of the source are kept with each example.
    """
    if mode not in MODES:
        raise ConfigError(f"unknown mode {mode!r}: choose ids or gated")
    if (Path(out) / "manifest.json").exists():
        raise DataError(f"{out}: a release is there already; name a new folder")
    tally = excluded_judgments(study, qualification=False)
    names: dict[str, str] = {}

    def renamed(pseudonym: str) -> str:
        return names.setdefault(pseudonym, new_name())

    examples = _examples(study, tally, renamed)
    parts = None if linguist is None else _categorised(study, linguist, examples, tally)
    if parts is not None:
        examples = [example for part in parts.values() for example in part]
    if not examples:
        raise DataError(f"{study.slug}: nothing to release yet: no item has a label")
    if strange := sorted(set(columns) - set(source_columns(study))):
        raise ConfigError(unknown("column", strange[0], source_columns(study)))
    kept = {row.item_id: row.hidden.get("columns", {}) for row in study.items.all()} if columns else {}
    examples = [_with_columns(example, kept, columns) for example in examples]
    if mode == "ids":
        examples = [_without_text(example) for example in examples]
    # The audit log is append-only, so a release cannot be forgotten.
    earlier = Event.objects.filter(study=study, what="release").count()
    per_item = raters == "per-item" or (raters == "auto" and earlier > 0)
    judgments = _judgments(study, new_name, per_item)
    if judgments:
        write_records(Path(out) / "judgments.parquet", judgments, ReleasedJudgment)
    if groups := rater_groups(study):
        write_records(Path(out) / "raters.jsonl", groups, RaterGroup)
    found = check_anonymity(examples, judgments, earlier=earlier, per_item=per_item)
    people = _people_per_item(examples, judgments)
    facts = replace(
        facts,
        personal_data=f"{facts.personal_data} {' '.join(found.notes)}".strip(),
        how_made=" ".join((facts.how_made, *people_note(people))).strip(),
    )
    by_split: dict[str, list[Example]] = {SPLIT: examples}
    if parts is not None:
        by_split = {name: [e for e in examples if e.split == name] for name in parts}
        for name, part in by_split.items():
            _write_ids(Path(out) / f"isarcasm_{name}.csv", part)
    sizes = write_dataset_folder(out, by_split, facts, tally=tally, command="studio release")
    Event.objects.create(study=study, actor=actor, what="release", detail={"mode": mode, "examples": sizes.total})
    return ReleasedStudy(Path(out), mode, sizes, tally, found, people)


def _people_per_item(examples: Sequence[Example], judgments: Sequence[ReleasedJudgment]) -> dict[int, int]:
    """Return how many released items were answered by how many people, the fewest first."""
    people: dict[str, set[str]] = {}
    for row in judgments:
        people.setdefault(row.item_id, set()).add(row.annotator)
    released = {example.id for example in examples}
    counts = Counter(len(who) for item, who in people.items() if item in released)
    return dict(sorted(counts.items()))


def _judgments(study: Any, new_name: Callable[[], str], per_item: bool) -> list[ReleasedJudgment]:
    """Return the answers, sorted; those in people's own words may name people and are not released."""
    questions = {q.name for q in protocol_of(study).questions(settings_of(study)) if not q.in_words}
    names: dict[tuple[str, str], str] = {}
    rows = []
    for record in latest_records(study):
        if record.question in questions:
            who = (record.annotator, record.item_id if per_item else "")
            name = names.setdefault(who, new_name())
            rows.append(ReleasedJudgment(record.item_id, name, record.question, record.answer))
    # The journal's order would tell who worked when.
    return sorted(rows, key=lambda row: (row.item_id, row.question, row.annotator))


def _examples(study: Any, tally: Tally, renamed: Callable[[str], str]) -> list[Example]:
    """Return the protocol's examples, from the majority's or the adjudicator's labels."""
    protocol = protocol_of(study)
    if protocol.survey:
        tally_submissions(study, tally)
    final: dict[str, dict[str, str]] = {}
    labels, invalid = valid_labels(study, tally)
    for label in labels:
        # A tie that nobody adjudicated has no label: the card promises the majority or an adjudicator.
        if label.value is not None and label.method in ("majority", "adjudicated"):
            final.setdefault(label.item_id, {})[label.question] = label.value
    submissions = [replace(s, participant=renamed(s.participant)) for s in accepted_submissions(study)]
    answers = answers_of(study, labels=final, submissions=submissions)
    items = {name: item for name, item in answers.items.items() if name not in invalid}
    return list(protocol.to_examples(replace(answers, items=items), tally))


def _with_columns(example: Example, kept: Mapping[str, Mapping[str, str]], columns: Sequence[str]) -> Example:
    """Return the example with the chosen columns of its item, or of the pair it belongs to."""
    found = kept.get(example.id) or kept.get(example.sequence) or {}
    chosen = {name: found[name] for name in columns if name in found}
    return replace(example, meta={**example.meta, **chosen}) if chosen else example


def _categorised(survey: Any, linguist: Any, examples: Sequence[Example], tally: Tally) -> dict[str, list[Example]]:
    """Return iSarcasm's two parts: sarcastic posts with the linguist's category, without those called invalid."""
    if not protocol_of(survey).survey or "category" not in {q.name for q in choice_questions(linguist)}:
        raise ConfigError(
            f"--categories joins a survey with a study of the protocol categorise: {survey.slug} is of "
            f"{survey.protocol}, {linguist.slug} of {linguist.protocol}"
        )
    found = {example.id: example.categories for example in _examples(linguist, tally, str)}
    sarcastic = [example.id for example in examples if example.label]
    if not found.keys() & set(sarcastic):
        raise DataError(
            f"{linguist.slug}: none of its items is a sarcastic post of {survey.slug}; create it from the survey's "
            "gated release, whose posts have their links as ids"
        )
    for id in sarcastic:
        if id not in found and id not in tally.places.get("invalid", ()):
            tally.drop("not_categorised", id)
    kept = [replace(e, categories=found.get(e.id, ())) for e in examples if not e.label or e.id in found]
    share = preset_values("isarcasm", "studio release")["test_share"]
    return {str(name): part for name, part in split(kept, {"train": 1 - share, "test": share}).items()}


def _write_ids(path: Path, examples: Sequence[Example]) -> None:
    """Write a part in the layout of iSarcasm's release: the number of each post, its label and category."""
    rows = ["tweet_id,sarcasm_label,sarcasm_type"]
    for example in examples:
        number = re.search(r"(\d+)\D*$", example.id)
        label = "sarcastic" if example.label else "not_sarcastic"
        kind = example.categories[0].replace("_", " ") if example.categories else ""
        rows.append(f"{number[1] if number else example.id},{label},{kind}")
    write_text(path, "\n".join(rows) + "\n")


def _without_text(example: Example) -> Example:
    """Return the id and the label without the words."""
    return replace(example, response=Turn("", ""), context=(), explanation="", rephrase="")


# ---------------------------------------------------------------- k-anonymity


@dataclass(frozen=True, slots=True)
class Anonymity:
    """`k`: the fewest people who share a combination of released facts; None if none are released.

    `alone` raters gave a set of answers that nobody else gave; another release that names raters across
    items could be joined to this one by them.
    """

    k: int | None
    raters: int
    alone: int
    per_item: bool
    earlier: int

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the findings."""
        found = []
        if self.k is not None:
            found.append(f"Every released combination of facts is shared by {self.k} people or more.")
        if self.per_item:
            found.append("A rater has a new name for every item, so that releases cannot be joined.")
        elif self.raters:
            found.append(
                f"{self.alone} of {self.raters} raters can be told apart by their answers: publish no second "
                "release that names raters across items."
            )
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            "k": self.k,
            "raters": self.raters,
            "raters_alone": self.alone,
            "names_per_item": self.per_item,
            "earlier_releases": self.earlier,
        }


def check_anonymity(
    examples: Sequence[Example], judgments: Sequence[Any], *, earlier: int, per_item: bool
) -> Anonymity:
    """Check what a release says about people."""
    people = {e.group: json.dumps(dict(e.meta), sort_keys=True) for e in examples if e.group and e.meta}
    sizes = Counter(people.values())
    answers: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for row in judgments:
        answers[row.annotator].add((row.item_id, row.question, row.answer))
    sets = Counter(frozenset(given) for given in answers.values())
    return Anonymity(
        k=min(sizes.values()) if sizes else None,
        raters=0 if per_item else len(answers),
        alone=0 if per_item else sum(1 for n in sets.values() if n == 1),
        per_item=per_item,
        earlier=earlier,
    )
