"""A study made public: ids only or gated text, with a data card and Croissant, withdrawals applied."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from deadpan.cards import DataFacts, Sizes, write_dataset_folder
from deadpan.drops import Tally
from deadpan.errors import ConfigError, DataError
from deadpan.records import Example, Judgment, LabelKind, Turn
from deadpan.storage import write_records
from deadpan.studio.creation import protocol_of
from deadpan.studio.export import left_out, submissions, tally_reasons, valid_labels
from deadpan.studio.judgments import latest_records
from deadpan.studio.models import MAIN
from deadpan.studio.results import choice_questions, labels

Mode = Literal["ids", "gated"]
SMALLEST_GROUP = 5
"""A group of fewer people than this could name somebody: its value is left empty."""
AGES = ((16, 24), (25, 34), (35, 44), (45, 54), (55, 200))


def release_study(
    study: Any,
    out: Path,
    facts: DataFacts,
    mode: Mode,
    *,
    new_name: Callable[[], str] = lambda: secrets.token_hex(6),
) -> tuple[Sizes, Tally]:
    """Write the release. Every pseudonym in it is new, so two releases cannot be joined on them."""
    if mode not in ("ids", "gated"):
        raise ConfigError(f"unknown mode {mode!r}: choose ids or gated")
    if (Path(out) / "manifest.json").exists():
        raise DataError(f"{out}: a release is there already; name a new folder")
    tally = left_out(study, qualification=False)
    names: dict[str, str] = {}

    def renamed(pseudonym: str) -> str:
        return names.setdefault(pseudonym, new_name())

    found = list(_examples(study, tally, renamed))
    if not found:
        raise DataError(f"{study.slug}: nothing to release yet: no item has a label")
    if mode == "ids":
        found = [_without_text(example) for example in found]
    judged = _judgments(study, renamed)
    if judged:
        write_records(Path(out) / "judgments.parquet", judged, Judgment)
    sizes = write_dataset_folder(out, {"all": found}, facts, tally=tally, command="studio release")
    return sizes, tally


def _judgments(study: Any, renamed: Callable[[str], str]) -> list[Judgment]:
    """Answers to questions with choices; free remarks may name people and stay here."""
    if protocol_of(study).survey:
        return []
    names = {question.name for question in choice_questions(study)}
    return [
        replace(record, annotator=renamed(record.annotator), created_at=record.created_at[:10])
        for record in latest_records(study)
        if record.question in names
    ]


def _examples(study: Any, tally: Tally, renamed: Callable[[str], str]) -> Iterator[Example]:
    if protocol_of(study).survey:
        tally_reasons(study, tally)
        yield from _told(study, renamed)
        return
    if study.protocol == "quiz":
        raise ConfigError("a quiz has scores, not labels: use deadpan studio export for the human row")
    final: dict[str, dict[str, str]] = {}
    for label in valid_labels(labels(study), tally):
        # A tie nobody decided stays open: the card promises the majority or an adjudicator's word.
        if label.value is not None and label.method in ("majority", "adjudicated"):
            final.setdefault(label.item_id, {})[label.question] = label.value
    for item in study.items.filter(kind=MAIN).order_by("position"):
        if item.item_id not in final:
            tally.drop("no_majority", item.item_id)
            continue
        yield from _judged(study, item, final[item.item_id], tally)


def _judged(study: Any, item: Any, values: Mapping[str, str], tally: Tally) -> Iterator[Example]:
    """An item with what people said of it."""
    base = Example(
        id=item.item_id,
        response=Turn(**item.response),
        context=tuple(Turn(**turn) for turn in item.context),
        label_kind="perceived",
        source=study.slug,
        language=study.language,
        explanation=str(item.shown.get("explanation", "")),
        rephrase=str(item.shown.get("rephrase", "")),
    )
    if study.protocol == "choose":
        for place, option in enumerate(item.options):
            yield replace(
                base,
                id=f"{item.item_id}.{place + 1}",
                response=Turn("", option),
                context=(*base.context, base.response),
                label=values["choice"] == str(place + 1),
                sequence=item.item_id,
            )
        return
    if study.protocol == "categorise":
        kind: LabelKind = "author"
        yield replace(base, label=True, label_kind=kind, categories=(values["category"],))
        return
    if values.get("context") == "abnormal" or values.get("response") == "abnormal":
        tally.drop("abnormal", item.item_id)
        return
    value = values.get("sarcastic") or values.get("response")
    if value is None:
        tally.drop("no_majority", item.item_id)
        return
    yield replace(base, label=value in ("sarcastic", "sarcasm"))


def _told(study: Any, renamed: Callable[[str], str]) -> Iterator[Example]:
    """Posts of a survey, labelled by who wrote them; what is known of them in broad groups."""
    kept = submissions(study)
    groups = [_grouped(submission.answers) for submission in kept]
    sizes = Counter((name, value) for group in groups for name, value in group.items())
    for submission, group in zip(kept, groups, strict=True):
        author = renamed(submission.participant)
        about = {name: value for name, value in group.items() if sizes[name, value] >= SMALLEST_GROUP}
        for number, post in enumerate(submission.answers["posts"], 1):
            sarcastic = bool(post["sarcastic"])
            yield Example(
                id=str(post["link"] or f"{author}.{number}"),
                response=Turn("", str(post["text"])),
                label=sarcastic,
                label_kind="author",
                group=author,
                source=study.slug,
                language=study.language,
                explanation=str(submission.answers["explanation"]) if sarcastic else "",
                rephrase=str(submission.answers["rephrase"]) if sarcastic else "",
                meta=about,
            )


def _grouped(answers: Mapping[str, Any]) -> dict[str, str]:
    """Age in broad steps, countries without regions."""
    found = {name: str(answers[name]) for name in ("gender", "country", "birth_country") if answers.get(name)}
    age = answers.get("age")
    if isinstance(age, int):
        found["age"] = next(
            (f"{low}-{high}" if high < 200 else f"{low}+" for low, high in AGES if low <= age <= high), ""
        )
    return {name: value for name, value in found.items() if value}


def _without_text(example: Example) -> Example:
    """The id and the label; the words stay with who wrote them."""
    return replace(example, response=Turn("", ""), context=(), explanation="", rephrase="")
